//! The presets `tested` and `no-push`: what runs the tests, and what the exit status shows of them.

use ndjson_check::Rule;
use ndjson_check_config::Config;
use serde_json::{Value, json};

use crate::demands::{call, command, judged_with, run_of, write};
use crate::support::{builder, check};

/// A command that prints this.
fn printing(id: &str, arguments: &Value, works: bool, output: &str) -> String {
    let result = json!({"command": arguments["command"], "workingDirectory": "",
        "exitCode": i32::from(!works), "signal": "", "stdout": output, "stderr": "",
        "executionTime": 1, "interleavedOutput": output});
    let key = if works { "success" } else { "failure" };
    call(id, "shellToolCall", arguments, &json!({key: result}))
}

/// What a preset says of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Met,
    /// The tests ran, and failed.
    Broken,
    /// They may have passed.
    Hidden,
    /// They did not run.
    NotRun,
}
use Says::{Broken, Hidden, Met, NotRun};

pub(crate) fn found(preset: &str, stream: &str) -> Option<(Rule, String)> {
    let config = format!("expect.presets = [\"{preset}\"]");
    let config = Config::parse("x.toml", config).unwrap();
    let flags = ["--profile", "cursor", "--allow", "schema-violation"];
    let mut checker = config.apply_to(builder(flags)).profile("cursor").build().unwrap();
    let (_, found) = check(&mut checker, stream.as_bytes());
    let found = found.into_iter().find(|it| it.rule.name().starts_with("expectation-"))?;
    Some((found.rule, found.message + &found.note.unwrap_or_default()))
}

fn tested(call: String) -> (Says, String) {
    let stream = run_of(&[write("c0", "/app/a.js"), call]);
    match found("tested", &stream) {
        None => (Met, String::new()),
        Some((Rule::ExpectationUnobservable, message)) => (Hidden, message),
        Some((_, message)) if message.contains("but there was none") => (NotRun, message),
        Some((_, message)) => (Broken, message),
    }
}

/// Commands that run the tests, and whose exit status is that of the tests.
const RUNS: &[&str] = &[
    "npm test",
    "npm t",
    "cd web && npm run test:unit",
    "cd web; npm run test",
    "npm --prefix app test",
    "npm -w packages/a test -- --watch=false",
    "npm run -s test",
    "yarn workspace a test",
    "pnpm --filter web test",
    "pnpm -r test",
    "bun test",
    "cargo test --all",
    "cargo t",
    "cargo +nightly test",
    "cargo --manifest-path a/Cargo.toml test",
    "cargo nextest run",
    "source .venv/bin/activate && pytest -q",
    "pytest -q 2>&1",
    "uv run pytest",
    "uv run --with x pytest -x",
    "python -m pytest tests",
    "python3 -W ignore -m unittest discover",
    "coverage run -m pytest",
    "poetry run pytest tests/test_a.py::test_b",
    "python manage.py test app",
    "python3 tests/test_app.py",
    "go test ./...",
    "go -C app test ./...",
    ".venv/bin/pytest",
    "./node_modules/.bin/jest --ci",
    "\"./node_modules/.bin/jest\"",
    "bash -lc 'pytest -q'",
    "/bin/bash -lc \"cd app && cargo test\"",
    "/bin/zsh -lc 'npm test'",
    "bash -lc npm test",
    "sh -c \"sh -c 'make test'\"",
    "npx vitest run",
    "npx --yes jest",
    "CI=1 jest",
    "CI=1 FORCE_COLOR=0 npm test -- --run",
    "env -u X CI=true npx playwright test",
    "time npm test",
    "timeout 60 cargo test",
    "timeout -k 5 2m npm test",
    "sudo -u app npm test",
    "docker compose exec -T web npm test",
    "docker run --rm -v $PWD:/app -w /app node:22 npm test",
    "docker exec app bash -lc 'bundle exec rspec'",
    "make check",
    "make -C app test",
    "make -j4 test-unit",
    "./gradlew clean test",
    "./gradlew :app:testDebugUnitTest --info",
    "mvn -q -pl core verify",
    "bundle exec rspec",
    "bin/rails test test/models",
    "dotnet test",
    "node --test",
    "node --import tsx --test test/*.ts",
    "php artisan test",
    "vendor/bin/phpunit --filter A",
    "composer test",
    "mix test",
    "swift test",
    "npx nx test app",
    "./scripts/test",
    "bash run_tests.sh",
    "(cd app && npm test)",
    "{ npm test; }",
    "npm test > out.txt 2>&1",
    "set -o pipefail; npm test | tee out.txt",
    "set -euo pipefail\ncd app\nnpm test 2>&1 | tail -20",
    "bash -o pipefail -c 'npm test | tail'",
    "npm test || exit 1",
    "npm test # all of them",
    "npm ci && \\\n  npm test",
    "npm test && git commit -m 'fix: a'",
    "set -e; npm test; npm run lint",
    "yarn jest",
    "pnpm --filter web vitest run",
    "npx vitest@latest run",
    "uvx pytest@8 -n 4",
    "yarn workspaces foreach -A run test",
    "npm run --workspace web test",
    "cmake --build build --target test",
    "node --experimental-vm-modules node_modules/jest/bin/jest.js",
    "make --directory=app test-client",
    "dotnet test --no-restore --collect:\"Code Coverage\"",
    "cargo test --no-fail-fast -- --nocapture",
    "go test -count=1 -cover ./...",
];

