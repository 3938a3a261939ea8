//! Secrets in texts that come in deltas: however a text is cut, redaction does the same.

use ndjson_check::{Checker, Observer, ProducerExit, Redactor, StreamStart};
use serde_json::{Value, json};

/// Observes for a redactor.
struct Redacting(Redactor);

impl Observer for Redacting {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), ndjson_check::Error> {
        self.0.begin(start)
    }
}

/// The events of an agent's stream around the deltas of a text.
struct Shape {
    agent: &'static str,
    before: Vec<Value>,
    delta: fn(&str) -> Value,
    /// Where a delta has its text.
    at: &'static str,
}

fn shapes() -> Vec<Shape> {
    let claude = || {
        json!({"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s", "tools": [],
            "mcp_servers": [], "model": "m", "permissionMode": "default", "apiKeySource": "none"})
    };
    let cursor = json!({"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/w",
        "session_id": "s", "model": "m", "permissionMode": "default"});
    vec![
        Shape {
            agent: "grok",
            before: Vec::new(),
            delta: |text| json!({"type": "text", "data": text}),
            at: "/data",
        },
        Shape {
            agent: "cursor",
            before: vec![cursor],
            delta: |text| {
                json!({"type": "assistant", "message": {"role": "assistant",
                    "content": [{"type": "text", "text": text}]}, "session_id": "s",
                    "timestamp_ms": 1})
            },
            at: "/message/content/0/text",
        },
        Shape {
            agent: "claude",
            before: vec![claude()],
            delta: |text| {
                json!({"type": "stream_event", "session_id": "s", "parent_tool_use_id": null,
                    "event": {"type": "content_block_delta", "index": 0,
                        "delta": {"type": "thinking_delta", "thinking": text}}})
            },
            at: "/event/delta/thinking",
        },
        Shape {
            agent: "claude",
            before: vec![claude()],
            delta: |text| {
                json!({"type": "stream_event", "session_id": "s", "parent_tool_use_id": null,
                    "event": {"type": "content_block_delta", "index": 1,
                        "delta": {"type": "input_json_delta", "partial_json": text}}})
            },
            at: "/event/delta/partial_json",
        },
        Shape {
            agent: "acp",
            before: Vec::new(),
            delta: |text| {
                json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
                    "update": {"sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": text}}}})
            },
            at: "/params/update/content/text",
        },
    ]
}

/// Texts with a secret, and the secret. Made at run time, so that this file contains none.
fn texts() -> Vec<(String, String)> {
    let value = || "NqVwYS81VP7Hb1DX8pPd".to_owned();
    let body = "H5mMDdwin86TkVYCM7l8GQlchbkER0Af7BOfjtNayviHzm5YdOnCqIz0Wiw8SE7d";
    let key = |feed: &str, mark: &str, head: &str| {
        let label = "RSA PRIVATE KEY-----";
        let lines = format!("{mark}{body}{feed}{mark}+{}{feed}", &body[1..]);
        format!("a key:{feed}-----BEGIN {label}{feed}{head}{lines}-----END {label}{feed}and on")
    };
    let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n";
    let keys = [
        key("\n", "", ""),
        key("\r\n", "", ""),
        key("\\n", "", ""),
        key("\n", "", head),
        key("\n", "+", ""),
        key("\n", "> ", ""),
        key("\n", "12: ", ""),
        key("\n", "    ", ""),
    ];
    let token = ["gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"].concat();
    let named = [
        "export DB_PASSWORD={}\nnext",
        "{\"api_key\": \"{}\"}\n",
        "password: {}\nb: 1",
        "Cookie: sid={}; b=2\n",
        "curl -u bob:{} https://x",
        "curl -H \"X-Api-Key: {}\" https://x",
        "aws_secret_access_key = {}\n",
        "--password {} --x",
        "https://h/c?sig={}&x=1",
        "machine h login b password {}\n",
        "sshpass -p {} ssh h",
        "const apiKey = \"{}\";",
        "Authorization: token {}\n",
        "postgres://admin:{}@db/x",
        "<password>{}</password>",
        "one line\nDB_PASSWORD={}",
        "password:\n    {}\nb: 1",
        "mysql -u root -p'{}' db",
        "curl -su bob:{} https://x",
        "\u{1b}[34;1m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[0;32m\"{}\"\u{1b}[0m\n",
        "\u{1b}[31mDB_PASSWORD\u{1b}[0m=\u{1b}[32m{}\u{1b}[0m\n",
    ];
    let named = named.map(|form| (form.replace("{}", &value()), value()));
    let keys = keys.map(|key| (key, body[1..].to_owned()));
    let tokens = [format!("see {token} there"), format!("{token}\n{token}")];
    let tokens = tokens.map(|text| (text, token.clone()));
    named.into_iter().chain(keys).chain(tokens).collect()
}

