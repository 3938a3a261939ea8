//! The assistant's text, rendered as Markdown. Its HTML is escaped, no link runs anything, and no
//! image is loaded.

use maud::{Markup, PreEscaped, Render, html};
use ndjson_check_core::escape::misleads;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::excerpt::Excerpt;
use super::words::{Lines, push_text, size};

/// Elements inside each other; what is deeper is text.
const DEPTH_MAX: usize = 12;

/// How much more room Markdown may take than its text. If it takes more, it is shown as it is.
pub(super) const MARKUP_FACTOR: usize = 2;

/// How much more any text may take: the table of a few bytes.
const MARKUP_BYTES: usize = 160;

pub(super) struct MarkdownText<'t>(pub(super) &'t Excerpt);

impl Render for MarkdownText<'_> {
    fn render(&self) -> Markup {
        let (missing, tail) = self.0.tail();
        let max = self.0.cost() * MARKUP_FACTOR + MARKUP_BYTES;
        let shown = if missing == 0 {
            rendered(&format!("{}{tail}", self.0.head()), max).map(|text| html! { (text) })
        } else {
            let head = rendered(self.0.head(), max);
            let tail =
                head.as_ref().and_then(|head| rendered(tail, max.saturating_sub(head.0.len())));
            head.zip(tail).map(|(head, tail)| {
                html! { (head) p.cut { "… " (size(missing)) " left out …" } (tail) }
            })
        };
        shown.unwrap_or_else(|| html! { p { (Lines(self.0)) } })
    }
}

/// The markup of a text, if it has at most so many bytes.
fn rendered(text: &str, max: usize) -> Option<PreEscaped<String>> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkdownWriter::default();
    for event in Parser::new_ext(text, options) {
        writer.event(event);
        if writer.out.len() > max + 40 {
            return None;
        }
    }
    Some(PreEscaped(writer.out))
}

#[derive(Default)]
struct MarkdownWriter {
    out: String,
    /// What ends each open element.
    open: Vec<&'static str>,
    /// Whether the cells are those of a table's head.
    is_head: bool,
    /// Where the text of the open links begins, and where they lead.
    links: Vec<(usize, String)>,
}

impl MarkdownWriter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            // The last three are not enabled.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => push_text(&text, &mut self.out),
            Event::Code(text) => {
                self.out.push_str("<code>");
                push_text(&text, &mut self.out);
                self.out.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.out.push('\n'),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if is_done { "☑ " } else { "☐ " });
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.open.len() >= DEPTH_MAX {
            self.open.push("");
            return;
        }
        let (start, end) = match tag {
            Tag::Paragraph | Tag::HtmlBlock => ("<p>", "</p>"),
            // The headings of the page rank higher.
            Tag::Heading { level, .. } if level as usize == 1 => ("<p class=\"h1\">", "</p>"),
            Tag::Heading { .. } => ("<p class=\"h2\">", "</p>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(_) => ("<pre>", "</pre>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                self.out.push_str(&html! { ol start=[(first != 1).then_some(first)] {} }.0);
                self.out.truncate(self.out.len() - "</ol>".len());
                ("", "</ol>")
            }
            Tag::Item => ("<li>", "</li>"),
            Tag::Table(_) => ("<table>", "</tbody></table>"),
            Tag::TableHead => {
                self.is_head = true;
                ("<thead><tr>", "</tr></thead><tbody>")
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell if self.is_head => ("<th scope=col>", "</th>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.links.push((self.out.len(), dest_url.to_string()));
                ("[image: ", "]")
            }
            _ => ("", ""),
        };
        self.out.push_str(start);
        self.open.push(end);
    }

    /// A link to a page of the web; other links are text. It says where it leads, unless its text
    /// does.
    fn link(&mut self, target: &str) -> (&'static str, &'static str) {
        self.links.push((self.out.len(), target.to_owned()));
        let is_web = ["https://", "http://"].iter().any(|scheme| target.starts_with(scheme));
        if !is_web || target.chars().any(|it| misleads(it) || it.is_whitespace()) {
            return ("", "");
        }
        self.out.push_str(&html! { a rel="noreferrer nofollow" href=(target) {} }.0);
        self.out.truncate(self.out.len() - "</a>".len());
        self.links.pop();
        self.links.push((self.out.len(), target.to_owned()));
        ("", "</a>")
    }

    fn end(&mut self, tag: TagEnd) {
        let end = self.open.pop().unwrap_or_default();
        self.is_head &= tag != TagEnd::TableHead;
        if tag == TagEnd::CodeBlock && self.out.ends_with('\n') {
            self.out.pop();
        }
        let is_link = matches!(tag, TagEnd::Link | TagEnd::Image) && self.open.len() < DEPTH_MAX;
        let link = if is_link { self.links.pop() } else { None };
        let Some((start, target)) = link else {
            self.out.push_str(end);
            return;
        };
        let mut place = String::new();
        let host = target.split_once("://").map_or(&*target, |(_, rest)| rest);
        let host =
            if tag == TagEnd::Link { host.split(['/', '?', '#']).next() } else { Some(host) };
        push_text(host.unwrap_or_default(), &mut place);
        let is_said = says(&self.out[start..], &place);
        self.out.push_str(end);
        if !is_said {
            self.out.push_str(&html! { " (" (PreEscaped(place)) ")" }.0);
        }
    }
}

