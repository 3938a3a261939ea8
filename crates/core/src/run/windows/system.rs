//! What the standard library lacks: events, Job Objects, the console. All of it is safe to call.
//!
//! Each function hands the system handles that live through the call (`OwnedHandle`,
//! `BorrowedHandle`), numbers, and pointers to values on its own stack with their true sizes. The
//! system keeps no such pointer. Every handle that the system creates is checked, and then owned.
#![expect(unsafe_code, reason = "functions of the system, described above")]

use std::io;
use std::os::windows::io::{
    AsHandle, AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle,
};
use std::ptr::null;
use std::sync::OnceLock;
use std::time::Duration;

use windows_sys::Win32::Foundation::{FALSE, HANDLE, INVALID_HANDLE_VALUE, TRUE, WAIT_TIMEOUT};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, GenerateConsoleCtrlEvent, GetConsoleCP,
    GetConsoleMode, SetConsoleCtrlHandler, SetConsoleMode, WriteConsoleW,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CreateEventW, GetExitCodeProcess, INFINITE, OpenThread, ResumeThread, SetEvent,
    THREAD_SUSPEND_RESUME, WaitForMultipleObjects, WaitForSingleObject,
};
use windows_sys::core::BOOL;

/// Most handles of one wait; the system allows 64.
const WAITED_MAX: usize = 8;

fn succeeded(result: BOOL) -> io::Result<()> {
    if result == FALSE { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A new handle, unless the call that made it failed.
fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just made it for us, and nothing else owns it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Wakes one wait for it, now or later.
#[derive(Debug)]
pub(super) struct Alarm(OwnedHandle);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointer is given. A wait that it ends resets it.
        owned(unsafe { CreateEventW(null(), FALSE, FALSE, null()) }).map(Self)
    }

    pub(super) fn set(&self) {
        // SAFETY: the handle lives.
        unsafe { SetEvent(self.0.as_raw_handle()) };
    }
}

impl AsHandle for Alarm {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// Waits until one of these is set or has ended, at most for `timeout`.
pub(super) fn wait_for_any(waited: &[BorrowedHandle<'_>], timeout: Option<Duration>) {
    let mut handles = [std::ptr::null_mut(); WAITED_MAX];
    let count = waited.len().min(WAITED_MAX);
    for (handle, waited) in handles.iter_mut().zip(waited) {
        *handle = waited.as_raw_handle();
    }
    // Rounded up, so that the deadline has passed afterwards; at most a day.
    let timeout = timeout.map_or(INFINITE, |timeout| {
        let timeout = timeout.min(Duration::from_secs(86_400)) + Duration::from_millis(1);
        u32::try_from(timeout.as_millis()).unwrap_or(INFINITE)
    });
    let length = u32::try_from(count).unwrap_or(0);
    // SAFETY: the array has `count` handles, which live through the call.
    unsafe { WaitForMultipleObjects(length, handles.as_ptr(), FALSE, timeout) };
}

/// The exit code of a process; none while it runs.
pub(super) fn exit_code(process: BorrowedHandle<'_>) -> io::Result<Option<u32>> {
    let mut code = 0;
    // SAFETY: the handle lives.
    if unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } == WAIT_TIMEOUT {
        return Ok(None);
    }
    // SAFETY: the handle lives, and the pointer points to our own number.
    succeeded(unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) })?;
    Ok(Some(code))
}

/// A Job Object: what is assigned to it, and all that this starts, ends with it. No process can
/// leave it.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointer is given.
        let job = owned(unsafe { CreateJobObjectW(null(), null()) })?;
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        // It is closed when we end, whatever the reason.
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or(0);
        // SAFETY: the pointer points to a value of the class's type, and of that size.
        succeeded(unsafe {
            SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        })?;
        Ok(Self(job))
    }

    pub(super) fn assign(&self, process: BorrowedHandle<'_>) -> io::Result<()> {
        // SAFETY: both handles live.
        succeeded(unsafe {
            AssignProcessToJobObject(self.0.as_raw_handle(), process.as_raw_handle())
        })
    }

    pub(super) fn terminate(&self, code: u32) {
        // SAFETY: the handle lives.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), code) };
    }
}

