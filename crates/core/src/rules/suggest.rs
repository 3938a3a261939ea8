//! Similar names, for messages about an unknown one.

/// From 0, different, to 1, equal.
const SIMILARITY_MIN: f64 = 0.8;

/// The name most similar to `name`, if one is similar enough.
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let rated = names.map(|known| (strsim::jaro(name, known), known));
    let similar = rated.filter(|(similarity, _)| *similarity > SIMILARITY_MIN);
    similar.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
}

/// The end of a message about an unknown name: the similar one, or nothing.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; a similar one is `{near}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_have_a_suggestion() {
        let names = ["codex", "codex-old", "claude", "cline"];
        let of = |name| nearest(name, names.into_iter());
        assert_eq!(of("claud"), Some("claude"));
        assert_eq!(of("codx"), Some("codex"));
        assert_eq!(of("codex-odl"), Some("codex-old"));
        assert_eq!(of("gemini"), None);
        assert_eq!(of(""), None);
    }
}