/// Commands that run no tests.
const RUNS_NONE: &[&str] = &[
    "grep -rn \"npm test\" .",
    "grep -rn 'pytest' src | head",
    "sudo grep pytest /etc/x",
    "echo npm test",
    "echo \"npm test\" >> README.md",
    "git commit -m \"fix: npm test passes\"",
    "git commit -m \"fix: a; npm test\"",
    "git commit -m \"$(cat <<'EOF'\nfix: don't crash\n\nnpm test\npytest passes `now`\nEOF\n)\"",
    "cat > run.md <<'EOF'\nnpm test\nEOF",
    "gh pr create --title x --body \"## Tests\n\n- npm test\n- cargo test\"",
    "pip install pytest",
    "cat tox.ini",
    "grep -rn 'test' src",
    "npm install jest",
    "npm install",
    "npm run build",
    "cargo build # cargo test",
    "ls tests",
    "test -f a.js && echo yes",
    "[ -d tests ]",
    "rm jest.config.js",
    "which pytest",
    "sed -i 's/npm test/npm t/' a.json",
    "python3 -c \"print('pytest')\"",
    "mkdir test",
    "make build",
    "npm run test-server",
    "pnpm -w add -D vitest",
    "make check-format",
    "make test-data",
    "just test-deps",
    "make -n test",
    "gradle test --dry-run",
    "npm test --help",
    "pytest --co -q",
    "cargo test -- --list",
    "jest --listTests",
    "go test -c ./x",
    "ctest -N",
];

/// The exit status of these says nothing of the tests.
const HIDES_STATUS: &[&str] = &[
    "npm test | tail",
    "npm test 2>&1 | tail -20",
    "cd app && npm test 2>&1 | tee out.txt | tail -5",
    "bash -lc \"npm test 2>&1 | tail -20\"",
    "npm test; echo done",
    "npm test\necho $?",
    "npm test > out.txt 2>&1; tail -5 out.txt",
    "npm test || true",
    "npm test || echo failed",
    "npm test && echo PASS || echo FAIL",
    "npm test &",
    "(npm test &)",
    "nohup npm test > out.txt 2>&1 & sleep 5",
    "out=$(npm test 2>&1); echo \"$out\"",
    "echo \"$(npm test)\"",
    "if npm test; then echo yes; fi",
    "for i in 1 2 3; do npm test; done",
    "! npm test",
    "npm test |& cat",
    "{ npm test; } | tail -3",
    "(npm test) | tail -3",
];

/// Goal: a run of the tests is one in every spelling, and nothing else is.
#[test]
fn tests_count_where_they_run() {
    for line in RUNS {
        let (says, message) = tested(command("c1", line, true));
        assert_eq!(says, Met, "{line}: {message}");
        let (says, message) = tested(command("c1", line, false));
        assert_eq!(says, Broken, "{line}: {message}");
    }
    for line in RUNS_NONE {
        let (says, message) = tested(command("c1", line, true));
        assert_eq!(says, NotRun, "{line}: {message}");
    }
}

