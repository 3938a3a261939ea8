//! Numbers, times and texts as a page shows them.

use maud::{Markup, PreEscaped, Render, html};
use ndjson_check_core::escape::{Escaper, visible};

use super::excerpt::Excerpt;
use crate::report::quoted::parts;
use crate::report::stats_text;

/// A text on one line, with what misleads made visible.
pub(super) struct OneLine<'t>(pub(super) &'t str);

impl Render for OneLine<'_> {
    fn render(&self) -> Markup {
        html! { (visible(self.0)) }
    }
}

/// A message: what it quotes in backticks is shown as code.
pub(super) struct WithCode<'t>(pub(super) &'t str);

impl Render for WithCode<'_> {
    fn render(&self) -> Markup {
        let parts = parts(self.0);
        html! {
            @for (at, part) in parts.iter().enumerate() {
                @if at % 2 == 1 { code { (OneLine(part)) } } @else { (OneLine(part)) }
            }
        }
    }
}

/// A text of several lines, with what misleads made visible, and what is missing in the middle.
pub(super) struct Lines<'t>(pub(super) &'t Excerpt);

impl Render for Lines<'_> {
    fn render(&self) -> Markup {
        let (missing, tail) = self.0.tail();
        let (head, tail) = (self.0.head().trim_start_matches(['\r', '\n']), tail.trim_end());
        html! {
            (escaped(if tail.is_empty() { head.trim_end() } else { head }))
            @if missing > 0 { span.cut { "… " (size(missing)) " left out …" } }
            (escaped(tail))
        }
    }
}

fn escaped(text: &str) -> Markup {
    let mut out = String::new();
    push_text(text, &mut out);
    PreEscaped(out)
}

/// Appends a text as markup, with what misleads made visible.
pub(super) fn push_text(text: &str, out: &mut String) {
    let mut escaper = Escaper::new(false);
    let mut plain = String::with_capacity(text.len());
    escaper.text(text, &mut plain);
    escaper.end(&mut plain);
    out.push_str(&html! { (plain) }.0);
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

pub(super) fn duration(ms: f64) -> String {
    stats_text::duration(whole(ms))
}

/// A long duration, without what does not matter.
pub(super) fn about(ms: f64) -> String {
    let minutes = whole(ms / 60_000.0);
    match minutes {
        0..10 => duration(ms),
        10..180 => format!("{minutes} m"),
        180..2_880 => format!("{} h", (minutes + 30) / 60),
        _ => format!("{} days", (minutes + 720) / 1_440),
    }
}

/// The time since the first event, as a clock shows it. Without tenths, unless they are asked for.
pub(super) fn offset(ms: f64, has_tenths: bool) -> String {
    if ms <= -1.0 {
        return format!("−{}", offset(-ms, has_tenths));
    }
    let ms = whole(ms);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let tenths = if has_tenths { format!(".{}", ms % 1_000 / 100) } else { String::new() };
    match hours {
        0 => format!("{minutes}:{seconds:02}{tenths}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}{tenths}"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative")]
pub(super) fn whole(ms: f64) -> u64 {
    ms.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(duration(61_400.0), "1 m 01 s");
        let minutes = [9.0, 119.0, 200.0, 230.0, 2_900.0, 4_260.0];
        let about = minutes.map(|it| about(it * 60_000.0));
        assert_eq!(about, ["9 m 00 s", "119 m", "3 h", "4 h", "2 days", "3 days"]);
        assert_eq!(offset(-1_500.0, true), "−0:01.5");
        assert_eq!(offset(61_450.0, true), "1:01.4");
        assert_eq!(offset(3_661_000.0, false), "1:01:01");
    }

    #[test]
    fn nothing_misleads() {
        let text = Excerpt::of("<b>\u{202e}\r\n\0\"&", 1_000);
        let shown = "&lt;b&gt;\\u{202e}\n\\x00&quot;&amp;";
        assert_eq!(Lines(&text).render().into_string(), shown);
        assert_eq!(OneLine("<\n").render().into_string(), "&lt;\\n");
    }

    #[test]
    fn a_message_shows_what_it_quotes_as_code() {
        let shown = |message| WithCode(message).render().into_string();
        assert_eq!(shown("the `<b>` call"), "the <code>&lt;b&gt;</code> call");
        assert_eq!(shown("the `echo `date` call"), "the `echo `date` call");
        assert_eq!(shown("the `echo `date` x` call"), "the `echo `date` x` call");
    }
}
