//! What is found in one text, and what may go on in the next.

use super::*;
use crate::samples::{Sample, secrets};

fn redacted(finder: &SecretFinder, text: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for found in finder.search(text.as_bytes(), 0).found {
        out.push_str(&text[from..found.range.start]);
        out.push_str(finder.replacement(&found));
        from = found.range.end;
    }
    out + &text[from..]
}

/// Whether a part of a secret is left that says much of it.
fn survives(secret: &str, out: &str) -> bool {
    let secret = secret.trim_end_matches('@').as_bytes();
    secret
        .windows(12.min(secret.len()))
        .any(|it| memchr::memmem::find(out.as_bytes(), it).is_some())
}

#[test]
fn secrets_are_found_in_all_surroundings() {
    let finder = SecretFinder::new(&[]);
    let surroundings = [
        "",
        " ",
        "\"",
        "'",
        "(",
        "export X=",
        "a\n",
        "\u{1b}[01;31m\u{1b}[K",
        r"\033[0m",
        r"\x1b[1m",
        r"\x22",
        r"\0",
        r"\n",
        r"\u0022",
        "%20",
        "run -p",
        "[",
        "x: ",
        "a|",
        "<b>",
    ];
    secrets(200, |dice, Sample { format: name, before, secret, .. }| {
        let head = surroundings[dice.next(surroundings.len())];
        let tail = ["", " ", "\"", "\n", ")", "</b>", "\\n", "\u{1b}[m"][dice.next(8)];
        let text = format!("{head}{before}{secret}{tail}");
        let out = redacted(&finder, &text);
        assert!(!survives(secret, &out), "{name}: {text:?} {out:?}");
        assert!(out.contains(&format!("[REDACTED:{name}]")), "{name}: {text:?} {out:?}");
        assert_eq!(redacted(&finder, &out), out, "{name}");
    });
}

/// Goal: wherever a text is cut inside a secret, the search says that it may go on, from the start
/// of the secret or before.
#[test]
fn a_cut_secret_may_go_on() {
    let finder = SecretFinder::new(&[]);
    secrets(6, |_, Sample { format: name, before, secret, mark_at, .. }| {
        let text = format!("Use {before}{secret}");
        let start = 4 + before.len();
        // What is in front of the fixed part says nothing.
        for at in start + mark_at + 1..text.len() {
            let search = finder.search(&text.as_bytes()[..at], 0);
            let from = search.tail.as_ref().map(|it| it.start);
            let from =
                from.or(search.found.last().filter(|it| it.may_go_on).map(|it| it.range.start));
            let is_open = from.is_some_and(|it| it <= start);
            let is_whole = search.found.last().is_some_and(|it| it.range.start <= start);
            assert!(is_open || is_whole, "{name}: {:?} {search:?}", &text[..at]);
        }
    });
}

#[test]
fn the_start_of_a_secret_is_known_where_the_text_is_cut() {
    let finder = SecretFinder::with_forms(&[("KEY".to_owned(), vec![b"my own value".to_vec()])]);
    for (text, cut) in [
        ("uses s", None),
        ("sk-", None),
        ("Use sk-ab3d", Some(4..11)),
        ("Use ghp_Ab3dE6", Some(4..14)),
        ("-----BEGIN RSA PRIVATE K", None),
        ("-----BEGIN RSA PRIVATE KEY", Some(0..26)),
        ("postgres://user:s3cr", Some(16..20)),
        ("https://host:8080", None),
        ("It is my own", Some(6..12)),
        ("It is my ow", None),
        ("DB_PASSWORD=s3c", None),
        ("DB_PASSWORD=\"s3cr", Some(13..17)),
        ("DB_PASSW", None),
        ("password: ", None),
    ] {
        let search = finder.search(text.as_bytes(), 0);
        let tail = search.tail.unwrap_or_else(|| panic!("{text}: {:?}", search.found));
        assert_eq!(tail.cut.map(|it| it.range), cut, "{text}");
        assert!(search.found.is_empty(), "{text}");
    }
    for text in ["the end.", "a file of lines", "PASSWORD=$OTHER_ONE ", "sk-learn is it"] {
        assert_eq!(finder.search(text.as_bytes(), 0), Search::default(), "{text}");
    }
}

