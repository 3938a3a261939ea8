//! What test runners print at their end.

/// What runners print when the tests passed.
pub(super) const PRINTS_PASSED: &[&str] = &[
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
    "Test summary: total: 12, failed: 0, succeeded: 11, skipped: 1, duration: 1.2s\nBuild \
     succeeded in 3.0s",
    "Test run summary: Passed! - bin/Debug/net10.0/a.dll (net10.0|x64)\n  total: 12\n  \
     failed: 0\n  succeeded: 12",
    "Chrome Headless 126.0 (Linux x86_64): Executed 12 of 12 SUCCESS (0.05 secs / 0.02 \
     secs)\nTOTAL: 12 SUCCESS",
    "00:03 +12 ~1: All other tests passed!",
    "    ✔  All specs passed!                        00:02        3        3        -        \
     -        -",
    "# tests 3\n# pass  3\n\n# ok",
    "[info] Passed: Total 5, Failed 0, Errors 0, Passed 5",
    "error: connect ECONNREFUSED 127.0.0.1:5432\n    at logs an error\n\nTests:       12 \
     passed, 12 total",
    "batch done: 10 ok, 2 failed\nErrors: 2 (expected)\n12 passed in 0.10s",
    "sh: 1: optional-tool: not found\nFound 2 errors in the draft\n✖ 3 problems\n12 passed in 1s",
    "/bin/bash: line 5:  5758 Killed                  ./server\n12 passed in 1s",
    "12 passed in 1s\nbash: line 1: 15347 Killed                  ./server",
    "12 passed in 1s\nFound 2 errors in the fixture, as expected",
    "src/a.ts(3,5): error TS2322: no\n✖ 2 problems (2 errors, 0 warnings)\n[warn] Code style \
     issues found in a.ts\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n12 passed in 1s",
    "2 errors found, as expected\n1 failed, retrying\n===== 12 passed in 0.10s =====",
    "error: failed to fetch user\nerror: could not connect\n 12 pass\n 0 fail",
    "Errors: 3 of 5 rows\nTests run: 12, Failures: 0, Errors: 0, Skipped: 0",
    "Executed 1 out of 3 tests: 3 tests pass.",
    "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 \
     filtered out\n\nrunning 2 tests\ntest result: ok. 2 passed; 0 failed",
    "    Finished `test` profile\n     Running unittests src/lib.rs\n\nrunning 2 tests\ntest \
     result: ok. 2 passed; 0 failed\n\n   Doc-tests a\n\nrunning 0 tests\n\ntest result: ok. \
     0 passed; 0 failed; 0 ignored\n",
    "Tests:       3 skipped, 3 total\nTests:       1 skipped, 11 passed, 12 total",
    "Executed 0 tests, with 0 failures\n✔ Test run with 12 tests in 2 suites passed after \
     0.001 seconds.",
    "> Task :compileTestJava\n> Task :test\n\nBUILD SUCCESSFUL in 3s\n4 actionable tasks: 4 \
     executed",
    "> Task :test UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s",
    "> Task :lib:test FROM-CACHE\n> Task :app:test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
    "> Task :test NO-SOURCE\n> Task :integrationTest\n\nBUILD SUCCESSFUL in 1s",
    "> Task :app:testDebugUnitTest\n\nATest > adds PASSED\n\nBUILD SUCCESSFUL in 9s",
    "0 errors generated.\n0 failed\n12 passed",
    "[info] Tests: succeeded 2, failed 0, canceled 0, ignored 0, pending 0\n[info] ScalaCheck\n\
     [info] Passed: Total 0, Failed 0, Errors 0, Passed 0",
    "[info] Passed: Total 0, Failed 0, Errors 0, Passed 0\n[info] Passed: Total 5, Failed 0, \
     Errors 0, Passed 5",
    "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] Tests run: 6, Failures: 0, \
     Errors: 0, Skipped: 0",
    "==> a\nAll tests have been excluded.\n\nFinished in 0.01 seconds\n3 tests, 0 failures, 3 \
     excluded\n==> b\n....\n\nFinished in 0.03 seconds\n6 tests, 0 failures, 2 excluded",
    "2 tests, 0 failures (3 excluded)",
    "3 tests, 0 failures, 2 skipped",
    "  2 skipped\n  11 passed (3.1s)",
    "  ─\n\n  11 tests passed\n  2 tests skipped",
    "All tests passed (12 asserts in 4 tests)\n1 tests skipped",
    "  Tests:    2 skipped, 11 passed (30 assertions)",
    "All 0 tests passed.\nAll 12 tests passed.",
];

