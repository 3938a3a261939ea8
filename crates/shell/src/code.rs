//! Code on the command line, or between `<<E` and `E`, that writes files.

use super::program_name;
use super::wrappers::{has, is_python, starts};

const INTERPRETERS: &[&str] = &["bun", "deno", "node", "perl", "php", "ruby", "ts-node", "tsx"];

/// Parts of code that write, move or delete files.
const WRITERS: &[&str] = &[
    ".rename(",
    ".renameSync(",
    ".unlink(",
    ".unlinkSync(",
    ".writelines(",
    "File.delete",
    "File.write",
    "copyFile",
    "file_put_contents",
    "json.dump(",
    "os.remove(",
    "os.replace(",
    "rmSync(",
    "shutil.copy",
    "shutil.move",
    "shutil.rmtree",
    "write_bytes(",
    "write_text(",
    "writeFile",
];

pub(super) fn is_interpreter(program: &str) -> bool {
    is_python(program) || has(INTERPRETERS, program)
}

/// The interpreter that runs the code that this command reads: it has no script.
pub(super) fn reads_code(words: &[String]) -> Option<&str> {
    let start = *starts(words).last()?;
    let has_script = words[start + 1..].iter().any(|it| !it.starts_with('-'));
    let program = program_name(&words[start]);
    (is_interpreter(program) && !has_script).then_some(program)
}

/// Whether code writes files. `sys.stdout.write(…)` does not.
pub(super) fn code_writes(code: &str) -> bool {
    let prints = |it: &str| it.ends_with("stdout") || it.ends_with("stderr");
    let mut writes = code.match_indices(".write(").map(|(at, _)| &code[..at]);
    WRITERS.iter().any(|it| code.contains(it)) || writes.any(|before| !prints(before))
}
