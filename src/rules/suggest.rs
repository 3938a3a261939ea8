//! The name that somebody may have meant.

/// How alike two names are at least, of 1.
const ALIKE_MIN: f64 = 0.8;

/// Of these names the one most like another, if one is.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let rated = names.map(|it| (strsim::jaro(name, it), it)).filter(|it| it.0 > ALIKE_MIN);
    rated.max_by(|one, other| one.0.total_cmp(&other.0)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_understood() {
        let names = ["codex", "codex-old", "claude", "cline"];
        let of = |name| nearest(name, names.into_iter());
        assert_eq!(of("claud"), Some("claude"));
        assert_eq!(of("codx"), Some("codex"));
        assert_eq!(of("codex-odl"), Some("codex-old"));
        assert_eq!(of("nobody"), None);
        assert_eq!(of(""), None);
    }
}