/// Whether a text has a host as a whole: `k.co` is not said by `k.com`.
fn says(text: &str, host: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '.' | '-');
    host.is_empty()
        || text.match_indices(host).any(|(at, _)| {
            !text[..at].ends_with(is_part) && !text[at + host.len()..].starts_with(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        MarkdownText(&Excerpt::of(text, 100_000)).render().into_string()
    }

    #[test]
    fn markdown_is_rendered() {
        for (text, expected) in [
            ("# A\n\nb *c*  \nd", "<p class=\"h1\">A</p><p>b <em>c</em>\nd</p>"),
            ("3. x\n4. `y<`", "<ol start=\"3\"><li>x</li><li><code>y&lt;</code></li></ol>"),
            ("- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"),
            ("```rust\nlet a;\n```", "<pre>let a;</pre>"),
            (
                "|a|b|\n|---|---|\n|1|2|",
                "<table><thead><tr><th scope=col>a</th><th scope=col>b</th></tr></thead><tbody>\
                 <tr><td>1</td><td>2</td></tr></tbody></table>",
            ),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    /// Goal: no text makes markup, runs anything, or hides where it leads.
    #[test]
    fn nothing_of_a_text_is_obeyed() {
        for (text, expected) in [
            ("a <script>x</script>", "<p>a &lt;script&gt;x&lt;/script&gt;</p>"),
            ("<div onclick=x>", "<p>&lt;div onclick=x&gt;</p>"),
            ("[x](javascript:alert(1))", "<p>x (javascript:alert(1))</p>"),
            ("![x](https://a.b/c.png)", "<p>[image: x] (a.b/c.png)</p>"),
            (
                "[github.com](https://evil.com/\"><b>)",
                "<p><a rel=\"noreferrer nofollow\" href=\"https://evil.com/&quot;&gt;&lt;b&gt;\">\
                 github.com</a> (evil.com)</p>",
            ),
            (
                "[https://github.com/a](https://github.co/b)",
                "<p><a rel=\"noreferrer nofollow\" href=\"https://github.co/b\">\
                 https://github.com/a</a> (github.co)</p>",
            ),
            ("a\u{202e}\u{1b}[2J", "<p>a\\u{202e}\\x1b[2J</p>"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    /// Goal: no text takes much more room than it has bytes.
    #[test]
    fn markup_is_bounded() {
        let wide = "|a".repeat(2_000) + "\n" + &"|---".repeat(2_000) + "\n" + &"|\n".repeat(2_000);
        for text in [">".repeat(30_000), "- ".repeat(10_000), "*a* ".repeat(5_000), wide] {
            let excerpt = Excerpt::of(&text, 32_000);
            let page = MarkdownText(&excerpt).render().into_string();
            let max = excerpt.cost() * MARKUP_FACTOR + 200;
            assert!(page.len() <= max, "{} of {max}: {}", page.len(), &text[..20]);
        }
    }
}
