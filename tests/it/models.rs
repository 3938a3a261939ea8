//! Expectations on the model: which names are of one model.

use ndjson_check::Expectation;
use serde_json::{Value, json};

use crate::starts::{fault, plain, raised};
use crate::streams::root;

/// Goal: another model counts when it writes, and no helper does that only its figures name.
#[test]
fn a_fallback_model_is_another_model() {
    let with = |model: &str| {
        let events = plain().lines().map(serde_json::from_str).collect();
        let mut lines: Vec<Value> = Result::unwrap(events);
        lines[0]["model"] = "claude-opus-5[1m]".into();
        lines[1]["message"]["model"] = model.into();
        lines[2]["modelUsage"] = json!({"claude-opus-5[1m]": {}, "claude-haiku-4-5": {}});
        lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect::<String>()
    };
    let exact = Expectation::Model("claude-opus-5[1m]".to_owned());
    let glob = Expectation::Model("claude-opus-*".to_owned());
    for model in ["claude-opus-5[1m]", "claude-opus-5", "us.anthropic.claude-opus-5-v1:0"] {
        assert_eq!(raised(&with(model), "claude", &exact), None, "{model}");
    }
    let steps = |models: [&str; 3]| {
        let mut lines = with(models[0]).lines().map(str::to_owned).collect::<Vec<_>>();
        for (at, model) in [(2, models[1]), (3, models[2])] {
            let mut message: Value = serde_json::from_str(&lines[1]).unwrap();
            message["message"]["model"] = model.into();
            message["message"]["id"] = format!("m{at}").into();
            lines.insert(at, message.to_string());
        }
        lines.join("\n") + "\n"
    };
    let dates = ["claude-opus-5-20260101", "claude-opus-5", "claude-opus-5-20260901"];
    assert!(fault(&steps(dates), &exact).contains("but it is `claude-opus-5-20260901`"));
    let providers = ["anthropic/claude-opus-5", "us.anthropic.claude-opus-5-v1:0", "claude-opus-5"];
    assert_eq!(raised(&steps(providers), "claude", &exact), None);
    let both = [dates[2], dates[0], "anthropic/claude-opus-5-20260101"];
    assert_eq!(raised(&steps(both), "claude", &glob), None);
    for expected in [&exact, &glob] {
        assert!(
            fault(&with("claude-sonnet-4-5"), expected).contains("but it is `claude-sonnet-4-5`")
        );
    }
    // A sub-agent may have another model.
    let file = root().join("fixtures/agents/claude/subagent.ndjson");
    let stream = std::fs::read_to_string(file).unwrap();
    let lines = stream.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["parent_tool_use_id"].is_string() && event["message"]["model"].is_string() {
            event["message"]["model"] = "claude-haiku-4-5".into();
        }
        format!("{event}\n")
    });
    let stream: String = lines.collect();
    assert!(stream.contains("claude-haiku-4-5"));
    let expected = Expectation::Model("claude-example-*".to_owned());
    assert_eq!(raised(&stream, "claude", &expected), None);
    // What the agent writes itself when a request fails has no model.
    assert_eq!(raised(&with("<synthetic>"), "claude", &exact), None);
}
