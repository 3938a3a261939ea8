//! The way of the bytes of one stream: they are read, copied, checked and redacted.

use std::io::{ErrorKind, Read};

use ndjson_check_core::{Checker, Error, Observer, ProducerExit};

use super::redaction::{RedactedCopy, Redaction, shown};
use super::tee::TeeTarget;

pub(super) struct StreamJob<'a> {
    pub(super) name: &'a str,
    pub(super) redaction: Option<&'a Redaction>,
    /// They get every byte, redacted if it must be.
    pub(super) copies: &'a mut [TeeTarget],
    /// Observes what is shown, redacted if it must be.
    pub(super) out: &'a mut dyn Observer,
    /// Observes the stream as it came.
    pub(super) supervisor: &'a mut dyn Observer,
}

/// Reads a stream to its end and checks it. Then `exit` says how the producer ended.
///
/// With a redaction there are two checks: the one of the stream as it came decides, and the one of
/// the redacted stream is shown.
pub(super) fn check_stream(
    checker: &mut Checker,
    job: StreamJob<'_>,
    mut source: impl Read,
    exit: impl FnOnce() -> ProducerExit,
) -> Result<(), Error> {
    let StreamJob { name, redaction, copies, out, supervisor } = job;
    let name = shown(name, redaction);
    let mut second = redaction.map(|_| checker.clone());
    let redacted = redaction.zip(second.as_mut());
    let mut redacted = redacted.map(|(it, checker)| RedactedCopy::new(it, &name, checker));
    let mut stream = checker.stream(&name);
    let mut result = Ok(());
    copies.iter_mut().for_each(TeeTarget::begin);
    loop {
        let room = stream.room();
        let count = match source.read(room) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let mut observer = (&mut *supervisor, observer(&mut redacted, out));
                result = result.and_then(|()| Err(stream.unreadable(error, &mut observer)));
                break;
            }
        };
        // The check may change what is in the room.
        let original = redacted.as_ref().map(|_| room[..count].to_vec());
        if original.is_none() {
            for copy in copies.iter_mut() {
                copy.write(&room[..count]);
            }
        }
        // What cannot be checked is read all the same: a producer must not be killed because its
        // output is not read.
        if result.is_ok() {
            let mut observer = (&mut *supervisor, observer(&mut redacted, out));
            result = stream.filled(count, &mut observer);
            if result.is_err() {
                out.flush();
            }
        }
        if let Some((copy, original)) = redacted.as_mut().zip(original) {
            copy.feed(&original, copies, out);
        }
    }
    if redacted.is_none() {
        copies.iter_mut().for_each(TeeTarget::end);
    }
    out.flush();
    let exit = exit();
    let result = result.and_then(|()| stream.finish(&exit, observer(&mut redacted, out)));
    match redacted {
        Some(copy) => copy.finish(result, &exit, copies, out),
        None => result.map(drop),
    }
}

/// Who observes the stream as it came.
fn observer<'a>(
    redacted: &'a mut Option<RedactedCopy<'_>>,
    out: &'a mut dyn Observer,
) -> &'a mut dyn Observer {
    match redacted {
        Some(copy) => copy,
        None => out,
    }
}
