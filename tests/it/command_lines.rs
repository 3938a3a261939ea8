//! Command lines as agents write them, and what is seen in them.

use serde_json::json;

use crate::demands::{command, judged_with, run_of};
use crate::presets::found;

/// Lines that push.
const PUSHES: &[&str] = &[
    "git push",
    "git -C /app push origin",
    "cd x; git --no-pager push",
    "git  push",
    "git \"push\" --force",
    "git commit -m 'a' && git push -u origin HEAD",
    "git push origin main | cat",
    "git push &",
    "bash -lc 'git push'",
    "sudo -u app git push",
    "GIT_SSH_COMMAND=ssh git push",
    "env -i git -c user.name=a push",
    "echo $(git push 2>&1)",
    "eval 'git push'",
    "bash <<EOF\ngit push\nEOF",
    "if git push; then echo yes; fi",
    "/usr/bin/git push",
    "((((((((((((((git push))))))))))))))",
    "echo 'git push' | sh",
    "echo git push | sudo bash -e",
    "printf 'cd /app\\ngit push\\n' | bash",
    "cat <<'E' | sh\ngit push\nE",
    "cat <<'E' | tee log | sh -s\ngit push\nE",
    "bash <<< 'git push'",
    "cat <<A | (cat\nls\nA\n) | sh; git push",
    "cat <<A && (echo x\nfoo\nA\n) | sh; git push",
    "sudo bash <<< 'git push'",
    "cat <<< 'git push' | sh",
    "echo -n 'git push' | sh",
    "printf '%s %s' git push | bash -s -- a",
    "echo 'git push' | bash -o pipefail",
    "echo 'git push' | tee log | sh",
    "git -C \"$(git rev-parse --show-toplevel)\" push origin HEAD",
    "git -C `pwd` push",
    "git commit -m \"a`nb\"; git push",
    "git commit -am x; if ($?) { git push origin HEAD }",
    "try { git push } catch {}",
    "$out = git push 2>&1",
    "f() { git push; }; f",
    "find . -name .git -type d -execdir git push \\;",
    "find . -name .git -exec sh -c 'cd {} && git push' \\;",
    "ssh host 'cd app && git push'",
    "su bob -c 'git push'",
    "ssh-agent bash -c \"ssh-add k; git push\"",
    "git submodule foreach git push",
    "git submodule foreach 'git push || :'",
    "eval git push",
    "xargs -a dirs -I{} sh -c \"cd {} && git push\"",
    "cat <<\\END > x\nhello\nEND\ngit push",
    "kubectl exec -it pod -c app -- git push",
    "docker compose -f a.yml -f b.yml exec -T app git push",
    "runuser -u bob -- git push",
    "function f { git push; }; f",
    "time { git push; }",
    "pwsh -Command { git push }",
    "iex \"git push\"",
    "$all | Foreach-Object { git push origin $_ }",
    "if ($x) { ls } else { git push }",
    "Try { ls } Catch { git push }",
    "Powershell -Command \"git push\"",
    "git submodule --quiet foreach x; git submodule foreach git push",
    "ls a\u{a0}b \u{202f}c \u{c} d; git push",
    "git --git-dir .git --work-tree . push",
    "git --namespace x push",
    "git rebase -x 'git push' main",
    "git bisect run git push",
    "trap 'git push' EXIT",
    "ssh -T -p 22 app@host <<'EOF'\ncd app\ngit push\nEOF",
    "mise x -- git push",
    "npx -c 'cd app && git push'",
    "npm exec -c 'cd app && git push'",
    "devbox run 'cd app && git push'",
    "nix-shell -p git --run 'git push origin main'",
    "nix develop .#ci -c git push",
    "sudo -iu bob git push",
    "gosu bob git push",
    "wsl git push",
    "wsl.exe -d Ubuntu -e bash -lc 'git push'",
    "nvm exec 22 git push",
    "nvm exec v22.1.0 git push",
    "fnm exec --using 22 git push",
    "fnm exec --using=22 -- git push",
    "volta run git push",
    "corepack git push",
    "dotenvx run -f .env -- git push",
    "infisical run -- git push",
    "aws-vault exec prod -- git push",
    "flock /tmp/lock -c 'cd app && git push'",
    "script -qc 'git push' /dev/null",
    "script -q -c 'git push origin main' log",
    "script -qfec 'git push' log",
    "script --command 'git push' log",
];

