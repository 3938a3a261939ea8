//! Names of secrets: of variables, options, headers, and members of objects.

/// What the name of a secret ends with, in small letters and without what separates words. `true`:
/// only as a separate word.
const WORDS: &[(&[u8], bool)] = &[
    (b"password", false),
    (b"passwd", false),
    (b"passphrase", false),
    (b"passcode", false),
    (b"pass", true),
    (b"pwd", true),
    (b"pw", true),
    (b"secret", false),
    (b"token", false),
    (b"apikey", false),
    (b"secretkey", false),
    (b"accesskey", false),
    (b"privatekey", false),
    (b"authkey", false),
    (b"signingkey", false),
    (b"encryptionkey", false),
    (b"masterkey", false),
    (b"accountkey", false),
    (b"sharedkey", false),
    (b"servicekey", false),
    (b"licensekey", false),
    (b"keydata", false),
    (b"credential", false),
    (b"credentials", false),
    (b"creds", true),
    (b"auth", true),
    (b"authorization", true),
    (b"jwt", true),
];

/// What may follow, as in `SECRET_KEY_BASE`.
const ENDINGS: &[&[u8]] = &[
    b"base",
    b"value",
    b"prod",
    b"production",
    b"dev",
    b"staging",
    b"live",
    b"old",
    b"new",
    b"b64",
    b"base64",
    b"raw",
    b"plaintext",
];

/// What makes a token a place in a list, a word of a text, or the like.
const PLAIN_TOKENS: &[&[u8]] = &[
    b"next",
    b"page",
    b"cancel",
    b"cancellation",
    b"continuation",
    b"pagination",
    b"sync",
    b"stop",
    b"start",
    b"eos",
    b"bos",
    b"pad",
    b"unk",
    b"mask",
    b"sep",
    b"cls",
    b"special",
    b"max",
    b"min",
    b"last",
    b"prev",
    b"resume",
    b"per",
    b"public",
    b"publishable",
    b"change",
    b"lock",
    b"request",
];

/// The first letters of the words, a bit for each.
const FIRST_LETTERS: u32 = {
    let mut bits = 0;
    let mut index = 0;
    while index < WORDS.len() {
        bits |= 1 << (WORDS[index].0[0] - b'a');
        index += 1;
    }
    bits
};

/// How much of a name a word can be, with what separates its parts, in bytes.
const END_BYTES: usize = 24;

/// The shortest start of a word that counts inside a longer word.
const INNER_BYTES_MIN: usize = 4;

pub(crate) const NAME_BYTES_MAX: usize = 64;

/// A name in small letters, without what separates its words.
struct Words {
    letters: [u8; NAME_BYTES_MAX],
    length: usize,
    /// A bit for each place where a word begins.
    starts: u64,
}

impl Words {
    fn new(name: &[u8]) -> Self {
        let name = &name[name.len().saturating_sub(NAME_BYTES_MAX)..];
        let mut words = Self { letters: [0; NAME_BYTES_MAX], length: 0, starts: 1 };
        let mut previous = b'_';
        for byte in name {
            if byte.is_ascii_alphanumeric() {
                let is_hump = byte.is_ascii_uppercase() && !previous.is_ascii_uppercase();
                if is_hump || !previous.is_ascii_alphanumeric() {
                    words.starts |= 1 << words.length;
                }
                words.letters[words.length] = byte.to_ascii_lowercase();
                words.length += 1;
            }
            previous = *byte;
        }
        words
    }

    fn begins(&self, at: usize) -> bool {
        at < NAME_BYTES_MAX && self.starts >> at & 1 != 0
    }

    /// Removes the last word if it says nothing about what is named, and digits.
    fn trimmed(mut self) -> Self {
        for _ in 0..2 {
            while self.length > 0 && self.letters[self.length - 1].is_ascii_digit() {
                self.length -= 1;
            }
            let letters = &self.letters[..self.length];
            let ending = ENDINGS.iter().find(|it| {
                ends_with(letters, it)
                    && letters.len() > it.len()
                    && self.begins(letters.len() - it.len())
            });
            self.length -= ending.map_or(0, |it| it.len());
        }
        self
    }
}

/// The last two letters of the words and the endings, a bit for the first of them.
const LAST_LETTERS: [u32; 26] = {
    let mut bits = [0; 26];
    let mut index = 0;
    while index < WORDS.len() + ENDINGS.len() {
        let word = if index < WORDS.len() { WORDS[index].0 } else { ENDINGS[index - WORDS.len()] };
        let mut length = word.len();
        while word[length - 1].is_ascii_digit() {
            length -= 1;
        }
        let first = if length > 1 { 1 << (word[length - 2] - b'a') } else { u32::MAX };
        bits[(word[length - 1] - b'a') as usize] |= first;
        index += 1;
    }
    bits
};

fn has_letter(bits: u32, letter: u8) -> bool {
    letter.is_ascii_lowercase() && bits >> (letter - b'a') & 1 != 0
}

