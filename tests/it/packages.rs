//! The scripts that make the packages of a release.

#![cfg(unix)]

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::streams::{PROGRAM, files, is_absent, program, root, text};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The targets of a release.
const TARGETS: [&str; 5] = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-musl",
];

/// The target whose binary this machine would use.
pub(crate) fn target() -> &'static str {
    let system = if OS == "linux" { "linux" } else { "apple" };
    TARGETS.into_iter().find(|it| it.starts_with(ARCH) && it.contains(system)).unwrap()
}

/// Runs a program at the root of the repository; what it prints.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A program that is packed in place of ours: it prints its arguments and exits with 3.
fn packed_program(folder: &Path) -> String {
    let program = folder.join("ndjson-check").to_str().unwrap().to_owned();
    let script =
        "#!/bin/sh\necho \"ran: $*\"\n[ \"$1\" = completions ] || [ \"$1\" = man ] || exit 3\n";
    fs::write(&program, script).unwrap();
    printed("chmod", &["+x", &program]);
    program
}

#[test]
fn archives_have_the_program_and_its_checksum() {
    let folder = TempDir::new().unwrap();
    let program = packed_program(folder.path());
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    printed("packaging/archive.sh", &[VERSION, target(), &program, &out]);
    let name = format!("ndjson-check-{VERSION}-{}", target());
    let listed = printed("tar", &["-tzf", &format!("{out}/{name}.tar.gz")]);
    for file in ["ndjson-check", "ndjson-check.1", "LICENSE", "completions/_ndjson-check"] {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "{file}: {listed}");
    }
    let checksum = fs::read_to_string(format!("{out}/{name}.tar.gz.sha256")).unwrap();
    let (sum, file) = checksum.trim_end().split_once("  ").unwrap();
    assert_eq!((sum.len(), file), (64, format!("{name}.tar.gz").as_str()));
}

/// Goal: the npm package runs the binary of this platform, and exits as it does.
#[test]
fn the_npm_package_runs_the_program() {
    if Command::new("node").arg("--version").output().is_err() {
        return is_absent("node");
    }
    let folder = TempDir::new().unwrap();
    let program = packed_program(folder.path());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    printed("packaging/archive.sh", &[VERSION, target(), &program, &path("dist")]);
    printed("node", &["npm/pack.mjs", &path("dist"), VERSION, &path("node_modules")]);
    let launch = path("node_modules/ndjson-check/launch.cjs");
    let run = || Command::new("node").args([&launch, "a b", "--strict"]).output().unwrap();
    // The packages of the scope are not where npm would put them.
    let output = run();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let (system, cpu) = match target() {
        it if it.contains("linux") => ("linux", it),
        it => ("darwin", it),
    };
    let cpu = if cpu.starts_with("x86_64") { "x64" } else { "arm64" };
    let scope = path("node_modules/@ndjson-check");
    fs::create_dir(&scope).unwrap();
    let package = format!("{system}-{cpu}");
    fs::rename(path("node_modules") + "/" + &package, scope + "/" + &package).unwrap();
    let output = run();
    assert_eq!(text(&output.stdout), "ran: a b --strict\n");
    assert_eq!(output.status.code(), Some(3));
}

/// Goal: each schema and profile of a release names its address, and each profile judges as the
/// built-in one does.
#[test]
fn schemas_and_profiles_of_a_release_have_an_address() {
    if Command::new("jq").arg("--version").output().is_err() {
        return is_absent("jq");
    }
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    printed("packaging/schemas.sh", &[VERSION, PROGRAM, out]);
    assert!(folder.path().join("schemas.tar.gz").exists());
    let folder = folder.path().join("schemas");
    let base = format!("https://github.com/ndjson-check/ndjson-check/releases/download/v{VERSION}");
    let all = files(&folder, "json");
    for file in &all {
        let value: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let path = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        assert_eq!(value["$id"], format!("{base}/{path}"), "{path}");
        assert!(value["$schema"].is_string(), "{path}");
    }
    let profiles = files(&folder.join("profiles"), "json");
    assert!(profiles.len() > 30 && all.len() >= 2 * profiles.len() + 4, "{}", all.len());
    for profile in profiles {
        let name = profile.file_stem().unwrap().to_str().unwrap();
        let fixtures = root().join("fixtures/agents").join(name);
        // The normal form is what we write, so it has no recordings.
        let streams = if fixtures.is_dir() { files(&fixtures, "ndjson") } else { Vec::new() };
        let Some(stream) = streams.first() else {
            assert_eq!(name, "events");
            continue;
        };
        let report = |profile: &str| {
            let mut command = program();
            command.args(["--report", "json", "--profile", profile]).arg(stream);
            let output = command.output().unwrap();
            assert_ne!(output.status.code(), Some(2), "{profile}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        assert_eq!(report(profile.to_str().unwrap()), report(name), "{name}");
    }
}

/// Goal: what must be the same in several places is the same.
#[test]
fn packages_agree_on_targets_and_version() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    for file in [".github/workflows/release.yml", "action/entrypoint.sh", "npm/pack.mjs"] {
        let text = read(file);
        for target in TARGETS {
            assert!(text.contains(target), "{file}, {target}");
        }
    }
    let (install, ci) = (read("docs/install.md"), read("docs/ci.md"));
    assert!(install.contains(&format!("ndjson-check-{VERSION}-")));
    assert!(ci.contains(&format!("[ndjson-check=={VERSION}]")));
    assert!(ci.contains(&format!("rev: v{VERSION}\n")));
    let major = VERSION.split('.').next().unwrap();
    for page in [&read("README.md"), &install, &ci] {
        assert!(page.contains(&format!("ndjson-check/ndjson-check@v{major}")));
    }
}

/// Goal: what is not built here every day is built all the same: the package, and the library
/// without the command line.
#[test]
fn the_package_and_the_library_can_be_built() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("default-members = [\".\", \"crates/*\"]"));
    let included = |manifest: &str| {
        manifest.lines().find(|line| line.starts_with("include = ")).unwrap().to_owned()
    };
    for path in ["/build.rs", "/src", "/fixtures/agents", "/lab/recordings"] {
        assert!(included(&manifest).contains(&format!("\"{path}\"")), "{path}");
    }
    assert!(included(&read("crates/core/Cargo.toml")).contains("\"/build.rs\", \"/src\""));
    for check in ["-p ndjson-check", "-p ndjson-check-core"] {
        let check = format!("cargo check --locked --no-default-features {check}\n");
        assert!(read(".ci/run").contains(&check), "{check}");
    }
}
