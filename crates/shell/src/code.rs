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
    "appendFile",
    "File.delete",
    "File.write",
    "copyFile",
    "file_put_contents",
    "os.remove(",
    "os.replace(",
    "rmSync(",
    "shutil.copy",
    "shutil.move",
    "shutil.rmtree",
    "write_bytes(",
    "write_text(",
    "writeFile",
    "writeTextFile",
];

pub(super) fn is_interpreter(program: &str) -> bool {
    is_python(program) || has(INTERPRETERS, program)
}

/// The interpreter that runs the code that this command reads: it has no script.
pub(super) fn reads_code(words: &[String]) -> Option<&str> {
    let start = *starts(words).last()?;
    // `python - FILE` reads it, too.
    let first = words[start + 1..].iter().find(|it| !it.starts_with('-') || *it == "-");
    let has_script = first.is_some_and(|it| it != "-");
    let program = program_name(&words[start]);
    (is_interpreter(program) && !has_script).then_some(program)
}

/// Whether code writes files. `sys.stdout.write(…)` does not.
pub(super) fn code_writes(code: &str) -> bool {
    let prints = |it: &str| {
        let it = it.strip_suffix(".buffer").unwrap_or(it);
        it.ends_with("stdout") || it.ends_with("stderr")
    };
    let opens = code.contains("open(") && (code.contains("'w'") || code.contains("\"w\""));
    let mut writes = code.match_indices(".write(").map(|(at, _)| &code[..at]);
    opens || WRITERS.iter().any(|it| code.contains(it)) || writes.any(|before| !prints(before))
}