/// Goal: neither a false "passed" nor a false "failed": if the status is that of another command,
/// the output decides, and without it nothing is known.
#[test]
fn a_hidden_status_is_not_a_success() {
    for line in HIDES_STATUS {
        let arguments = json!({"command": line});
        for works in [true, false] {
            for (output, expected) in [
                ("", Hidden),
                ("> jest\n\nTests:       12 passed, 12 total\n", Met),
                ("Tests:       1 failed, 11 passed, 12 total\n", Broken),
                ("  11 passing (20ms)\n  1 failing\n", Broken),
                ("some other text\n", Hidden),
            ] {
                let (says, message) = tested(printing("c1", &arguments, works, output));
                assert_eq!(says, expected, "{line}: {output}: {message}");
            }
        }
    }
    let background = json!({"command": "npm test", "run_in_background": true});
    let (says, message) = tested(printing("c1", &background, true, "Running in background: b1"));
    assert_eq!(says, Hidden, "{message}");
    assert!(message.contains("the exit status in line 4 is not that of the test run"), "{message}");
    // Cursor moves a slow command to the background by itself.
    let arguments = json!({"command": "npm test"});
    let result = json!({"success": {"command": "npm test", "workingDirectory": "", "exitCode": 0,
        "signal": "", "stdout": "", "stderr": "", "executionTime": 1, "interleavedOutput": ""},
        "isBackground": true});
    let (says, message) = tested(call("c1", "shellToolCall", &arguments, &result));
    assert_eq!(says, Hidden, "{message}");
    // A filter may have left out the line that says so.
    for line in ["npm test | grep passing", "npm test > o; head -5 o", "npm test; echo '3 passed'"]
    {
        let arguments = json!({"command": line});
        let (says, message) = tested(printing("c1", &arguments, true, "  11 passing (20ms)\n"));
        assert_eq!(says, Hidden, "{line}: {message}");
    }
    // A later command of the line failed.
    let arguments = json!({"command": "npm test && git push"});
    let (says, message) = tested(printing("c1", &arguments, false, "12 passed\nrejected\n"));
    assert_eq!(says, Met, "{message}");
}

/// Goal: the output of each test runner is understood.
#[test]
fn runners_say_how_they_ended() {
    let says = |output: &str| {
        tested(printing("c1", &json!({"command": "npm test | cat"}), true, output)).0
    };
    for output in [
        "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; finished in 0.01s",
        "test test_failed_login ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored",
        "     Summary [   0.5s] 12 tests run: 12 passed, 0 skipped",
        " Test Files  2 passed (2)\n      Tests  12 passed (12)",
        "===== 12 passed, 1 skipped in 0.12s =====",
        "  12 passing (30ms)",
        "ok  \texample.com/a\t0.012s\nok  \texample.com/b\t(cached)",
        "..\n----\nRan 2 tests in 0.001s\n\nOK",
        "OK (12 tests, 30 assertions)",
        "12 examples, 0 failures",
        "8 runs, 20 assertions, 0 failures, 0 errors, 0 skips",
        "# tests 3\n# pass 3\n# fail 0",
        "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12",
        "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
        "100% tests passed, 0 tests failed out of 12",
        " 12 pass\n 0 fail",
        "ok | 12 passed | 0 failed (30ms)",
        "ok  \tx/a\t0.1s [no tests to run]\n?   \tx/b\t[no test files]\nok  \tx/c\t0.2s",
        "[INFO] No tests to run.\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "No tests found, exiting with code 0\n\nTests:       5 passed, 5 total",
        "** TEST SUCCEEDED **",
    ] {
        assert_eq!(says(output), Met, "{output}");
    }
    for output in [
        "test result: FAILED. 4 passed; 1 failed; 0 ignored\nerror: test failed, to rerun",
        "     Summary [   0.5s] 12 tests run: 11 passed, 1 failed, 0 skipped",
        " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 11 passed (12)",
        "===== 1 failed, 11 passed in 0.12s =====",
        "2 errors in 0.12s",
        "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.012s",
        "Ran 2 tests in 0.001s\n\nFAILED (failures=1)",
        "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.",
        "12 examples, 1 failure",
        "8 runs, 20 assertions, 2 failures, 0 errors, 0 skips",
        "# tests 3\n# pass 2\n# fail 1",
        "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12",
        "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
        "92% tests passed, 1 tests failed out of 12",
        " 11 pass\n 1 fail",
        "npm error Lifecycle script `test` failed with error:",
        "make: *** [Makefile:3: test] Error 1",
        "error[E0308]: mismatched types",
        "packages/web test:   2 passing (4ms)\npackages/web test:   1 failing",
        "app-1  | ===== 1 failed, 4 passed in 0.10s =====",
        "Executed 3 tests, with 0 failures\nExecuted 5 tests, with 1 failure (0 unexpected)",
        "2 scenarios (1 failed, 1 passed)\n2 steps (1 failed, 1 passed)",
        "4 passed in 1s\n  py312: FAIL code 1 (2.00 seconds)\n  evaluation failed :(",
        "      Tests  5 passed (5)\n     Errors  1 error",
    ] {
        assert_eq!(says(output), Broken, "{output}");
    }
}

