//! Secrets that other strings of the same object or array show: `{"name": NAME, "value": VALUE}`,
//! and the arguments of a command.

use std::borrow::Cow;
use std::ops::Range;

use ndjson_check_secrets::{SecretFinder, is_header, is_secret_name};

use super::held::{HeldLines, TextPart};

/// Longest list that may be the arguments of a command, and the longest of these, in bytes.
const ARGUMENTS_MAX: usize = 128;
const ARGUMENT_BYTES_MAX: usize = 4096;

/// Most objects and arrays around a string that are followed.
const AROUND_MAX: usize = 16;

/// The strings of the objects and arrays around a place, from the outermost.
#[derive(Debug, Default)]
pub(super) struct Siblings(Vec<Container>);

/// The strings of one object or array.
#[derive(Debug, Default)]
struct Container {
    number: u64,
    names_secret: bool,
    /// A member that is the name of a header.
    header: Option<Vec<u8>>,
    value: Option<(Vec<u8>, TextPart)>,
    arguments: Vec<(Vec<u8>, TextPart)>,
}

impl Siblings {
    /// The strings of this container follow.
    pub(super) fn enter(&mut self, number: u64, finder: &SecretFinder, held: &mut HeldLines) {
        // It is inside those that began before it, or they have ended.
        while let Some(ended) = self.0.pop_if(|it| it.number > number) {
            ended.leave(finder, held);
        }
        if self.0.last().is_none_or(|it| it.number != number) {
            if self.0.len() == AROUND_MAX {
                self.0.remove(0).leave(finder, held);
            }
            self.0.push(Container { number, ..Container::default() });
        }
    }

    /// Takes a string of the latest container: the value of a member, or an item.
    pub(super) fn take(&mut self, key: Option<Cow<'_, [u8]>>, text: &[u8], piece: &TextPart) {
        let Some(container) = self.0.last_mut() else { return };
        match key {
            Some(key) => container.member(&key, text, piece),
            None => container.item(text, piece),
        }
    }

    pub(super) fn leave(&mut self, finder: &SecretFinder, held: &mut HeldLines) {
        for container in std::mem::take(&mut self.0) {
            container.leave(finder, held);
        }
    }
}

impl Container {
    fn member(&mut self, key: &[u8], value: &[u8], piece: &TextPart) {
        let is = |names: &[&[u8]]| names.iter().any(|name| key.eq_ignore_ascii_case(name));
        if is(&[b"name", b"key", b"header"]) {
            self.names_secret |= is_secret_name(value);
            self.header = is_header(value).then(|| value.to_vec()).or(self.header.take());
        } else if is(&[b"value"]) {
            self.value = Some((value.to_vec(), piece.clone()));
        }
    }

    fn item(&mut self, text: &[u8], piece: &TextPart) {
        if self.arguments.len() < ARGUMENTS_MAX && text.len() <= ARGUMENT_BYTES_MAX {
            self.arguments.push((text.to_vec(), piece.clone()));
        }
    }

    fn leave(self, finder: &SecretFinder, held: &mut HeldLines) {
        let Self { names_secret, header, value, arguments, .. } = self;
        if let Some((value, piece)) = value {
            let named = finder.member_value(&value).filter(|_| names_secret);
            let of_header = header.iter().flat_map(|name| finder.header_values(name, &value));
            let found: Vec<_> = of_header.chain(named).collect();
            held.replace_found(&piece, &found, finder);
        }
        if arguments.iter().any(|(text, _)| text.starts_with(b"-")) {
            as_command(&arguments, finder, held);
        }
    }
}

/// Searches the arguments of a command as a shell writes them.
fn as_command(arguments: &[(Vec<u8>, TextPart)], finder: &SecretFinder, held: &mut HeldLines) {
    let mut command = Vec::new();
    let mut places: Vec<Range<usize>> = Vec::new();
    for (text, _) in arguments {
        let start = command.len();
        command.extend_from_slice(text);
        places.push(start..command.len());
        command.push(b' ');
    }
    for found in finder.search_whole(&command, 0).found {
        for ((_, piece), place) in arguments.iter().zip(&places) {
            let part = found.range.start.max(place.start)..found.range.end.min(place.end);
            if part.start < part.end {
                let part = part.start - place.start..part.end - place.start;
                held.replace(piece, [(part, finder.replacement(&found))]);
            }
        }
    }
}