/// The text of redacted deltas.
fn redacted(shape: &Shape, checker: &mut Checker, pieces: &[&str]) -> String {
    let (mut out, mut redacting) = (Vec::new(), Redacting(Redactor::secrets(&[])));
    let mut stream = checker.stream("-");
    let deltas = pieces.iter().map(|piece| (shape.delta)(piece));
    for event in shape.before.iter().cloned().chain(deltas) {
        let line = format!("{event}\n");
        stream.feed(line.as_bytes(), &mut redacting).unwrap();
        redacting.0.feed(line.as_bytes(), &mut out);
    }
    let _ = stream.finish(&ProducerExit::default(), &mut ());
    redacting.0.finish(&mut out);
    let lines = String::from_utf8(out).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|it| Some(it.pointer(shape.at)?.as_str()?.to_owned())).collect()
}

/// Goal: what is found in one delta is found in many.
/// Method: every text, cut in two at every place, and into pieces of every width up to 24.
#[test]
fn a_text_is_redacted_however_it_is_cut() {
    let mut cuts = 0;
    for shape in shapes() {
        let checker = &mut Checker::builder().profile(shape.agent).build().unwrap();
        for (text, secret) in texts() {
            let whole = redacted(&shape, checker, &[&text]);
            let parts: Vec<&str> =
                secret.as_bytes().windows(12).map(|it| str::from_utf8(it).unwrap()).collect();
            assert!(parts.iter().all(|part| !whole.contains(part)), "{}: {whole}", shape.agent);
            assert!(whole.contains("[REDACTED:"), "{}: {whole}", shape.agent);
            let halves = (1..text.len()).map(|at| vec![&text[..at], &text[at..]]);
            let widths = (1..=24).map(|width| {
                let ends = (0..text.len()).step_by(width);
                ends.map(|at| &text[at..text.len().min(at + width)]).collect()
            });
            for pieces in halves.chain(widths) {
                assert_eq!(
                    redacted(&shape, checker, &pieces),
                    whole,
                    "{}: {pieces:?}",
                    shape.agent
                );
                cuts += 1;
            }
        }
    }
    assert!(cuts > 10_000, "{cuts}");
}

/// A delta of the agent with this number.
type Delta<'d> = &'d dyn Fn(u32, &str) -> Value;