/// Texts with their secrets in brackets.
const NAMED_SECRETS: &[&str] = &[
    "PASSWORD=[hunter2]",
    "DB_PASS: [hunter2x9]",
    "export DB_PASS=[Xy7&kk(P0!] ",
    r#"{"api_key": "[a8f3Kd92Lq0Zx71]"}"#,
    r#"{\"api_key\": \"[a8f3Kd92Lq0Zx71]\"}"#,
    r#"{\\\"api_key\\\":\\\"[a8f3Kd92Lq0Zx71]\\\"}"#,
    "const password = '[S3cr3t!pw]';",
    "os.environ[\"API_TOKEN\"] = \"[a8f3Kd92Lq0Zx71]\"",
    "tool --password [S3cretpw] x",
    "tool --password=[hunter2] x",
    "tool --api-key=[a8f3Kd92Lq0Zx71]",
    "Authorization: Token [9f8a7b6c5d]",
    "Authorization: [9f8a7b6c5d4e3f]",
    "curl -H Authorization:[RoACM4wvF9ABq7LmZ2xT] https://x",
    "authorization=[RoACM4wvF9ABq7LmZ2xT] method=GET",
    "Authorization: [RoACM4wvF9ABq7LmZ2xT] ok",
    "Authorization: AWS4-HMAC-SHA256 [9f8a7b6c5d]",
    "Authorization: AWS4-ECDSA-P256-SHA256 [9f8a7b6c5d]",
    "Authorization: SCRAM-SHA-256 [9f8a7b6c5d]",
    "Authorization: SharedKeyLite [9f8a7b6c5d]",
    "Authorization: GoogleLogin [9f8a7b6c5d]",
    "Authorization: PrivateToken [9f8a7b6c5d]",
    "Proxy-Authorization: Custom [9f8a7b6c5d4e3f]",
    "x-api-key: [9f8a7b6c5d4e3f2a]",
    "Cookie: theme=dark; sess=[Zk39fjQ0xLmP82vB]; a=b",
    "set-cookie: sid=[Zk39fjQ0xLmP82vB]; Path=/",
    "https://h/?access_token=[Zk39fjQ0xLmP82vB]&sig=[Yk39fjQ0xLmP82vB]&x=1",
    r#"{"auths":{"x":{"auth": "[dXNlcjpwYXNzd29yZA==]"}}}"#,
    "//registry.npmjs.org/:_authToken=[0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0]",
    "machine x login y password [hunter]",
    "    client-key-data: [Zk39fjQ0xLmP82vBZk39fjQ0xLmP82vB]",
    "AccountName=x;AccountKey=[Zk39fjQ0xLmP82vBZk39fjQ0xLmP82vB==];EndpointSuffix=core",
    "aws_secret_access_key = [wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz0011zkey]",
    "mysql -u root -p[S3cret] db",
    "docker login -u bob -p [S3cret]",
    "curl -u user:[s3cr3t] https://x",
    "curl --user 'user:[s3cr3t]' https://x",
    "sshpass -p '[pa55]' ssh x",
    "https://[Zk39fjQ0xLmP82vBxy]@host",
    "postgres://u:[pa55@w0rdXYZ]@host/db@1",
    "postgres://u:[pa55/w0rdXYZ]@host",
    r"https:\/\/user:[s3cr3tpw]@host",
    "ftp://\u{fc}:[s3cr'3tpw]@host",
    "https://bob@corp.com:[s3cretpw]@host",
    r#"{"name": "DB_PASSWORD", "value": "[s3cr3tpwx]"}"#,
    r#"{\"name\":\"DB_PASSWORD\",\n  \"value\": \"[s3cr3tpwx]\"}"#,
    r#"{\\\"name\\\":\\\"DB_PASSWORD\\\",\\\"value\\\":\\\"[s3cr3tpwx]\\\"}"#,
    r#"{\\\"name\\\": \\\"DB_PASSWORD\\\",\\n  \\\"value\\\": \\\"[s3cr3tpwx]\\\"}"#,
    "<password>[s3cr3tpwx]</password>",
    "password: |\n    [Zk39fjQ0xLmP82vB]\n",
    "token: >-\r\n  [Zk39fjQ0xLmP82vB]",
    "{ password:\n    '[s3cr3tpwx]' }",
    "| DB_PASSWORD | [Zk39fjQ0xLmP82vB] |",
    "|  SecretAccessKey  |  [wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz0011zkey]  |",
    "- **API token:** `[Zk39fjQ0xLmP82vB]`",
    "**Token**: [Zk39fjQ0xLmP82vB]",
    "{b'password': b'[s3cr3tpwx]'}",
    "(('DB_PASSWORD', '[Zk39fjQ0xLmP82vB]'), 1)",
    "heroku_id = [0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0]",
    "Basic [dXNlcjpwYXNzd29yZA==]",
];

