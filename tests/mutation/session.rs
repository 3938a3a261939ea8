//! Sessions of the default profile: long runs of deltas, tool calls between them, and what else
//! there is. Good, but for a little trouble with times, calls and ids.

use std::io::Write as _;

use super::nasty::{good_number, good_text};
use super::{Mutator, Random, push};

/// What changes from line to line in a session, and so what may be looked at while lines still
/// are repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habit {
    /// Bits of a time.
    time_bits: u32,
    /// Whether the time never changes.
    still: bool,
    /// Whether the texts are few.
    terse: bool,
}

/// What a session has come to.
struct Session {
    id: usize,
    time: u64,
    habit: Habit,
    calls: usize,
    open: Vec<usize>,
    /// The text of the segment and of the whole answer, as JSON spells them.
    segment: Vec<u8>,
    answer: Vec<u8>,
    line: Vec<u8>,
}

// In these forms `@` stands for the session's id, `~` for the time, `^` for a text and `%` for a
// number.

const INIT: &str = concat!(
    r#"{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/app","session_id":"@","#,
    r#""model":"Auto","permissionMode":"default"}"#
);

const PROMPT: &str = concat!(
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"^"}]},"#,
    r#""session_id":"@"}"#
);

/// How a piece of the answer may be spelled.
const DELTAS: [&str; 7] = [
    concat!(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r#""text":"^"}]},"session_id":"@","timestamp_ms":~}"#
    ),
    concat!(
        r#"{"session_id":"@","timestamp_ms":~,"type":"assistant","message":{"content":"#,
        r#"[{"text":"^","type":"text"}],"role":"assistant"}}"#
    ),
    concat!(
        r#"{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "#,
        r#""text": "^"}]}, "session_id": "@", "timestamp_ms": ~}"#
    ),
    concat!(
        r#"{"t\u0079pe":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r#""t\u0065xt":"^"}]},"session_id":"@","timestamp_ms":~}"#
    ),
    concat!(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r#""text":"^"}]},"session_id":"@","timestamp_ms":~,"#,
        r#""more":{"n":%,"list":[1,2,%],"on":true,"none":null}}"#
    ),
    concat!(
        r#"  {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r#""text":"^"}]},"session_id":"@","timestamp_ms":~}  "#
    ),
    concat!(
        r#"{"timestamp_ms":~,"message":{"role":"assistant","content":[{"type":"text","text":"^"},"#,
        r#"{"type":"text","text":""}]},"session_id":"@","type":"assistant"}"#
    ),
];

/// How a thought may be spelled; and an event that no profile knows.
const THOUGHTS: [&str; 4] = [
    r#"{"type":"thinking","subtype":"delta","text":"^","session_id":"@","timestamp_ms":~}"#,
    r#"{"text":"^","timestamp_ms":~,"session_id":"@","subtype":"delta","type":"thinking"}"#,
    concat!(
        r#"{"type":"thinking","subtype":"delta","text":"^","session_id":"@","timestamp_ms":~,"#,
        r#""n":%,"values":[%,%,%]}"#
    ),
    concat!(
        r#"{"type":"metrics","n":%,"values":[%,%],"text":"^","nested":{"deep":[{"x":%},"#,
        r#"{"x":"^"}]},"session_id":"@","timestamp_ms":~}"#
    ),
];

impl Mutator<'_> {
    pub(super) fn session(&mut self, out: &mut Vec<u8>) {
        let percent = self.random.pick(&[0, 1, 3, 10, 30]);
        let habit = if self.calm { self.habit } else { Habit::new(&mut self.random) };
        let mut session = Session::new(habit, &mut self.random);
        for form in [INIT, PROMPT] {
            session.write(form, &mut self.random);
            push(&session.line, out);
        }
        for _ in 0..self.random.within(1, 6) {
            match self.random.below(5) {
                0 => self.run(&mut session, &THOUGHTS, percent, out),
                1 | 2 => {
                    session.segment.clear();
                    self.run(&mut session, &DELTAS, percent, out);
                    let whole = session.whole(&mut self.random);
                    self.maybe_damaged(whole, percent, out);
                }
                _ => {
                    for _ in 0..self.random.within(1, 6) {
                        let call = session.call(&mut self.random);
                        self.maybe_damaged(call, percent, out);
                    }
                }
            }
        }
        while let Some(id) = session.open.pop() {
            let call = session.half(id, false, &mut self.random);
            self.maybe_damaged(call, percent, out);
        }
        let result = session.result(&mut self.random);
        self.maybe_damaged(result, percent, out);
    }

    /// Lines of one spelling, now and then one of another.
    fn run(&mut self, session: &mut Session, forms: &[&str], percent: usize, out: &mut Vec<u8>) {
        let usual = self.random.pick(forms);
        for _ in 0..self.random.within(5, 70) {
            let form = if self.random.chance(3) { self.random.pick(forms) } else { usual };
            session.write(form, &mut self.random);
            self.varied(session.line.clone(), percent, out);
        }
    }
}

