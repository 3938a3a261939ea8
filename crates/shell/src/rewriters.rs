//! Formatters and other programs that rewrite files only with one option, or unless an option says
//! no.

use super::wrappers::WORDS_MAX;

/// Programs that rewrite files if they have one of these options.
const WITH: &[(&str, &[&str])] = &[
    ("autopep8", &["-i", "--in-place"]),
    ("biome", &["--apply", "--apply-unsafe", "--fix", "--write"]),
    ("clang-format", &["-i"]),
    ("eslint", &["--fix"]),
    ("gofmt", &["-w"]),
    ("gofumpt", &["-w"]),
    ("goimports", &["-w"]),
    ("golangci-lint", &["--fix", "fmt"]),
    ("ktlint", &["-F", "--format"]),
    ("oxlint", &["--fix"]),
    ("prettier", &["-w", "--write"]),
    ("rubocop", &["-a", "-A", "--autocorrect", "--autocorrect-all", "-x"]),
    ("shfmt", &["-w"]),
    ("standard", &["--fix"]),
    ("standardrb", &["--fix"]),
    ("stylelint", &["--fix"]),
    ("tslint", &["--fix"]),
    ("xo", &["--fix"]),
    ("yapf", &["-i", "--in-place"]),
];

/// Programs that rewrite files without these options.
const WITHOUT: &[(&str, &[&str])] = &[
    ("black", &["--check", "--diff"]),
    ("isort", &["-c", "--check", "--check-only", "--diff"]),
    ("rustfmt", &["--check"]),
    ("swiftformat", &["--dryrun", "--lint"]),
];

/// The first words behind a program with which it rewrites files, and the options with which it
/// does not.
const SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("cargo", &["add", "fix", "fmt", "remove", "rm", "update"], &["--check", "--dry-run"]),
    ("dart", &["format"], &["--output=none"]),
    ("deno", &["fmt"], &["--check"]),
    ("dotnet", &["format"], &["--verify-no-changes"]),
    ("gleam", &["format"], &["--check"]),
    ("go", &["fix", "fmt", "generate", "get"], &["-n"]),
    ("mix", &["format"], &["--check-formatted"]),
    ("poetry", &["add", "remove"], &["--dry-run"]),
    ("ruff", &["format"], &["--check", "--diff"]),
    ("terraform", &["fmt"], &["-check", "--check"]),
    ("tofu", &["fmt"], &["-check", "--check"]),
    ("uv", &["add", "remove"], &["--dry-run"]),
    ("zig", &["fmt"], &["--check"]),
];

/// Programs that run scripts of a project by their names.
const RUNNERS: &[&str] = &["bun", "just", "make", "npm", "pnpm", "task", "yarn"];

/// Names of scripts that format files.
const SCRIPTS: &[&str] = &[
    "fix",
    "fmt",
    "format",
    "format:fix",
    "format:write",
    "lint-fix",
    "lint:fix",
    "prettier:write",
];

/// Subcommands that change which packages a project needs.
const PACKAGES: &[&str] = &["add", "i", "install", "remove", "rm", "un", "uninstall"];

pub(super) fn rewrites(program: &str, arguments: &[String]) -> bool {
    // A long line may name many programs, and each would look at all that is behind it.
    let arguments = &arguments[..arguments.len().min(WORDS_MAX)];
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    // `prettier@3`
    let program = program.split('@').next().unwrap_or(program);
    if has_any(&["--help", "--version"]) {
        return false;
    }
    // `cargo +nightly fmt`
    let first = arguments.iter().find(|it| !it.starts_with(['-', '+']));
    let first = first.map(String::as_str).unwrap_or_default();
    let is_first = |names: &[&str]| names.contains(&first);
    match program {
        "cargo" if is_first(&["clippy"]) => has_any(&["--fix"]),
        "deno" if is_first(&["lint"]) => has_any(&["--fix"]),
        "dart" if is_first(&["fix"]) => has_any(&["--apply"]),
        "ruff" if is_first(&["check"]) => has_any(&["--fix", "--fix-only"]),
        "go" if is_first(&["mod"]) => has_any(&["tidy", "edit"]),
        "npm" | "pnpm" | "yarn" | "bun" if is_first(PACKAGES) => has_name_behind(first, arguments),
        _ if RUNNERS.contains(&program) => {
            has_any(SCRIPTS) && !has_any(&["--check"])
                || has_any(&["--"]) && has_any(&["--fix", "--write"])
        }
        _ => {
            WITH.iter().any(|(name, options)| *name == program && has_any(options))
                || WITHOUT.iter().any(|(name, options)| *name == program && !has_any(options))
                || SUBCOMMANDS.iter().any(|(name, words, options)| {
                    *name == program && is_first(words) && !has_any(options)
                })
        }
    }
}

/// Whether a package is named: without one, the packages of the project are installed.
fn has_name_behind(subcommand: &str, arguments: &[String]) -> bool {
    // `npm install --prefix app`
    let has_value = |it: &str| ["-C", "-w", "--dir", "--prefix", "--workspace"].contains(&it);
    let words = arguments.iter().zip(std::iter::once("").chain(arguments.iter().map(|it| &**it)));
    let words = words.filter(|(_, before)| !has_value(before)).map(|(word, _)| word);
    let mut behind = words.skip_while(|it| *it != subcommand).skip(1);
    let is_global = arguments.iter().any(|it| it == "-g" || it == "--global");
    behind.any(|it| !it.starts_with('-')) && !is_global
}
