//! Invented secrets of each format, to test what replaces them. With the feature `samples`.

use crate::classes::Class;
use crate::formats::{FORMATS, FormatRun, Proof, TokenShape};

/// An invented secret.
#[derive(Debug)]
pub struct Sample {
    /// The name of its format, as in the replacement.
    pub format: &'static str,
    /// What must be before it, and is not secret, such as the name of a header.
    pub before: String,
    /// What must not survive.
    pub secret: String,
    /// Where in the secret the fixed part of its format begins: at 0, or behind the characters in
    /// front of a mark inside it.
    pub mark_at: usize,
    /// The length of the fixed part that the secret begins with, which is public.
    pub prefix_bytes: usize,
}

/// A generator with a fixed seed.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Any number below `bound`, which is at least 1.
    pub fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    fn run(&mut self, class: Class, length: usize) -> String {
        let all: Vec<u8> = (b'!'..=b'~')
            .filter(|it| class.has(*it) && (it.is_ascii_alphanumeric() || *it == b'_'))
            .collect();
        (0..length).map(|_| char::from(all[self.next(all.len())])).collect()
    }
}

/// Calls `take` with `count` secrets of each format.
pub fn secrets(count: usize, mut take: impl FnMut(&mut Dice, &Sample)) {
    let mut dice = Dice(7);
    for format in FORMATS {
        for round in 0..count {
            let prefix = format.prefixes[round % format.prefixes.len()];
            let (before, secret) = secret(&mut dice, format.body, prefix);
            let prefixes = format.prefixes.iter().filter(|it| secret.starts_with(**it));
            let prefix_bytes = prefixes.map(|it| it.len()).max().unwrap_or(0);
            let mark_at = match format.body {
                TokenShape::Run(FormatRun { before: Some((_, least, _)), .. }) => least,
                _ => 0,
            };
            let sample = Sample { format: format.name, before, secret, mark_at, prefix_bytes };
            take(&mut dice, &sample);
        }
    }
}

fn secret(dice: &mut Dice, body: TokenShape, prefix: &str) -> (String, String) {
    match body {
        TokenShape::Run(run) => {
            let body = proven(dice, run);
            match run.before {
                _ if run.keeps_prefix => (prefix.to_owned(), body),
                Some((class, least, _)) => {
                    (String::new(), format!("{}{prefix}{body}", dice.run(class, least)))
                }
                None => (String::new(), format!("{prefix}{body}")),
            }
        }
        TokenShape::Pem if prefix.starts_with("PuTTY") => {
            let body = dice.run(Class::Alnum, 64);
            let (head, mac) = ("ssh-rsa\nEncryption: none", dice.run(Class::Hex, 40));
            let text = format!("{prefix}{head}\nPrivate-Lines: 1\n{body}\nPrivate-MAC: {mac}");
            (String::new(), text)
        }
        TokenShape::Pem if prefix.starts_with("LS0t") => {
            (String::new(), format!("{prefix}{}", dice.run(Class::Alnum, 60)))
        }
        TokenShape::Pem => {
            let lines: Vec<String> = (0..3).map(|_| dice.run(Class::Alnum, 24)).collect();
            let (kind, body) = (["", "RSA "][dice.next(2)], lines.join("\n"));
            let end = prefix.replace("BEGIN", "END").replace("begin", "end");
            let label = if prefix.contains("BEGIN") { "PRIVATE KEY" } else { "private key" };
            let dashes = if prefix.contains("SSH2") { " ----" } else { "-----" };
            let label = format!("{kind}{label}{dashes}");
            (String::new(), format!("{prefix}{label}\n{body}\n{end}{label}"))
        }
        TokenShape::Url if prefix.ends_with('\\') => {
            (r"https:\/\/user:".to_owned(), format!("{}@", dice.run(Class::Alnum, 9)))
        }
        TokenShape::Url => {
            (format!("https{prefix}user:"), format!("{}@", dice.run(Class::Alnum, 9)))
        }
        TokenShape::Nothing => unreachable!("no format has this"),
    }
}

/// A run that shows what it must.
fn proven(dice: &mut Dice, run: FormatRun) -> String {
    loop {
        let more = if run.is_exact { 0 } else { dice.next(20) };
        let body = match run.proof {
            Proof::Dots => {
                let mut part = || dice.run(Class::Alnum, 12);
                format!("{}.{}.{}", part(), part(), part())
            }
            Proof::Pair => ["dXNlcjpwYXNzd29yZA==", "Ym9iOnMzY3IzdA", "w7w6w6TDtsO8MTIz"]
                [dice.next(3)]
            .to_owned(),
            Proof::None | Proof::Mixed | Proof::Random => dice.run(run.class, run.least + more),
        };
        if run.proof.holds(body.as_bytes()) {
            return body;
        }
    }
}
