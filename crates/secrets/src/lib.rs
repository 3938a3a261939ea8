//! Finds secrets in text: API keys and tokens in the formats of about a hundred vendors, private
//! keys, passwords in URLs, and values that a name such as `DB_PASSWORD` or an option such as
//! `--api-key` shows. `formats.md` in the folder of the sources lists all of them, and what is not
//! found.
//!
//! ```
//! use ndjson_check_secrets::SecretFinder;
//!
//! let finder = SecretFinder::new(&[]);
//! let text = "export DB_PASSWORD=hunter2 && make";
//!
//! let mut out = String::new();
//! let mut from = 0;
//! for found in finder.search(text.as_bytes(), 0).found {
//!     out.push_str(&text[from..found.range.start]);
//!     out.push_str(finder.replacement(&found));
//!     from = found.range.end;
//! }
//! out.push_str(&text[from..]);
//! assert_eq!(out, "export DB_PASSWORD=[REDACTED:named-secret] && make");
//! ```
//!
//! # Text in pieces
//!
//! A text may be cut inside a secret. The search then says where the secret may begin
//! ([`Search::tail`]), or that the last one may be longer ([`Found::may_go_on`]). Keep the text
//! from there, and [`CONTEXT_BYTES`] before it, and search it again with the next piece behind it.
//!
//! ```
//! # use ndjson_check_secrets::SecretFinder;
//! # let finder = SecretFinder::new(&[]);
//! let search = finder.search(b"Log in with glpat-", 0);
//! assert!(search.found.is_empty());
//! assert_eq!(search.tail.unwrap().start, 12);
//! ```
//!
//! # Values that you know
//!
//! A [`SecretValue`] is a secret without a format, such as the value of a variable. It is also
//! found as JSON writes it in a string, in a URL, and in base64.
//!
//! ```
//! # use ndjson_check_secrets::{SecretFinder, SecretValue};
//! let value = SecretValue::new("TOKEN", "correct horse battery").expect("it is long enough");
//! let finder = SecretFinder::new(&[value]);
//! let search = finder.search(b"?t=correct%20horse%20battery", 0);
//! assert_eq!(search.found[0].range, 3..28);
//! ```
//!
//! The time of a search is linear in the length of the text.

mod borders;
mod classes;
mod colours;
mod commands;
mod finder;
mod formats;
mod forms;
mod named;
mod names;
mod pem;
mod randomness;
mod rows;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod starts;
mod url;
mod values;
mod vendors;

pub use finder::{CONTEXT_BYTES, Found, Search, SecretFinder, Tail, is_header};
pub use forms::SecretValue;
pub use names::is_secret_name;
pub use pem::PRIVATE_KEY_BYTES_MAX;
pub use randomness::looks_random;