/// Goal: whatever the status is, tests that did not run have not passed.
#[test]
fn a_run_without_tests_proves_nothing() {
    for output in [
        "No tests found, exiting with code 0",
        "collected 0 items",
        "29.7.0\n",
        "added 3 packages\nNo test files found, exiting with code 0",
        "?   \tx/a\t[no test files]\nok  \tx/b\t0.1s [no tests to run]",
        "[INFO] No tests to run.\n[INFO] BUILD SUCCESS",
    ] {
        let (says, message) = tested(printing("c1", &json!({"command": "npm test"}), true, output));
        assert_eq!(says, Broken, "{output}");
        assert!(message.contains("printed that it did nothing"), "{message}");
    }
}

/// Goal: a message says what happened, in words, without a pattern.
#[test]
fn messages_say_what_happened() {
    let of = |calls: &[String]| found("tested", &run_of(calls)).unwrap().1;
    let (edit, late) = (write("c0", "/app/a.js"), write("c2", "/app/b.js"));
    let test = |works| command("c1", "npm test", works);
    let place = " (x.toml:1:19)";
    let cases = [
        (
            vec![edit.clone()],
            "the last test run must succeed after the last write call, but there \
             was none",
        ),
        (vec![edit.clone(), test(false)], "the last test run (line 4) failed"),
        (
            vec![test(true), late],
            "the last test run (line 2) came before the last write call \
             (line 4)",
        ),
    ];
    for (calls, message) in cases {
        assert_eq!(of(&calls), format!("{message}{place}"));
    }
    let (rule, message) = found("no-push", &run_of(&[command("c1", "git push", true)])).unwrap();
    assert_eq!(rule, Rule::ExpectationFailed);
    assert!(message.starts_with("no `git push` is allowed, but there was 1 (x.toml"), "{message}");
}

/// Goal: a result that is empty is a result.
#[test]
fn an_empty_result_is_shown() {
    let content = json!([{"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": "npm test"}}]);
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let said = json!({"type": "assistant", "message": {"id": "m1", "type": "message",
        "role": "assistant", "model": "m", "content": content, "stop_reason": null,
        "usage": usage}, "parent_tool_use_id": null, "session_id": "s1", "uuid": "u2"});
    let result = |content: &Value| {
        let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": content,
            "is_error": false});
        let event = json!({"type": "user", "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": null, "session_id": "s1", "uuid": "u3"});
        let stream = crate::starts::run("s1", &json!({}));
        let (start, rest) = stream.split_once('\n').unwrap();
        format!("{start}\n{said}\n{event}\n{rest}")
    };
    for content in [json!(""), json!("12 passed"), json!([{"type": "text", "text": ""}])] {
        let (code, report) = judged_with("expect.presets = [\"tested\"]", &result(&content));
        assert_eq!((code, report.contains("expectation-")), (0, false), "{report}");
    }
}
