//! `stream-json` with `--only-valid`: the events that satisfy the schemas, byte for byte.

use super::{Converter, Seen};
use crate::stream::line::Ending;

pub(super) struct Valid;

impl Converter for Valid {
    fn event(&mut self, seen: &Seen<'_, '_>, out: &mut Vec<u8>) {
        if !seen.valid {
            return;
        }
        out.extend_from_slice(seen.line.bytes);
        out.extend_from_slice(match seen.line.ending {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
            Ending::EndOfStream => b"",
        });
    }
}