/// Lets a process that was started suspended begin. The standard library keeps no handle to its
/// thread, so the thread is looked up.
pub(super) fn resume(process: u32) -> io::Result<()> {
    // SAFETY: no pointer is given.
    let threads = owned(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) })?;
    let mut entry = THREADENTRY32 {
        dwSize: u32::try_from(size_of::<THREADENTRY32>()).unwrap_or(0),
        ..THREADENTRY32::default()
    };
    // SAFETY: the pointer points to a value that contains its own size.
    let mut found = unsafe { Thread32First(threads.as_raw_handle(), &raw mut entry) };
    let mut resumed = false;
    while found != FALSE {
        if entry.th32OwnerProcessID == process {
            // SAFETY: no pointer is given.
            let thread =
                owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, FALSE, entry.th32ThreadID) })?;
            // SAFETY: the handle lives.
            if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX {
                return Err(io::Error::last_os_error());
            }
            resumed = true;
        }
        // SAFETY: as above.
        found = unsafe { Thread32Next(threads.as_raw_handle(), &raw mut entry) };
    }
    if resumed { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Sends Ctrl-Break to the process group of this process. Fails if we share no console with it.
pub(super) fn send_break(process: u32) -> io::Result<()> {
    // SAFETY: no pointer is given.
    succeeded(unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process) })
}

pub(super) fn has_console() -> bool {
    // SAFETY: no pointer is given.
    unsafe { GetConsoleCP() != 0 }
}

/// Called for each event of the console.
static HANDLER: OnceLock<fn(u32) -> bool> = OnceLock::new();

/// Calls `handler` in a thread of the system when the console or the system asks us to end. Where
/// it returns false, the event has its default effect. Only the first handler counts.
pub(super) fn on_console_event(handler: fn(u32) -> bool) -> io::Result<()> {
    if HANDLER.set(handler).is_err() {
        return Ok(());
    }
    // SAFETY: the handler is a function of this program, which is never unloaded.
    succeeded(unsafe { SetConsoleCtrlHandler(Some(handle), TRUE) })
}

unsafe extern "system" fn handle(event: u32) -> BOOL {
    BOOL::from(HANDLER.get().is_some_and(|handler| handler(event)))
}

/// The mode of a console; none if the handle is that of something else.
fn console_mode(handle: BorrowedHandle<'_>) -> Option<u32> {
    let mut mode = 0;
    // SAFETY: the handle lives, and the pointer points to our own number.
    let is_console = unsafe { GetConsoleMode(handle.as_raw_handle(), &raw mut mode) } != FALSE;
    is_console.then_some(mode)
}

/// Whether a handle is that of a console: of its keyboard or of its window.
pub(super) fn is_console(handle: BorrowedHandle<'_>) -> bool {
    console_mode(handle).is_some()
}

/// Lets a console show colours. The handle must be that of its window: to the keyboard the same bit
/// says that it shows what is typed.
pub(super) fn show_colours(handle: BorrowedHandle<'_>) {
    let Some(mode) = console_mode(handle) else { return };
    if mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 {
        // SAFETY: the handle lives.
        unsafe {
            SetConsoleMode(handle.as_raw_handle(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING)
        };
    }
}

/// Writes a text to a console; returns how many units of it were written.
pub(super) fn write_console(handle: BorrowedHandle<'_>, text: &[u16]) -> io::Result<usize> {
    let (mut written, length) = (0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    // SAFETY: the handle lives, and the text has at least `length` units.
    succeeded(unsafe {
        WriteConsoleW(handle.as_raw_handle(), text.as_ptr(), length, &raw mut written, null())
    })?;
    Ok(written as usize)
}