fn are_neighbours(first: u8, second: u8) -> bool {
    first.is_ascii_lowercase() && has_letter(NEIGHBOURS[usize::from(first - b'a')], second)
}

/// Two letters in a row in a word, a bit for the second of them.
const NEIGHBOURS: [u32; 26] = {
    let mut bits = [0; 26];
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index].0;
        let mut at = 1;
        while at < word.len() {
            bits[(word[at - 1] - b'a') as usize] |= 1 << (word[at] - b'a');
            at += 1;
        }
        index += 1;
    }
    bits
};

/// Whether a name ends with the last letters of a word. Most others do not.
#[inline]
pub(crate) fn ends_like_secret(name: &[u8]) -> bool {
    let name = name.iter().rev().take(NAME_BYTES_MAX);
    let mut letters = name.skip_while(|it| !it.is_ascii_alphabetic());
    let Some(last) = letters.next().map(|it| it.to_ascii_lowercase() - b'a') else { return false };
    let first = letters.next().filter(|it| it.is_ascii_alphabetic());
    let bits = LAST_LETTERS[usize::from(last)];
    first.is_none_or(|it| bits >> (it.to_ascii_lowercase() - b'a') & 1 != 0)
}

/// Most words end with another letter.
#[inline]
fn ends_with(letters: &[u8], word: &[u8]) -> bool {
    letters.last() == word.last() && letters.ends_with(word)
}

/// Whether a name, such as that of a variable, an option, a header or a member of an object, says
/// that its value is a secret: `DB_PASSWORD`, `apiKey`, `--auth-token`.
pub fn is_secret_name(name: &[u8]) -> bool {
    if !ends_like_secret(name) {
        return false;
    }
    let words = Words::new(name).trimmed();
    let letters = &words.letters[..words.length];
    let Some((word, _)) = WORDS.iter().find(|(word, is_whole)| {
        ends_with(letters, word) && (!is_whole || words.begins(letters.len() - word.len()))
    }) else {
        return is_header_key(name);
    };
    let before = &letters[..letters.len() - word.len()];
    *word != b"token" || !PLAIN_TOKENS.iter().any(|plain| before.ends_with(plain))
}

/// `X-Api-Key`, `X-Vault-Token` and the like.
fn is_header_key(name: &[u8]) -> bool {
    name.get(..2).is_some_and(|it| it.eq_ignore_ascii_case(b"x-"))
        && name.len() > 4
        && name[name.len() - 4..].eq_ignore_ascii_case(b"-key")
}

/// Where a word begins that may become the name of a secret, in a name that the text cuts.
pub(crate) fn may_become_secret(name: &[u8]) -> bool {
    if is_secret_name(name) {
        return true;
    }
    let words = Words::new(&name[name.len().saturating_sub(END_BYTES)..]);
    let letters = &words.letters[..words.length];
    for at in (0..letters.len()).rev() {
        let (is_start, rest) = (words.begins(at), &letters[at..]);
        let is_rest_of = |(word, is_whole): &(&[u8], bool)| {
            word[0] == rest[0] && (is_start || !is_whole) && word.starts_with(rest)
        };
        let is_long = is_start || rest.len() >= INNER_BYTES_MIN;
        if is_long && has_letter(FIRST_LETTERS, rest[0]) && WORDS.iter().any(is_rest_of) {
            return true;
        }
        // What no word has inside is the border of all that begin before it.
        if at == 0 || !are_neighbours(letters[at - 1], rest[0]) {
            break;
        }
    }
    false
}

/// Whether the names of this kind are those of an environment: `DB_PASSWORD`.
pub(crate) fn is_variable(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "PGPASS",
            "api_key",
            "apiKey",
            "X-Api-Key",
            "_authToken",
            "AccountKey",
            "aws_secret_access_key",
            "client-key-data",
            "SECRET_KEY_BASE",
            "auth",
            "Authorization",
            "GITHUB_TOKEN",
            "client_secret",
            "password2",
            "x-goog-key",
            "credentials",
            "DB_PASS",
            "--password",
        ] {
            let is_known = is_secret_name(name.as_bytes());
            assert_eq!(is_known, name != "PGPASS", "{name}");
            assert!(may_become_secret(name.as_bytes()) || !is_known, "{name}");
        }
        for name in [
            "max_tokens",
            "token_type",
            "nextPageToken",
            "key",
            "author",
            "compass",
            "bypass",
            "public_key",
            "signature",
            "PASSWORD_FILE",
            "secretName",
            "tokens",
            "oauth2_url",
            "",
        ] {
            assert!(!is_secret_name(name.as_bytes()), "{name}");
        }
        for start in ["DB_PASSW", "a", "apiK", "client-key-da", "x_to"] {
            assert!(may_become_secret(start.as_bytes()), "{start}");
        }
        assert!(!may_become_secret(b"the") && !may_become_secret(b"lines"));
    }
}
