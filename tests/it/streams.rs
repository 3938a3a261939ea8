//! What the tests of this target share, next to what all targets share.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;

use ndjson_check::check::check;
use ndjson_check::contract::Contract;
use ndjson_check::report::json::Json;
use ndjson_check::report::{Report as _, Target};

pub(crate) use crate::support::{
    Case, Collected, PROGRAM, cases, contract, files, judge, own_flags, program, root, run_on,
    shared, text,
};

impl Case {
    /// The name of the folder: an agent, a rule or a profile.
    pub(crate) fn folder(&self) -> &str {
        self.path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap()
    }

    pub(crate) fn contract(&self) -> Contract {
        contract(self.flags.iter().map(String::as_str))
    }

    /// A stream of Cursor's that raises nothing, of a run that succeeded.
    pub(crate) fn is_good_run(&self) -> bool {
        self.folder() == "cursor" && !self.path.ends_with("is-error.ndjson")
    }
}

/// What was written, for whoever kept a copy.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Vec<u8>>>);

impl Memory {
    pub(crate) fn text(&self) -> String {
        text(&self.0.borrow())
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The json report of a stream, without its last line.
pub(crate) fn json_report(stream: impl Read, contract: &Contract) -> String {
    let memory = Memory::default();
    let mut report = Json::new(Target::stream("memory", memory.clone()));
    check(stream, "-", contract, &mut report, &mut ()).unwrap();
    report.flush().unwrap();
    memory.text()
}