/// Goal: texts that alternate are not confused.
/// Method: the pieces of the arguments of 60 calls, and of texts and thoughts of sub-agents, one
/// after the other.
#[test]
fn texts_that_alternate_are_redacted() {
    let token = ["gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"].concat();
    let arguments = |index: u32, piece: &str| {
        json!({"type": "stream_event", "session_id": "s", "event": {"type": "content_block_delta",
            "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}})
    };
    let copilot = |kind: &str, id: &str, agent: u32, piece: &str| {
        let mut event = json!({"type": kind, "data": {id: format!("m{agent}"),
            "deltaContent": piece}});
        if agent > 0 {
            event["agentId"] = format!("a{agent}").into();
        }
        event
    };
    let cline = |kind: &str, agent: u32, piece: &str| {
        let mut event = json!({"type": "agent_event", "event": {"type": "content_start",
            "contentType": kind, kind: piece, "agentId": format!("a{agent}")}});
        if agent > 0 {
            event["event"]["parentAgentId"] = "a0".into();
        }
        event
    };
    let deltas: [(&str, u32, Delta<'_>); 5] = [
        ("claude", 60, &arguments),
        ("copilot", 3, &|at, it| copilot("assistant.reasoning_delta", "reasoningId", at, it)),
        ("copilot", 3, &|at, it| copilot("assistant.message_delta", "messageId", at, it)),
        ("cline", 3, &|at, it| cline("reasoning", at, it)),
        ("cline", 3, &|at, it| cline("text", at, it)),
    ];
    for (agent, texts, delta) in deltas {
        let mut checker = Checker::builder().profile(agent).build().unwrap();
        let (mut out, mut redacting) = (Vec::new(), Redacting(Redactor::secrets(&[])));
        let mut stream = checker.stream("-");
        for at in (0..token.len()).step_by(7) {
            for index in 0..texts {
                let event = delta(index, &token[at..token.len().min(at + 7)]);
                let line = format!("{event}\n");
                stream.feed(line.as_bytes(), &mut redacting).unwrap();
                redacting.0.feed(line.as_bytes(), &mut out);
            }
        }
        redacting.0.finish(&mut out);
        let out = String::from_utf8(out).unwrap();
        let found = out.matches("[REDACTED:github-token]").count();
        assert_eq!(found, texts as usize, "{agent}: {out}");
        assert!((0..token.len() - 7).step_by(7).all(|at| !out.contains(&token[at + 4..at + 7])));
    }
}

/// Goal: a secret in JSON is found by its key, by a name next to it, or by an option before it.
#[test]
fn members_pairs_and_arguments_are_searched() {
    let secret = "NqVwYS81VP7Hb1DX8pPd";
    let redacted = |line: &str| {
        let (mut redactor, mut out) = (Redactor::secrets(&[]), Vec::new());
        redactor.feed(format!("{line}\n").as_bytes(), &mut out);
        redactor.finish(&mut out);
        String::from_utf8(out).unwrap()
    };
    for form in [
        r#"{"headers":{"Cookie":"a=b; sid=V"}}"#,
        r#"{"Set-Cookie":["sid=V; Path=/"]}"#,
        r#"{"b":{"Authorization":"token V"}}"#,
        r#"{"X-Api-Key":["V"]}"#,
        r#"{"password":["V"]}"#,
        r#"{"name":"API_KEY","value":"V"}"#,
        r#"{"env":[{"value":"V","name":"API_KEY"}]}"#,
        r#"{"env":[{"name":"DB_PASSWORD","scopes":["a","b"],"value":"V"}]}"#,
        r#"{"env":[{"value":"V","meta":{"name":"x","value":"y"},"name":"DB_PASSWORD"}]}"#,
        r#"{"headers":[{"name":"cookie","value":"sid=V"}]}"#,
        r#"{"password":"%V!mB"}"#,
        r#"{"password":"$V!mB"}"#,
        r#"{"password":"[V"}"#,
        r#"{"secret":"AKIAIOSFODNN7EXAMPLQ:V"}"#,
        r#"{"text":"{\"password\": \"kk9Q2xL\\\"V\"}"}"#,
        r#"{"text":"postgres://user:%V@host/db"}"#,
        r#"["--password","V"]"#,
        r#"{"command":["curl","-u","bob:V"]}"#,
        r#"{"command":["mysql","-pV"]}"#,
        r#"{"text":"{\"Cookie\": \"theme=dark; sid=V\"}"}"#,
        r#"{"text":"Cookie: connect.sid=s%3AV; x=1"}"#,
    ] {
        let out = redacted(&form.replace('V', secret));
        assert!(!out.contains(secret) && out.contains("[REDACTED:"), "{form}: {out}");
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{out}");
    }
    for innocent in [
        r#"{"command":["cargo","test","--test","a1b2c3"]}"#,
        r#"{"name":"title","value":"NqVwYS81VP7Hb1DX8pPd"}"#,
        r#"{"name":"API_KEY","value":"string"}"#,
        r#"{"password":"${DB_PASSWORD}"}"#,
        r#"{"password":"$DB_PASSWORD"}"#,
        r#"{"password":"<your password 1>"}"#,
        r#"{"password":"{{ vault.key1 }}"}"#,
        r#"{"text":"https://user:$PASSWORD1@host"}"#,
        r#"{"text":"the cookie jar: a=b"}"#,
    ] {
        assert_eq!(redacted(innocent).trim_end(), innocent);
    }
}

/// Goal: a long value goes as a whole, and the rest of the text stays what it is.
#[test]
fn long_values_are_replaced_as_a_whole() {
    let redacted = |text: &str| {
        let (mut redactor, mut out) = (Redactor::secrets(&[]), Vec::new());
        redactor.feed(format!("{}\n", json!({"text": text})).as_bytes(), &mut out);
        redactor.finish(&mut out);
        let line: Value = serde_json::from_slice(&out).unwrap();
        line["text"].as_str().unwrap().to_owned()
    };
    let long = "NqVwYS81VP7Hb1DX8pPd".repeat(60);
    for (before, behind) in [
        ("{\"refresh_token\": \"", "\", \"a\": 1}"),
        ("{\"refresh_token\": \"é", "é\", \"a\": 1}"),
        ("pip --index-url https://aws:", "@host/simple/"),
    ] {
        let out = redacted(&format!("{before}{long}{behind}"));
        assert!(!out.contains("NqVwYS81VP7H") && out.contains("[REDACTED:"), "{out}");
        let rest = behind.trim_start_matches('é');
        assert!(out.ends_with(rest), "{out}");
    }
}

/// Goal: what else happens between two deltas does not cut their text, and no delta is too long.
#[test]
fn a_text_goes_on_behind_results_and_long_deltas() {
    let secret = ["gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"].concat();
    let delta = |text: &str| {
        json!({"type": "stream_event", "session_id": "s", "parent_tool_use_id": null,
            "event": {"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}}})
    };
    let result = json!({"type": "user", "session_id": "s", "parent_tool_use_id": "toolu_1",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "ok"}]}});
    let long = "word\n".repeat(6_000);
    for (first, between) in [("token ", Some(&result)), (&*format!("{long}token "), None)] {
        for at in [5, 20, 35] {
            let (start, rest) = secret.split_at(at);
            let mut events = vec![delta(&format!("{first}{start}"))];
            events.extend(between.cloned());
            events.push(delta(&format!("{rest} done\n")));
            let mut checker = Checker::builder().profile("claude").build().unwrap();
            let at_text = "/event/delta/text";
            let delta = |text: &str| json!(text);
            let shape = Shape { agent: "claude", before: events, delta, at: at_text };
            let out = redacted(&shape, &mut checker, &[]);
            assert!(out.ends_with("[REDACTED:github-token] done\n"), "{at}: {out}");
        }
    }
}
