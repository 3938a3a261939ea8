//! `transcript`: the run as a person would want to read it: the assistant's text as it comes, and
//! the actions between its segments, each in brackets on a line of its own.

use super::actions::Actions;
use super::{Converter, Seen};
use crate::profile::Profile;
use crate::check::stage::text::Piece;
use crate::rules::escape::Shown;

pub(super) struct Transcript<'p> {
    actions: Actions<'p>,
    shown: Shown,
    block: Block,
    /// Line breaks at the end of what was written, at most two.
    breaks: usize,
}

/// What was written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Nothing.
    None,
    /// Part of a text segment.
    OpenText,
    /// The end of one.
    Text,
    /// An action.
    Action,
}

impl<'p> Transcript<'p> {
    pub(super) fn new(profile: &'p Profile, raw: bool) -> Self {
        Self {
            actions: Actions::new(profile, raw),
            shown: Shown::new(raw),
            block: Block::None,
            breaks: 0,
        }
    }

    /// A piece of a segment. Segments are set apart by a blank line, and blank lines of their own
    /// at either end do not add to it.
    fn text(&mut self, piece: &str, out: &mut String) {
        let mut piece = piece;
        if self.block != Block::OpenText {
            piece = piece.trim_start_matches(['\r', '\n']);
            if piece.is_empty() {
                return;
            }
            self.set_apart(out);
            self.block = Block::OpenText;
        }
        let start = out.len();
        self.shown.text(piece, out);
        self.count_breaks(start, out);
    }

    fn count_breaks(&mut self, start: usize, out: &str) {
        let written = &out[start..];
        let last = written.len() - written.trim_end_matches('\n').len();
        self.breaks = if last == written.len() { self.breaks + last } else { last }.min(2);
    }

    fn action(&mut self, line: &str, out: &mut String) {
        if self.block != Block::Action {
            self.set_apart(out);
        }
        out.push('[');
        out.push_str(line);
        out.push_str("]\n");
        (self.block, self.breaks) = (Block::Action, 1);
    }

    /// Ends the last line and leaves a blank one, unless nothing stands before.
    fn set_apart(&mut self, out: &mut String) {
        if self.block != Block::None {
            let missing = 2 - self.breaks.min(2);
            out.push_str(&"\n\n"[..missing]);
            self.breaks = 2;
        }
    }
}

impl Converter for Transcript<'_> {
    fn event(&mut self, seen: &Seen<'_, '_>, out: &mut Vec<u8>) {
        let mut text = String::new();
        for piece in seen.pieces {
            match piece {
                Piece::Text(piece) => self.text(piece, &mut text),
                Piece::End if self.block == Block::OpenText => {
                    let start = text.len();
                    self.shown.end(&mut text);
                    if text.len() > start {
                        self.count_breaks(start, &text);
                    }
                    self.block = Block::Text;
                }
                // What has been shown stays; the report tells of the difference.
                Piece::Corrected(_) | Piece::End | Piece::Answer(_) | Piece::Turn => {}
            }
        }
        for line in self.actions.lines(seen) {
            self.action(&line, &mut text);
        }
        out.extend_from_slice(text.as_bytes());
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let mut text = String::new();
        self.shown.end(&mut text);
        for line in self.actions.unfinished() {
            self.action(&line, &mut text);
        }
        if self.block != Block::None && self.breaks == 0 {
            text.push('\n');
        }
        out.extend_from_slice(text.as_bytes());
    }
}
