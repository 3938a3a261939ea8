//! What models write, what files contain, and what commands print.

use std::sync::LazyLock;

use super::random::Random;

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "the a to of and in is it that this file function test error value I'll now update \
     check module parser returns because should which stream line buffer with for let me \
     look at implementation handles missing directory passes `Option<T>`"
        .split(' ')
        .collect()
});

/// Words, and what stands between them, that are not plain ASCII or need an escape.
const ODD: [&str; 16] = [
    ".\n\n",
    ":\n\n- ",
    "\n",
    " \"quoted\"",
    " C:\\src",
    " “so”",
    " café",
    " naïve",
    " →",
    " ✓",
    "…",
    " —",
    " про",
    " 日本語",
    " 🚀",
    "\n\n```rust\n",
];

static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "parse_event buffer context self state index items handler request options node cursor \
     token span offset count"
        .split(' ')
        .collect()
});

const FOLDERS: [&str; 6] = ["src", "tests", "lib", "packages/core", "docs", "crates/io/src"];

/// A word as a model writes it, with the space before it.
fn push_word(text: &mut String, random: &mut Random) {
    if random.one_in(16) {
        text.push_str(random.pick(&ODD));
    } else {
        text.push(' ');
        text.push_str(random.pick(&WORDS));
    }
}

pub(crate) fn prose(random: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        push_word(&mut text, random);
    }
    text
}

pub(crate) fn path(random: &mut Random) -> String {
    let (folder, name) = (random.pick(&FOLDERS), random.pick(&NAMES));
    format!("/home/dev/app/{folder}/{name}_{}.rs", random.between(0, 99))
}

/// At least `bytes` of something like source code: line ends, indents, quotes, backslashes.
pub(crate) fn code(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let indent = if random.one_in(4) { "\t" } else { "    " };
    while text.len() < bytes {
        for _ in 0..random.between(0, 3) {
            text.push_str(indent);
        }
        text.push_str(&code_line(random));
    }
    text
}

fn code_line(random: &mut Random) -> String {
    let (left, right) = (random.pick(&NAMES), random.pick(&NAMES));
    let number = random.between(0, 4095);
    match random.between(1, 10) {
        1 => format!("//{}\n", one_line(random)),
        2 => format!("log(\"{left} = {{}}\\n\", {right});\n"),
        3 => "let digits = Regex::new(\"^\\\\d+\\\\s*$\")?;\n".to_owned(),
        4 => format!("if {left} == \"{right}\" {{\n"),
        5 => "}\n".to_owned(),
        6 => "\n".to_owned(),
        _ => format!("let {left} = {right}.get({number}, {left})?;\n"),
    }
}

/// At least `bytes` of something like the output of a command, with colours here and there.
pub(crate) fn console(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        if random.one_in(8) {
            text.push_str("\u{1b}[32m✓\u{1b}[0m");
        }
        text.push_str(&console_line(random));
    }
    text
}

fn console_line(random: &mut Random) -> String {
    format!("{}:{}:{}\n", path(random), random.between(1, 999), one_line(random))
}

fn one_line(random: &mut Random) -> String {
    prose(random, 9).replace('\n', " ")
}