/// Lines that do not.
const NO_PUSHES: &[&str] = &[
    "git commit -m 'push it'",
    "git commit -m \"do not git push\"",
    "git commit -m 'a; git push'",
    "git stash push",
    "git --git-dir .git stash push",
    "git log --grep push",
    "push git",
    "echo \"run git push\"",
    "grep -rn 'git push' .",
    "gh pr create --fill",
    "echo 'git push' | cat",
    "echo 'git push' | sh deploy.sh",
    "echo git push; ls | sh",
    "cat <<< 'git push'",
    "bash -c cat <<< 'git push'",
    "(cat) <<< 'git push'; sh",
    "bash run.sh <<E\ngit push\nE",
    "echo 'git push' | (wc -l) | sh",
    "echo 'git push' | wc -l | sh",
    "cat <<'E' > notes\ngit push\nE\nls | sh",
    "ssh host 'grep \"git push\" notes'",
    "find . -name 'git push' -exec cat {} \\;",
    "echo `date`; echo 'git push'",
    "timeout 60 echo 'git push'",
    "python tools/commit.py -m \"x; git push now\"",
    "sudo -p \"git push\" ls",
    "caffeinate -i echo \"git push\"",
    "git\u{a0}push",
    "git commit -m foreach -m \"fix; git push\"",
    "cat <<\\END > x\ngit push\nEND\nls",
    "git rebase -i main -m 'git push'",
    "ssh host cat <<EOF\ngit push\nEOF",
    "npm run build -c 'x; git push'",
    "npx mocha -c 'x; git push'",
    "npm exec jest -- -c 'x; git push'",
    "git commit -m bisect -m 'run git push'",
    "flock /tmp/lock grep 'git push' log",
    "nvm run deploy.js 'git push'",
    "sudo -iu bob ls git push",
];

/// Goal: a push is one in every spelling; words about it are none.
#[test]
fn pushes_count_where_they_run() {
    let is_push = |line: &str| found("no-push", &run_of(&[command("c1", line, true)])).is_some();
    for line in PUSHES {
        assert!(is_push(line), "{line}");
    }
    for line in NO_PUSHES {
        assert!(!is_push(line), "{line}");
    }
}

/// Goal: a block that may not have been entered, and a program with an exit status of its own,
/// prove nothing.
#[test]
fn blocks_hide_the_exit_status() {
    let config = "expect.calls = [{ runs = 'npm test', last = 'succeeded' }]";
    for line in [
        "f() { npm test; }; echo hi",
        "if true; then { npm test; }; fi; echo done",
        "if ($false) { npm test } else { echo no }",
        "try { npm test } catch { echo failed }",
        "foreach ($i in @()) { npm test }",
        "find . -name x -exec npm test \\;",
        "systemd-run npm test",
        "watch -n 5 npm test",
        "git bisect run npm test",
        "git rebase -x 'npm test' main",
        "trap 'npm test' EXIT",
        "if (Test-Path web) { cd web; npm test }",
        "try { cd web; npm test } catch { exit 1 }",
    ] {
        let (code, report) = judged_with(config, &run_of(&[command("c1", line, true)]));
        assert_eq!(code, 0, "{report}");
        assert!(report.contains("expectation-unobservable"), "{line}: {report}");
    }
}

/// Goal: what comes after a command that had to succeed changes nothing.
#[test]
fn later_blocks_hide_no_earlier_exit_status() {
    let config = "expect.calls = [{ runs = 'npm test', last = 'succeeded' }]";
    for line in [
        "set -e\nnpm test\ncase \"$(uname)\" in\n Linux) echo l ;;\n *) echo o ;;\nesac",
        "set -e\nnpm test\nreport() {\n  echo x\n}\nreport",
        "set -e; npm test; if [ -f a ]; then { ls; }; fi",
        "npm test || { echo failed; exit 1; }",
        "npm test || (echo failed; exit 1)",
    ] {
        let (code, report) = judged_with(config, &run_of(&[command("c1", line, true)]));
        assert!(code == 0 && !report.contains("warning"), "{line}: {report}");
    }
}

/// Goal: a pattern is what its author wrote, with its own flags and comments.
#[test]
fn patterns_keep_their_flags() {
    for pattern in [
        "(?:npx )?jest",
        "(?:npm|npx) test",
        "(?-x)npm test",
        "(?x) npm\\ test # of all",
        "(?ix)NPM \\ test #",
        "(?x:npm\\ test)",
    ] {
        let config = format!(
            "expect.calls = [{{ runs = '{}', at-most = 0 }}]",
            pattern.replace("\\\\", "\\")
        );
        let line = if pattern.contains("jest") { "npx jest" } else { "npm test" };
        let (code, report) = judged_with(&config, &run_of(&[command("c1", line, true)]));
        assert_eq!(code, 1, "{pattern}: {report}");
    }
}

/// Goal: texts inside of texts are not read over and over.
/// Method: each level is read in two ways.
#[test]
fn nested_texts_are_read_in_little_time() {
    let mut line = "a;".repeat(10);
    for _ in 0..11 {
        let quoted = line.replace('\\', "\\\\").replace('"', "\\\"");
        line = format!("env -u echo \"{quoted}\" | sh");
    }
    let arguments = json!({"command": line});
    assert!(arguments.to_string().len() > 2_000);
    assert!(found("no-push", &run_of(&[command("c1", &line, true)])).is_none());
}
