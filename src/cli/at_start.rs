//! Which outputs were closed when the program started: unsafe code, as no other code runs so early.
//!
//! Rust's runtime opens `/dev/null` for a standard descriptor that is closed, before `main`. What
//! is written there is lost, and nothing distinguishes it later from a `/dev/null` that the user
//! wants. So Linux calls a function of ours before the runtime begins.
//!
//! What is unsafe is the link section: the linker believes that it contains pointers to functions
//! that the system may call before `main`. `ASK` is one. The function makes two system calls and
//! stores two flags; it needs nothing that the runtime prepares.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "a function before `main` is named in a section for the linker")
)]

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT: AtomicBool = AtomicBool::new(false);
static STDERR: AtomicBool = AtomicBool::new(false);

/// Other systems than Linux do not say.
pub(super) fn stdout_was_closed() -> bool {
    STDOUT.load(Ordering::Relaxed)
}

/// Other systems than Linux do not say.
pub(super) fn stderr_was_closed() -> bool {
    STDERR.load(Ordering::Relaxed)
}

// SAFETY: a pointer to a C function, in the section that has such pointers.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static ASK: extern "C" fn() = ask;

#[cfg(target_os = "linux")]
extern "C" fn ask() {
    use rustix::io::fcntl_getfd;
    use rustix::stdio::{stderr, stdout};

    STDOUT.store(fcntl_getfd(stdout()).is_err(), Ordering::Relaxed);
    STDERR.store(fcntl_getfd(stderr()).is_err(), Ordering::Relaxed);
}
