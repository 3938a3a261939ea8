//! Real recorded streams, kept beside the repository, are judged as their index says.

use std::collections::BTreeMap;
use std::fs;

use ndjson_check::{AgentFormat, Checker, Outcome, Rule, Severity, Verdict};

use crate::bytes::Pieces;
use crate::streams::{checker, json_report, judge, run_on, shared, text};

/// What a recording raises at default severities: nothing, but for what its remark tells.
fn expected(name: &str) -> &'static [Rule] {
    match name {
        // Its publisher removed `apiKeySource` and `duration_api_ms`.
        "agent-runner-sanitised" => &[Rule::SchemaViolation],
        // A consumer added a line at the start, and blank lines at the end.
        "inspector-small-trace" => {
            &[Rule::BlankLine, Rule::SchemaViolation, Rule::LateSessionStart]
        }
        // A web search was rejected before it started.
        "hcn-2026.09.10-probe-15" => {
            &[Rule::RejectedWithoutStart, Rule::AllCallsRefused, Rule::DeniedCall]
        }
        // All its calls were rejected.
        "hcn-2026.09.10-probe-20" | "hcn-2026.09.15-probe-15s" => {
            &[Rule::AllCallsRefused, Rule::DeniedCall]
        }
        _ => &[],
    }
}

#[test]
fn recordings_are_judged_as_their_index_says() {
    let Some(folder) = shared("captures") else { return };
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let lines_of = |name: &str| -> u64 {
        let row = index.lines().find(|row| row.starts_with(&format!("{name}.ndjson\t"))).unwrap();
        row.split('\t').nth(7).unwrap().parse().unwrap()
    };
    let mut checker = Checker::builder().sha256(true).build().unwrap();
    let mut judged = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "ndjson") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (summary, rules) = judge(fs::File::open(&path).unwrap(), &mut checker);
        assert_eq!(rules, expected(&name), "{name}");
        // The same as a file, through a pipe, and at one byte per read.
        let bytes = fs::read(&path).unwrap();
        let trickled = Pieces { bytes: &bytes, sizes: &[1], next: 0 };
        let whole = json_report(&bytes[..], &mut checker);
        assert_eq!(json_report(trickled, &mut checker), whole, "{name}");
        let piped = text(&run_on(&["--report", "json"], &bytes).stdout);
        assert!(piped.starts_with(&whole), "{name}");
        assert_eq!(summary.outcome, Outcome::Succeeded, "{name}");
        let errors = expected(&name).iter().any(|rule| rule.severity() == Some(Severity::Error));
        assert_eq!(summary.verdict == Verdict::NonConforming, errors, "{name}");
        let single = name == "eungjin-json";
        assert_eq!(summary.format == AgentFormat::Json, single, "{name}");
        assert_eq!(summary.events, lines_of(&name), "{name}");
        judged.insert(name, summary.events);
    }
    assert_eq!(judged.len(), 21, "{judged:?}");
}

/// Goal: text is put together as the producer does it.
/// Method: every recording's answer has the size of its terminal text, or a rule would be raised;
/// damage to one byte of any assistant text must be noticed.
#[test]
fn damaged_text_in_a_recording_is_noticed() {
    let Some(folder) = shared("captures") else { return };
    let mut checker = checker([]);
    let mut damaged = 0;
    for name in ["hcn-2026.09.10-probe-52", "townk-cursor-tool-use", "claudian-tool-call-stream"] {
        let text = fs::read_to_string(folder.join(format!("{name}.ndjson"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            if !line.starts_with(r#"{"type":"assistant""#) {
                continue;
            }
            let mut lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
            lines[index] = line.replacen(r#""text":""#, r#""text":"~"#, 1);
            let (_, rules) = judge(lines.join("\n").as_bytes(), &mut checker);
            let noticed = [Rule::DeltaMismatch, Rule::FinalTextMismatch];
            assert!(rules.iter().any(|it| noticed.contains(it)), "{name}:{}: {rules:?}", index + 1);
            damaged += 1;
        }
    }
    assert!(damaged > 10, "only {damaged}");
}