/// What they print when tests failed.
pub(super) const PRINTS_FAILED: &[&str] = &[
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
    "Test Suites: 4 passed, 4 total\nTests:       12 passed, 12 total\nerror Command failed \
     with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run",
    " Test Files  3 passed (3)\n      Tests  12 passed (12)\nERROR: Coverage for lines (50%) \
     does not meet global threshold (80%)",
    "Tests:       12 passed, 12 total\nJest: \"global\" coverage threshold for lines (80%) \
     not met: 61%",
    "12 passed in 1s\nFAIL Required test coverage of 80% not reached. Total coverage: 61.00%",
    "12 examples, 0 failures\nLine coverage (61.00%) is below the expected minimum coverage \
     (80.00%).",
    "12 passed in 1s\nCoverage failure: total of 61 is less than fail-under=80",
    "# pass 1\n# fail 0\nsrc/a.ts(3,5): error TS2322: Type 'string' is not a 'number'.",
    "# pass 1\n# fail 0\nsrc/a.ts:3:5 - error TS2322: Type 'string' is not a 'number'.\n\n\
     Found 1 error in src/a.ts:3\n",
    "# pass 1\n# fail 0\n\n/w/a.js\n  3:1  error  x is not defined  no-undef\n\n✖ 1 problem (1 \
     error, 0 warnings)",
    "12 passed in 1s\nsrc/a.py:3: error: Name \"x\" is not defined\nFound 1 error in 1 file \
     (checked 5 source files)",
    "# pass 1\nsrc/a.ts:3:5 - error TS2322: no\n\n3 x\n  ~\n\n\nsrc/a.ts:4:5 - error TS2322: \
     no\n\n4 x\n  ~\n\n\nFound 2 errors in the same file, starting at: src/a.ts:3\n",
    "# pass 1\n\nFound 2 errors in 2 files.\n\nErrors  Files\n     1  src/a.ts:3\n     1  \
     src/b.ts:1\n",
    "12 passed in 1s\nF401 `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the \
     `--fix` option.\n",
    "# pass 1\n[warn] src/a.ts\n[warn] Code style issues found in the above file. Run Prettier \
     with --write to fix.",
    "# pass 1\n# fail 0\nsh: 1: no-such-linter: not found",
    "# pass 1\nbash: line 1: no-such-linter: command not found\n",
    "# pass 1\n# fail 0\n/usr/bin/bash: line 5:  5758 Killed                  npm test",
    "Test summary: total: 12, failed: 1, succeeded: 11, skipped: 0, duration: 1.2s\nBuild \
     failed with 1 error(s) in 3.0s",
    "Build failed with 2 error(s) in 3.0s",
    "Build FAILED.\n\n    1 Warning(s)\n    2 Error(s)",
    "Test run summary: Failed! - bin/Debug/net10.0/a.dll (net10.0|x64)\n  total: 12\n  \
     failed: 1\n  succeeded: 11",
    "00:01 +11 -1: adds two\n00:02 +12 -1: Some tests failed.",
    "Executed 1 out of 3 tests: 2 tests pass and 1 fails locally.",
    "Executed 12 of 12 (1 FAILED) (0.1 secs / 0.05 secs)\nTOTAL: 1 FAILED, 11 SUCCESS",
    "    ✖  1 of 3 failed (33%)                      00:05       12       11        1        \
     -        -",
    "1 out of 12 tests failed (0.01s)",
    "# tests 3\n# pass  2\n# fail  1",
    "Failed examples:\n\nrspec ./spec/cart_spec.rb:12 # Cart adds\n",
    "rspec './spec/cart_spec.rb[1:2]' # Cart adds",
    "[ERROR] \n[ERROR] For more information about the errors and possible solutions, please \
     read the following articles:\n[ERROR] [Help 1] http://cwiki.apache.org/x",
    "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4",
    "  Failed: 1.  Skipped: 0.  Passed: 11.",
    "Total tests: 12\n     Passed: 11\n     Failed: 1",
    "error: could not compile `a` (lib test) due to 1 previous error",
    "error: test failed, to rerun pass `--lib`",
    "error: expected `;`, found `}`\n --> src/lib.rs:3:5",
    "error: 1 target failed:\n    `--lib`",
    "error: script \"test\" exited with code 1",
    "error: Recipe `test` failed on line 3 with exit code 1",
    "task: Failed to run task \"test\": exit status 1",
    "ninja: build stopped: subcommand failed.",
    " Tasks:    0 successful, 1 total\n  Time:    1.2s\nFailed:    web#test\n\n ERROR  run \
     failed: command  exited (1)",
    "lerna ERR! yarn run test exited 1 in 'web'",
    "12 tests, 30 assertions, 1 failures, 0 errors",
    "5 doctests, 12 tests, 1 failure",
    "1 scenario passed, 1 failed, 0 skipped",
    "Tests: 3, Assertions: 2, Errors: 1, Failures: 1.",
    "Tests run: 3,  Failures: 1",
    "Total tests run: 3, Passes: 2, Failures: 1, Skips: 0",
    "FAILED | 1 passed | 1 failed (10ms)\n\nerror: Test failed",
    "12 passed, 1 error in 0.3s",
    "Results: 1 failed, 11 passed",
    "Tests Passed: 11, Failed: 1, Skipped: 0",
    "  Passed:  11\n  Failed:  1 (8%)",
    "Passed: 11, Errors: 1",
    "3 tests failed!\n9 passed",
    "    ✖    1/3 targets failed, including the following:",
    "# tests 3\n# pass 2\n# fail 0\n# cancelled 1",
    "1 error generated.\n12 passed",
    "3 errors generated\n 3 passed",
    "1 test failed out of 12\n11 passed",
    "2 tests failed of 12\n10 passed",
    "1 failed test\n5 passed",
    "1 error(s)\n11 passed",
    "test cases: 1 | 1 failed",
    "test cases: 3 | 2 passed | 1 failed\nassertions: 3 | 2 passed | 1 failed",
    "> Task :test\n> Task :test FAILED\n\nBUILD FAILED in 3s",
];

