//! The fast engine, read and fed in any pieces, finds what the plain parser and `jsonschema` find.
//! The first bytes choose profile, form and sizes; the others are the stream.

#![no_main]

#[path = "../../tests/differential/mod.rs"]
mod differential;

use std::cell::RefCell;
use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use ndjson_check::internals::profile_names;
use ndjson_check::{Checker, Form};

use differential::{Batch, Engines};

thread_local! {
    static ENGINES: RefCell<BTreeMap<(usize, bool), Engines>> = RefCell::default();
}

fuzz_target!(|data: &[u8]| {
    let [profile, form, read, feed, stream @ ..] = data else { return };
    let names: Vec<&str> = profile_names().collect();
    // The last choice is to detect the agent.
    let at = usize::from(*profile) % (names.len() + 1);
    let is_array = form & 0x40 != 0;
    let mut forms = Form::ALL.into_iter().filter(|form| *form != Form::Json);
    let to = forms.nth(usize::from(*form & 0x0f)).map(|to| (to, form & 0x20 != 0));
    let batch = Batch {
        streams: vec![stream.to_vec(), stream.to_vec()],
        to,
        read_bytes: usize::from(*read),
        feed_bytes: usize::from(*feed),
    };
    ENGINES.with_borrow_mut(|engines| {
        let engines = engines.entry((at, is_array)).or_insert_with(|| {
            let builder = Checker::builder();
            let builder = if is_array { builder.array(true) } else { builder };
            let builder = names.get(at).map_or(builder.clone(), |name| builder.profile(name));
            Engines::new(builder).expect("a built-in profile")
        });
        if let Err(difference) = engines.compare(&batch) {
            panic!("{difference}");
        }
    });
});
