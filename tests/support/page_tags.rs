//! The tags of an HTML page; the fuzz target `outputs` reads them, too.

/// All elements of our pages. A text of a stream makes none.
const ELEMENTS: &str = "\
    a aside b blockquote body button circle code dd defs del details div dl dt em footer form g \
    h1 h2 h3 head header hr html i input ins kbd label li line linearGradient main meta ol option \
    output p path pattern pre rect s script section select small span stop strong style \
    summary svg table tbody td text th thead time title tr ul wbr !DOCTYPE";

pub(crate) fn is_ours(element: &str) -> bool {
    ELEMENTS.split(' ').any(|it| it == element)
}

/// The start tags of a page: their names, and their attributes with values.
pub(crate) fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        // In what follows a quoted value, `>` may be part of the next one.
        let (mut end, mut is_quoted) = (0, false);
        for (at, character) in rest.char_indices() {
            is_quoted ^= character == '"';
            if character == '>' && !is_quoted {
                end = at;
                break;
            }
        }
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let attributes = attributes.split_terminator("\" ").filter_map(|it| {
            let (key, value) = it.split_once("=\"")?;
            Some((key.to_owned(), value.trim_end_matches('"').to_owned()))
        });
        tags.push((name.to_owned(), attributes.collect()));
        if let Some(end) = ["style", "script"].contains(&name).then(|| format!("</{name}>")) {
            rest = rest.split_once(&end).unwrap().1;
        }
    }
    tags
}
