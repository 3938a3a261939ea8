//! What `docs/how-it-is-tested.md` counts. Each of these tests has a short form, which is the
//! ordinary one, and a long one, which the page names.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod damage;
mod model;
#[expect(dead_code, reason = "others use more of it")]
#[path = "../mutation/mod.rs"]
mod mutation;
mod page;
#[expect(dead_code, reason = "others use more of it")]
#[path = "../support/mod.rs"]
mod support;
mod torture;

/// A program that a test needs is absent. With `REQUIRE_TOOLS` set that is a failure; any other run
/// says so on the real standard error.
#[cfg(target_os = "linux")]
fn is_absent(program: &str) {
    use std::io::Write as _;
    assert!(std::env::var_os("REQUIRE_TOOLS").is_none(), "there is no {program}");
    let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: there is no {program}");
}
