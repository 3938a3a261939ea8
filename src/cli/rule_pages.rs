//! The rules for a reader: a list in groups, and the page of a rule. In a pipe both are plain text.

use std::io::{self, IsTerminal as _};

use ndjson_check_core::{Rule, Severity, escape::clipped};
use ndjson_check_formats::report::push_wrapped;
use owo_colors::{OwoColorize as _, Style};

use super::args::Color;
use super::terminal::{has_color, stdout_width};

/// Longest line of prose, in columns, however wide the terminal is.
const COLUMNS_MAX: usize = 100;

/// The first rule of each group, in the order of the rules.
const GROUPS: [(Rule, &str); 9] = [
    (Rule::LineTooLong, "Lines"),
    (Rule::WrongProfile, "Events"),
    (Rule::MissingSessionStart, "Session and order"),
    (Rule::DuplicateCallStart, "Tool calls"),
    (Rule::DeltaMismatch, "Texts"),
    (Rule::AllCallsRefused, "What the agent did"),
    (Rule::MissingTerminalEvent, "The end of the run"),
    (Rule::ExitStatusContradictsResult, "The process"),
    (Rule::LimitExceeded, "Your demands"),
];

#[derive(Clone, Copy)]
struct Screen {
    width: usize,
    has_color: bool,
}

impl Screen {
    /// None if standard output is not a terminal.
    fn of_stdout() -> Option<Self> {
        let is_terminal = io::stdout().is_terminal();
        let width = stdout_width().unwrap_or(80).min(COLUMNS_MAX);
        is_terminal.then(|| Self { width, has_color: has_color(Color::Auto, true) })
    }

    fn paint(self, text: &str, style: Style) -> String {
        if self.has_color { text.style(style).to_string() } else { text.to_owned() }
    }
}

/// All rules with their severities.
pub(super) fn list() -> String {
    Screen::of_stdout().map_or_else(table, grouped)
}

pub(super) fn page(rule: Rule) -> String {
    Screen::of_stdout().map_or_else(|| rule.page().to_owned(), |screen| shown(rule.page(), screen))
}

fn severity_name(severity: Option<Severity>) -> &'static str {
    severity.map_or("off", Severity::name)
}

fn table() -> String {
    let rows = Rule::ALL.iter().map(|rule| {
        let default = severity_name(rule.severity());
        let strict = severity_name(rule.strict_severity());
        format!("{:<31} {default:<8} {strict:<8} {}\n", rule.name(), rule.summary())
    });
    let head = format!("{:<31} {:<8} {:<8} MEANING\n", "RULE", "DEFAULT", "STRICT");
    std::iter::once(head).chain(rows).collect()
}

fn grouped(screen: Screen) -> String {
    let mut text = String::new();
    for rule in Rule::ALL {
        if let Some((_, title)) = GROUPS.iter().find(|(first, _)| *first == rule) {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.extend([gap, &screen.paint(title, Style::new().bold()), "\n"]);
        }
        let (severity, strict) = (rule.severity(), rule.strict_severity());
        let style = match severity {
            Some(Severity::Error) => Style::new().red(),
            Some(Severity::Warning) => Style::new().yellow(),
            None => Style::new().dimmed(),
        };
        let name = screen.paint(rule.name(), Style::new().cyan());
        let level = screen.paint(severity_name(severity), style);
        let strict = match strict {
            strict if strict == severity => String::new(),
            strict => format!(", {} with --strict", severity_name(strict)),
        };
        let summary = rule.summary().trim_end_matches('.');
        let line = format!("  {name}  {summary} ({level}{strict})");
        push_wrapped(&line, 6, Some(screen.width), &mut text);
    }
    text += "\n`ndjson-check rules NAME` explains a rule.\n";
    text
}

/// A page in Markdown, as far as our pages use it.
fn shown(page: &str, screen: Screen) -> String {
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        let is_item = line.starts_with("- ");
        if in_code || is_fence || is_item || line.is_empty() || line.starts_with(['#', '|']) {
            end_paragraph(&mut paragraph, screen, &mut text);
        }
        in_code ^= is_fence;
        if is_fence {
        } else if in_code {
            let code = format!("    {}", clipped(line, CODE_BYTES_MAX));
            text.extend([&screen.paint(&code, Style::new().dimmed()), "\n"]);
        } else if let Some(title) = line.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim();
            text.extend([&screen.paint(title, Style::new().bold().underline()), "\n"]);
        } else if line.starts_with('|') {
            text.extend([line, "\n"]);
        } else if line.is_empty() {
            text.push('\n');
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    end_paragraph(&mut paragraph, screen, &mut text);
    text
}

/// Longest line of an example, in bytes.
const CODE_BYTES_MAX: usize = 2_000;

fn end_paragraph(paragraph: &mut String, screen: Screen, text: &mut String) {
    let words = std::mem::take(paragraph);
    if !words.is_empty() {
        let indent = if words.starts_with("- ") { 2 } else { 0 };
        push_wrapped(&inline(&words, screen), indent, Some(screen.width), text);
    }
}

/// With code in colour, and the text of links alone.
fn inline(words: &str, screen: Screen) -> String {
    let mut text = String::new();
    for (number, part) in words.split('`').enumerate() {
        if number % 2 == 0 {
            text += &without_links(part);
        } else if screen.has_color {
            // Each word on its own: a line may break between them.
            let words = part.split(' ').map(|word| screen.paint(word, Style::new().cyan()));
            text += &words.collect::<Vec<_>>().join(" ");
        } else {
            text.extend(["`", part, "`"]);
        }
    }
    text
}

fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, (_, after))) =
            link.split_once("](").and_then(|(name, target)| Some((name, target.split_once(')')?)))
        else {
            break;
        };
        shown.extend([before, name]);
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Screen = Screen { width: 30, has_color: false };
    const COLOR: Screen = Screen { width: 30, has_color: true };

    #[test]
    fn a_page_is_shown() {
        let page = "# a-rule\n\nOne line is\ntoo long: see [the page](x.md) of `a b`.\n\n\
                    - one item that is much too long\n- two\n\n```sh\n# not a title\n```\n";
        let plain = "a-rule\n\nOne line is too long: see the\npage of `a b`.\n\n\
                     - one item that is much too\n  long\n- two\n\n    # not a title\n";
        assert_eq!(shown(page, PLAIN), plain);
        let colored = shown(page, COLOR);
        assert!(colored.contains("\x1b[36ma\x1b[0m") || colored.contains("\x1b[36ma\x1b[39m"));
    }

    /// Goal: no page and no row is wider than the terminal, but for examples and tables.
    #[test]
    fn every_page_fits() {
        for rule in Rule::ALL {
            let page = shown(rule.page(), Screen { width: 60, ..PLAIN });
            let is_prose = |line: &&str| !line.starts_with(['|', ' ']);
            let wide = page.lines().filter(is_prose).find(|line| line.chars().count() > 60);
            assert_eq!(wide, None, "{rule}");
        }
        let list = grouped(Screen { width: 60, ..PLAIN });
        assert_eq!(list.lines().find(|line| line.chars().count() > 60), None, "{list}");
        for rule in Rule::ALL {
            assert!(list.contains(&format!("\n  {rule} ")), "{rule}");
        }
        for (_, title) in GROUPS {
            assert_eq!(list.matches(&format!("{title}\n")).count(), 1, "{title}");
        }
    }
}
