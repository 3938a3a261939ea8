//! The program.

fn main() -> std::process::ExitCode {
    ndjson_check::cli::main()
}
