//! Lines of YAML, TOML and tables.

use super::Foreign;

/// The value behind a key of YAML; none if the line is something else.
fn yaml_value(bytes: &[u8]) -> Option<&[u8]> {
    let item = bytes.strip_prefix(b"- ").unwrap_or(bytes);
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    let end = item.iter().position(|byte| !is_key(byte)).filter(|end| *end > 0)?;
    let value = item[end..].strip_prefix(b":")?;
    (value.is_empty() || value.starts_with(b" ")).then_some(value)
}

const MESSAGE_LEVELS: [&[u8]; 5] = [b"error", b"fatal", b"warning", b"warn", b"info"];

/// A mark, or a key whose value follows on the next lines. A word in front of a sentence, or a
/// level such as `error`, is part of a message.
pub(super) fn begins_yaml(bytes: &[u8]) -> bool {
    let is_empty = |value: &[u8]| value.trim_ascii().is_empty();
    let key = bytes.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_level = MESSAGE_LEVELS.iter().any(|level| key.eq_ignore_ascii_case(level));
    bytes == b"---" || !is_level && yaml_value(bytes).is_some_and(is_empty)
}

pub(super) fn goes_on_yaml(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#") || yaml_value(bytes).is_some()
}

/// A table, or a key with a string: programs write other values behind `=`, too.
pub(super) fn begins_toml(bytes: &[u8]) -> bool {
    let is_table = bytes.starts_with(b"[");
    goes_on_toml(bytes) && (is_table || bytes.windows(3).any(|it| it == b"= \""))
}

/// A table, a key with a value, the rest of a value, or a remark.
pub(super) fn goes_on_toml(bytes: &[u8]) -> bool {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"".contains(byte);
    let is_name = |name: &[u8]| name.iter().all(is_key) && name.iter().any(u8::is_ascii_alphabetic);
    let table = bytes.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]"));
    let table =
        table.map(|it| it.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")).unwrap_or(it));
    let mut words = bytes.splitn(2, |byte| *byte == b'=');
    let key = words.next().filter(|_| words.next().is_some_and(|it| !it.is_empty()));
    let key = key.map(<[u8]>::trim_ascii);
    let is_rest = matches!(bytes.first(), Some(b'#' | b'"' | b']'));
    is_rest || table.or(key).is_some_and(is_name)
}

/// The table whose head the line may be: its columns have names without spaces.
pub(super) fn table(bytes: &[u8]) -> Option<Foreign> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"".contains(byte);
    let separator = [b',', b';', b'\t'].into_iter().find(|separator| {
        let mut columns = bytes.split(|byte| byte == separator);
        bytes.contains(separator) && columns.all(|it| !it.is_empty() && it.iter().all(is_name))
    })?;
    Some(Foreign::Table(separator, separators(bytes, separator)))
}

/// How many separators there are outside quotes.
pub(super) fn separators(bytes: &[u8], separator: u8) -> usize {
    let mut in_quotes = false;
    let is_counted = |byte: &&u8| {
        in_quotes ^= **byte == b'"';
        **byte == separator && !in_quotes
    };
    bytes.iter().filter(is_counted).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_toml_is_a_table_or_has_a_key() {
        for (line, expected) in [
            ("[tool.x]", true),
            ("[[bin]]", true),
            ("name = \"x\"", true),
            ("a=1", true),
            ("[1]", false),
            ("[info] it = 1", false),
            ("it is = 1", false),
        ] {
            assert_eq!(goes_on_toml(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_yaml_has_a_key() {
        assert!(begins_yaml(b"---") && begins_yaml(b"jobs:"));
        assert!(!begins_yaml(b"Unauthorized: 401") && !begins_toml(b"key=1"));
        assert!(begins_toml(b"[tool.x]") && begins_toml(b"name = \"x\""));
        assert!(!begins_yaml(b"error: it is not signed in"));
        assert_eq!(yaml_value(b"a: x"), Some(&b" x"[..]));
        assert_eq!(yaml_value(b"- a:"), Some(&b""[..]));
        assert_eq!(yaml_value(b"a:x"), None);
        assert_eq!(yaml_value(b": x"), None);
    }
}