/// What a test logs, or what may be the end of more.
pub(super) const PRINTS_NEITHER: &[&str] = &[
    // Another project may have had tests.
    "[info] Passed: Total 0, Failed 0, Errors 0, Passed 0\n",
    "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n",
    "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in a.Test\n",
    "All 0 tests passed.\n",
    "make[1]: Nothing to be done for 'test'.\nall fine\n",
    "make: Nothing to be done for 'build'.\nall fine\n",
    "error: connect ECONNREFUSED 127.0.0.1:5432\n",
    "batch done: 10 ok, 2 failed",
    "   Doc-tests a\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 \
     measured; 0 filtered out; finished in 0.00s\n",
    "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n\n     \
     Running tests/b.rs\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 3 \
     filtered out\n",
    "✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.",
    "[INFO] BUILD SUCCESS",
    "BUILD SUCCESSFUL in 1s\n3 actionable tasks: 1 executed, 2 up-to-date",
    "> Task :compileTestJava\n> Task :testClasses\n\nBUILD SUCCESSFUL in 1s",
    "> Task :z:test NO-SOURCE\n> Task :z:build\n\nBUILD SUCCESSFUL in 1s",
    "> Task :specs\n> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
    "    Finished `test` profile [unoptimized] target(s) in 1s\n     Running unittests \
     src/lib.rs\n\nrunning 400 tests\ntest a ... ok\n\n... [380 lines truncated] ...\n\n   \
     Doc-tests a\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 \
     measured; 0 filtered out; finished in 0.00s\n",
    "    Finished `test` profile [unoptimized]\n     Running unittests src/lib.rs\n\nrunning 41 \
     tests\ntest a ... ok\n…1200 tokens truncated…\nrunning 0 tests\n\ntest result: ok. 0 \
     passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    "    Finished `test` profile\ntest result: ok. 0 passed; 0 failed; 0 ignored",
];