#[test]
fn a_value_behind_the_name_of_a_secret_is_found() {
    let finder = SecretFinder::new(&[]);
    for text in NAMED_SECRETS {
        // The borders of the secrets, in the text without them.
        let (mut plain, mut expected) = (String::new(), Vec::new());
        let mut start = None;
        let is_mark = |at: usize, byte: u8| match byte {
            b'[' => !text[..at].ends_with("environ"),
            b']' => !text[..at].ends_with("TOKEN\""),
            _ => false,
        };
        for (at, character) in text.char_indices() {
            match character {
                '[' if is_mark(at, b'[') => start = Some(plain.len()),
                ']' if is_mark(at, b']') => {
                    expected.push(start.take().expect("it began")..plain.len());
                }
                _ => plain.push(character),
            }
        }
        let found = finder.search(plain.as_bytes(), 0).found;
        let ranges: Vec<_> = found.iter().map(|it| it.range.clone()).collect();
        assert_eq!(ranges, expected, "{plain}");
        let out = redacted(&finder, &plain);
        assert_eq!(redacted(&finder, &out), out, "{plain}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let finder = SecretFinder::new(&[]);
    for text in [
        "token = getToken()",
        "password: string",
        "password: str = Field(min_length=8)",
        "apiKey: process.env.API_KEY",
        "max_lines=4096",
        r#""token_type":"bearer""#,
        "PASSWORD=$PASSWORD",
        "PASSWORD=${PASSWORD:-none}",
        "password: ********",
        "<your token>",
        "api_key: \"<your key>\"",
        "api_key = \"your-api-key-123\"",
        "secret: ${{ secrets.X }}",
        "token: [REDACTED:x]",
        "sk-learn-contrib-models-for-Alpha",
        "Basic AuthenticationProvider",
        "bearer AuthenticationMiddleware",
        "Basic usage1234567",
        "mongodb://localhost:27017,other:27018/x@y",
        "https://example.com:8080/a@b",
        "https://user:$PASSWORD@host and https://user:<password>@host",
        "if password == other_password2 {",
        "\"AWS::IAM::AccessKey\": \"72c2d9dd90025459\"",
        "task_test_helpers_and_more_of_it",
        "flask_test_client_for_the_others",
        "checksum = \"72c2d9dd9002545972c2d9dd9002545972c2d9dd9002545972c2d9dd90025459\"",
        "nextPageToken: \"Zk39fjQ0xLmP82vB\"",
        "-----BEGIN CERTIFICATE-----\nMII",
        "AUTH_METHOD=oauth2",
        r#"["password","address1","token","oauth2Token1"]"#,
        "| password | string | token | sha256sum |",
        "echo $PASSWORD | sha256sum",
        "password: |\n  the words of a text",
    ] {
        assert_eq!(finder.search(text.as_bytes(), 0).found, [], "{text}");
    }
    let found = |value: &str| finder.member_value(value.as_bytes()).is_some();
    assert!(found("s3cr3tpwx") && found("a8f3Kd92Lq0Zx71") && found("hunter22"));
    assert!(!found("string") && !found("$PASSWORD") && !found("db-credentials-2") && !found(""));
}

#[test]
fn a_secret_in_front_of_another_is_found() {
    let finder = SecretFinder::with_forms(&[("KEY".to_owned(), vec![b"my-own-value".to_vec()])]);
    for (text, out) in [
        ("curl -u my-own-value:s3cr3t x", "curl -u [REDACTED:KEY]:[REDACTED:named-secret] x"),
        ("https://my-own-value:s3cr3t@x", "https://[REDACTED:KEY]:[REDACTED:url-password]@x"),
        ("PASSWORD=my-own-value", "PASSWORD=[REDACTED:KEY]"),
    ] {
        assert_eq!(redacted(&finder, text), out);
        assert_eq!(redacted(&finder, out), out);
    }
}

#[test]
fn private_keys_are_found_with_something_in_front_of_their_lines() {
    let finder = SecretFinder::new(&[]);
    let lines = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "",
        "MIIEpAIBAAKCAQEAx1Yq8kJ3vN2mZ5tR7wQ9",
        "k3jH6gF8dS0aP1oI2uY3tR4eW5qZ6xC7vB8n",
        "Q0w=",
        "-----END RSA PRIVATE KEY-----",
        "done, as it seems",
    ];
    let numbered = |margin: fn(usize) -> String, count: usize| -> String {
        let line = |(at, line): (usize, &&str)| format!("{}{line}", margin(at));
        lines[..count].iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let margins: [fn(usize) -> String; 5] = [
        |_| String::new(),
        |at| format!("{:>6}\u{2192}", at + 9),
        |_| "app  | ".to_owned(),
        |_| "> ".to_owned(),
        |_| "+".to_owned(),
    ];
    for margin in margins {
        for count in [8, 7, 6, 5, 4] {
            for text in [numbered(margin, count), numbered(margin, count).replace('\n', "\\n")] {
                let out = redacted(&finder, &text);
                let has_key = ["MIIE", "k3jH", "Q0w=", "END"].iter().any(|it| out.contains(it));
                assert!(!has_key, "{text:?}: {out:?}");
                assert_eq!(out.contains("done"), count == 8, "{text:?}: {out:?}");
            }
        }
        let without_end: Vec<_> = lines.iter().filter(|it| !it.contains("END")).collect();
        let text: Vec<_> = without_end.iter().enumerate().map(|(at, it)| margin(at) + it).collect();
        let out = redacted(&finder, &text.join("\n"));
        assert!(out.contains("done") && !out.contains("k3jH"), "{text:?}: {out:?}");
    }
}

#[test]
fn private_keys_in_base64_are_found_in_lines() {
    let finder = SecretFinder::new(&[]);
    let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAx\n";
    let head = ["LS0tLS1CRUdJTiBS", "U0EgUFJJVkFURSBLRVktLS0tLQ"].concat();
    for indent in ["", "      "] {
        let lines = format!("{indent}{line}").repeat(9);
        let text = format!("key: {head}{line}{lines}{indent}QUJDRA==\nkind: Secret of the cluster");
        let out = redacted(&finder, &text);
        assert_eq!(out, "key: [REDACTED:private-key]\nkind: Secret of the cluster");
    }
}

/// Goal: the time is linear. With squares of these lengths, the test would take hours.
#[test]
fn a_search_is_linear() {
    let finder = SecretFinder::with_forms(&[("A".to_owned(), vec![vec![b'a'; 64]])]);
    for part in [
        "AKIAIOSFODNN7EXAMPLE ",
        "eyJ-",
        "sk-",
        "-----BEGIN RSA PRIVATE KEY-----",
        "token=",
        "a",
        "://a:b",
        "://a:$b@",
        "PuTTY-User-Key-File-2: ",
        "password='",
        "Authorization: a ",
        "|",
        ":A",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n",
        " -p",
        "curl -u ",
        "TOKEN=\"",
        "\\",
        "a.b@",
        "://@",
        "1=",
        "ENV ",
        "set -x ",
        "ENV -a --b TOKEN ",
        "az login -p",
        "curl -b a=Zk39fjQ0xLmP82vB",
    ] {
        let start = std::time::Instant::now();
        let text = part.repeat(400_000 / part.len());
        finder.search(text.as_bytes(), 0);
        assert!(start.elapsed().as_secs() < 20, "{part}: {:?}", start.elapsed());
    }
}
