//! Tool calls: what a tool is given, and what comes of it.

use serde_json::{Value, json};

use super::random::Random;
use super::text::{code, console, path, prose};

/// A call that has begun.
pub(crate) struct Call {
    pub(crate) tool: Tool,
    pub(crate) id: String,
    /// The request to the model that it came of.
    pub(crate) request: String,
    pub(crate) path: String,
    pub(crate) arguments: Value,
    pub(crate) started: u64,
}

#[derive(Clone, Copy)]
pub(crate) enum Tool {
    Read,
    Edit,
    Shell,
    Grep,
    Write,
}

const COMMAND: &str = "cargo test --workspace 2>&1 | tail -50";

impl Tool {
    /// As often as they are used.
    pub(crate) const ALL: [Self; 8] = [
        Self::Read,
        Self::Read,
        Self::Read,
        Self::Edit,
        Self::Shell,
        Self::Shell,
        Self::Grep,
        Self::Write,
    ];

    /// The member of an event that names the tool.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Read => "readToolCall",
            Self::Edit => "editToolCall",
            Self::Shell => "shellToolCall",
            Self::Grep => "grepToolCall",
            Self::Write => "writeToolCall",
        }
    }

    pub(crate) fn arguments(self, path: &str, bytes: usize, random: &mut Random) -> Value {
        match self {
            Self::Read => json!({ "path": path }),
            Self::Edit => json!({ "path": path, "streamContent": code(random, bytes.min(4_000)) }),
            Self::Shell => json!({
                "command": COMMAND,
                "workingDirectory": "/home/dev/app",
                "timeout": 30_000,
                "simpleCommands": ["cargo", "tail"],
                "hasInputRedirect": false,
                "hasOutputRedirect": false,
                "parsingResult": {
                    "parsingFailed": false,
                    "executableCommands": [{
                        "name": "cargo",
                        "args": [{ "type": "word", "value": "test" }],
                        "fullText": COMMAND,
                    }],
                    "hasRedirects": true,
                    "hasCommandSubstitution": false,
                },
                "isBackground": false,
                "description": prose(random, 5),
            }),
            Self::Grep => json!({
                "pattern": "fn \\w+\\(",
                "path": "/home/dev/app/src",
                "outputMode": "content",
                "caseInsensitive": false,
                "multiline": false,
            }),
            Self::Write => json!({ "path": path, "fileText": code(random, bytes) }),
        }
    }

    pub(crate) fn result(self, path: &str, bytes: usize, random: &mut Random) -> Value {
        if random.one_in(20) {
            return json!({ "error": { "errorMessage": format!("cannot use \"{path}\"") } });
        }
        let success = match self {
            Self::Read => read(path, bytes, random),
            Self::Edit => edit(path, bytes, random),
            Self::Shell => shell(bytes, random),
            Self::Grep => grep(bytes, random),
            Self::Write => json!({ "path": path, "linesCreated": bytes / 30, "fileSize": bytes }),
        };
        json!({ "success": success })
    }
}

fn read(path: &str, bytes: usize, random: &mut Random) -> Value {
    let lines = bytes / 30;
    json!({
        "content": code(random, bytes),
        "isEmpty": false,
        "exceededLimit": false,
        "totalLines": lines,
        "fileSize": bytes,
        "path": path,
        "readRange": { "startLine": 1, "endLine": lines },
        "relatedCursorRulePaths": [],
        "relatedCursorRules": [],
    })
}

fn edit(path: &str, bytes: usize, random: &mut Random) -> Value {
    json!({
        "path": path,
        "linesAdded": random.between(1, 90),
        "linesRemoved": random.between(0, 90),
        "diffString": code(random, bytes.min(8_000)),
        "afterFullFileContent": code(random, bytes),
        "message": format!("{path} was updated."),
    })
}

fn shell(bytes: usize, random: &mut Random) -> Value {
    let milliseconds = random.between(20, 9_000);
    json!({
        "command": COMMAND,
        "workingDirectory": "/home/dev/app",
        "exitCode": 0,
        "signal": "",
        "stdout": console(random, bytes),
        "stderr": "warning: unused `x`\n",
        "executionTime": milliseconds,
        "localExecutionTimeMs": milliseconds,
    })
}

fn grep(bytes: usize, random: &mut Random) -> Value {
    // A match is about 200 bytes.
    let matches: Vec<Value> = (0..(bytes / 200).min(100))
        .map(|_| {
            json!({
                "file": path(random),
                "matches": [{
                    "lineNumber": random.between(1, 2_000),
                    "content": code(random, 40),
                    "contentTruncated": false,
                    "isContextLine": false,
                }],
            })
        })
        .collect();
    let found = matches.len();
    json!({
        "pattern": "fn \\w+\\(",
        "path": "/home/dev/app/src",
        "outputMode": "content",
        "workspaceResults": {
            "/home/dev/app": {
                "content": {
                    "matches": matches,
                    "totalLines": found,
                    "totalMatchedLines": found,
                    "clientTruncated": false,
                    "ripgrepTruncated": false,
                },
            },
        },
    })
}
