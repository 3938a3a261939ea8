//! Lone halves of surrogate pairs: a JSON text may escape them (RFC 8259 §8.2), and no
//! Unicode text can hold them.

use super::tape::hexadecimal;

/// What a lone half is read as, and how it is escaped.
pub(crate) const REPLACEMENT: char = '\u{fffd}';
const ESCAPED: &str = "fffd";

/// More than one half is at such a place: which one begins or ends a text is not known.
const UNCLEAR: u16 = 0;

/// A JSON text whose lone halves are replaced. Each byte stays where it was.
#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) text: String,
    pub(crate) halves: LoneHalves,
}

/// The lone halves of one JSON text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LoneHalves {
    /// The offset of the first one.
    pub(crate) at: usize,
    /// The low half that begins strings.
    pub(crate) first: Option<u16>,
    /// The high half that ends strings.
    pub(crate) last: Option<u16>,
}

/// The text without lone halves, if it has some.
pub(crate) fn repaired(text: &str) -> Option<Repaired> {
    let bytes = text.as_bytes();
    let mut found: Option<(Vec<u8>, LoneHalves)> = None;
    // Where the latest escape ends.
    let mut behind = 0;
    while let Some(at) = memchr::memchr(b'\\', &bytes[behind..]).map(|at| behind + at) {
        let Some(unit) = escaped_unit(&bytes[at..]) else {
            behind = bytes.len().min(at + 2);
            continue;
        };
        let end = at + 6;
        let is_high = unit < 0xdc00;
        if is_high && escaped_unit(&bytes[end..]).is_some_and(|low| low >= 0xdc00) {
            behind = end + 6;
            continue;
        }
        let begin = || (bytes.to_vec(), LoneHalves { at, ..LoneHalves::default() });
        let (repaired, halves) = found.get_or_insert_with(begin);
        repaired[at + 2..end].copy_from_slice(ESCAPED.as_bytes());
        if is_high && bytes.get(end) == Some(&b'"') {
            note(&mut halves.last, unit);
        }
        // A quote that is escaped begins no string.
        if !is_high && at > behind && bytes[at - 1] == b'"' {
            note(&mut halves.first, unit);
        }
        behind = end;
    }
    let (bytes, halves) = found?;
    String::from_utf8(bytes).ok().map(|text| Repaired { text, halves })
}

fn note(place: &mut Option<u16>, unit: u16) {
    *place = Some(if place.is_none_or(|other| other == unit) { unit } else { UNCLEAR });
}

/// The surrogate whose escape these bytes begin with.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let unit = hexadecimal(bytes.strip_prefix(b"\\u")?)?;
    u16::try_from(unit).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_are_replaced_in_place() {
        let cases = [
            (r#"["\ud83d\ude00", "\\ud83d", "\u00e9"]"#, None),
            (r#"["\ud83d"]"#, Some((r#"["\ufffd"]"#, 2, None, Some(0xd83d)))),
            (r#"["\uDE00x"]"#, Some((r#"["\ufffdx"]"#, 2, Some(0xde00), None))),
            (r#"["\"\ude00"]"#, Some((r#"["\"\ufffd"]"#, 4, None, None))),
            (r#"["\\\ude00\ud83d"]"#, Some((r#"["\\\ufffd\ufffd"]"#, 4, None, Some(0xd83d)))),
            (r#"["\ud83d\ud83d\ude00"]"#, Some((r#"["\ufffd\ud83d\ude00"]"#, 2, None, None))),
            (r#"["\ud83d", "\ud83d"]"#, Some((r#"["\ufffd", "\ufffd"]"#, 2, None, Some(0xd83d)))),
            (r#"["\ud83d", "\ud83e"]"#, Some((r#"["\ufffd", "\ufffd"]"#, 2, None, Some(UNCLEAR)))),
            (r#"["\ud83d\u12"#, Some((r#"["\ufffd\u12"#, 2, None, None))),
            ("\\", None),
        ];
        for (text, expected) in cases {
            let found = repaired(text);
            let found = found
                .as_ref()
                .map(|it| (it.text.as_str(), it.halves.at, it.halves.first, it.halves.last));
            assert_eq!(found, expected, "{text}");
        }
    }
}