/// What they print when no test ran.
pub(super) const PRINTS_NOTHING: &[&str] = &[
    "No projects matched the filters in \"/home/dev/shop\"",
    "• Running test in 7 packages\n\n WARNING  No tasks were executed as part of this run.\n\n \
     Tasks:    0 successful, 0 total\nCached:    0 cached, 0 total\n",
    "\n NX   No tasks were run\n\n",
    "lerna success run No packages found with the lifecycle script 'test'",
    "lerna info run No packages found with the lifecycle script \"test\"",
    "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    "Results :\n\nTests run: 0, Failures: 0, Errors: 0, Skipped: 24\n\n",
    "Excluding tags: [:test]\n\nAll tests have been excluded.\n\nFinished in 0.02 seconds\n3 \
     tests, 0 failures, 3 excluded\n",
    "\n  3 skipped\n",
    "  - a\n  - b\n  ─\n\n  2 tests skipped\n",
    "─\n\n1 test skipped\n",
    "\n  Tests:    3 skipped (0 assertions)\n  Duration: 0.05s\n",
    "  Tests:    1 todo, 2 skipped (0 assertions)\n",
    "All 0 tests passed.\n",
    "1..0\n",
    "\n> app@1.0.0 test\n> bats test\n\n1..0\n",
    "[info] Passed: Total 0, Failed 0, Errors 0, Passed 0\n[info] No tests to run for Test / \
     testQuick\n[success] elapsed time: 1 s",
    "\n0 successes / 0 failures / 0 errors / 0 pending : 0.001 seconds\n",
    "make: Nothing to be done for 'test'.\n",
    "make: 'test' is up to date.",
    "make: Entering directory '/app'\nmake: `run-tests' is up to date.\n",
    "No tests found, exiting with code 0",
    "collected 0 items",
    "29.7.0\n",
    "added 3 packages\nNo test files found, exiting with code 0",
    "?   \tx/a\t[no test files]\nok  \tx/b\t0.1s [no tests to run]",
    "[INFO] No tests to run.\n[INFO] BUILD SUCCESS",
    "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s\n     Running \
     unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 0 tests\n\ntest result: ok. 0 \
     passed; 0 failed; 0 ignored; 0 measured; 41 filtered out; finished in 0.00s\n\n   \
     Doc-tests a\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 \
     measured; 0 filtered out; finished in 0.00s\n\n",
    "No examples found.\n\nFinished in 0.0002 seconds\n0 examples, 0 failures",
    "Finished in 0.0002 seconds\n0 examples, 0 failures",
    "Test Suites: 4 skipped, 0 of 4 total\nTests:       31 skipped, 31 total",
    "Tests:       3 skipped, 1 todo, 4 total",
    " Test Files  4 skipped (4)\n      Tests  31 skipped (31)",
    "      Tests  3 skipped | 1 todo (4)",
    "===== 5 deselected in 0.02s =====",
    "3 skipped, 1 warning in 0.01s",
    "ok | 0 passed | 0 failed | 5 filtered out (3ms)",
    "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
    "0 tests, 0 failures",
    "0 scenarios\n0 steps\n0m00.000s",
    "No test matches the given testcase filter `Name=x` in /app/bin/a.dll",
    "No test is available in /app/bin/a.dll. Make sure that test discoverer",
    "Test run summary: Zero tests ran - a.dll",
    "Ran 0 of 12 Specs in 0.001 seconds\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 12 \
     Skipped",
    "Chrome: Executed 0 of 0 SUCCESS (0.003 secs / 0 secs)",
    "# tests 3\n# suites 0\n# pass 0\n# fail 0\n# skipped 3",
    " 0 pass\n 3 skip\n 0 fail",
    "No tests were executed",
    "  0 passing (2ms)\n  3 pending",
    "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
    "Starting a Gradle Daemon (subsequent builds will be faster)\n> Task :compileJava\n> Task \
     :processResources NO-SOURCE\n> Task :classes\n> Task :jar\n> Task :assemble\n> Task \
     :compileTestJava NO-SOURCE\n> Task :testClasses UP-TO-DATE\n> Task :test NO-SOURCE\n> Task \
     :check UP-TO-DATE\n> Task :build\n\nBUILD SUCCESSFUL in 1s",
    "    Finished `test` profile [unoptimized] target(s) in 1s\n     Running unittests \
     src/lib.rs\n\nrunning 1 test\ntest a ... ignored, slow\n\ntest result: ok. 0 passed; 0 \
     failed; 1 ignored",
];