impl Habit {
    pub(super) fn new(random: &mut Random) -> Self {
        // Times of thirteen digits as today's; of few, of the most that are exact, and of more.
        let time_bits = random.pick(&[41, 41, 41, 41, 41, 41, 4, 24, 49, 53, 60]);
        Self { time_bits, still: random.chance(30), terse: random.chance(40) }
    }
}

impl Session {
    fn new(habit: Habit, random: &mut Random) -> Self {
        Self {
            id: random.below(4),
            time: random.next() >> (64 - habit.time_bits),
            habit,
            calls: 0,
            open: Vec::new(),
            segment: Vec::new(),
            answer: Vec::new(),
            line: Vec::new(),
        }
    }

    /// Makes a line of a form.
    fn write(&mut self, form: &str, random: &mut Random) {
        self.line.clear();
        let mut rest = form.as_bytes();
        while let Some(at) = rest.iter().position(|byte| b"@~^%".contains(byte)) {
            self.line.extend_from_slice(&rest[..at]);
            match rest[at] {
                b'@' => {
                    let id = if random.below(2_000) == 0 { 9 } else { self.id };
                    let _ = write!(self.line, "session-{id}");
                }
                b'~' => {
                    let step = if self.habit.still { 0 } else { random.next() % 100 };
                    self.time = self.time.wrapping_add(step);
                    let back = if random.below(500) == 0 { random.next() % 200 } else { 0 };
                    let _ = write!(self.line, "{}", self.time.saturating_sub(back));
                }
                b'^' => {
                    let start = self.line.len();
                    if self.habit.terse {
                        self.line.extend_from_slice(random.pick(&[b"a", b"b", b"#"]));
                    } else {
                        good_text(random, &mut self.line);
                    }
                    self.segment.extend_from_slice(&self.line[start..]);
                }
                _ => good_number(random, &mut self.line),
            }
            rest = &rest[at + 1..];
        }
        self.line.extend_from_slice(rest);
    }

    /// The segment as a whole, after its pieces.
    fn whole(&mut self, random: &mut Random) -> Vec<u8> {
        let segment = std::mem::take(&mut self.segment);
        self.answer.extend_from_slice(&segment);
        let timed = r#""}]},"model_call_id":"c","session_id":"@","timestamp_ms":~}"#;
        let last = r#""}]},"session_id":"@"}"#;
        self.write(if random.chance(70) { timed } else { last }, random);
        let head = concat!(
            r#"{"type":"assistant","message":{"role":"assistant","content":"#,
            r#"[{"type":"text","text":""#
        );
        [head.as_bytes(), &segment, &self.line].concat()
    }

    /// One half of a call: most often one that is due.
    fn call(&mut self, random: &mut Random) -> Vec<u8> {
        if self.open.is_empty() || random.chance(40) {
            self.calls += usize::from(random.chance(98));
            self.open.push(self.calls);
            return self.half(self.calls, true, random);
        }
        let id = self.open.swap_remove(random.below(self.open.len()));
        self.half(id, false, random)
    }

    fn half(&mut self, id: usize, starts: bool, random: &mut Random) -> Vec<u8> {
        let tool = ["read", "shell", "edit", "newKind"][id % 4];
        let results = [
            r#","result":{"success":{"content":"^","totalLines":%}}"#,
            r#","result":{"success":{"exitCode":%,"stdout":"^"}}"#,
            r#","result":{"error":{"errorMessage":"^"}}"#,
            r#","result":{"rejected":{"reason":"^"}}"#,
        ];
        let (half, result) =
            if starts { ("started", "") } else { ("completed", random.pick(&results)) };
        let args = format!(r#"{{"path":"/app/{id}","command":"c {id}","list":[{id},{{}},[]]}}"#);
        let form = [
            r#"{"type":"tool_call","subtype":""#,
            half,
            &format!(r#"","call_id":"call\n{id}","tool_call":{{"{tool}ToolCall":{{"args":{args}"#),
            result,
            &format!(r#"}},"toolCallId":"t{id}"}},"session_id":"@","timestamp_ms":~}}"#),
        ];
        self.write(&form.concat(), random);
        self.line.clone()
    }

    fn result(&mut self, random: &mut Random) -> Vec<u8> {
        let form = concat!(
            r#"","duration_ms":%,"duration_api_ms":1,"session_id":"@","#,
            r#""usage":{"inputTokens":%,"outputTokens":%,"cacheReadTokens":0}}"#
        );
        self.write(form, random);
        let head = br#"{"type":"result","subtype":"success","is_error":false,"result":""#;
        [&head[..], &self.answer, &self.line].concat()
    }
}
