//! What a page of the HTML report leaves out, and what it keeps.

use std::fs;

use super::html::{calls_at, is_sound, report};

/// Goal: a bar leads to its call, or to the place where it is left out.
#[test]
fn bars_of_calls_that_are_left_out_lead_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.ndjson");
    let seconds: Vec<u64> = (0..1_000).collect();
    fs::write(&file, calls_at(&seconds, &"<&".repeat(2_000))).unwrap();
    let (page, _) = report(folder.path(), &["--profile=cursor", file.to_str().unwrap()]);
    is_sound(&page);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("id=\"b500\" class=\"good\" href=\"#omitted\""));
    assert!(page.contains("id=\"b1000\" class=\"good\" href=\"#c1000\""));
}

/// Goal: no failed call is hidden behind a good one, in any report that lists calls.
#[test]
fn failed_calls_stay_before_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (folder.path().join("large.ndjson"), folder.path().join("report.json"));
    let seconds: Vec<u64> = (0..1_200).collect();
    let good = calls_at(&seconds, &"<&".repeat(2_000));
    // Each second call fails; then the last half does.
    for is_bad in [|number: usize| number % 2 == 1, |number: usize| number >= 600] {
        let events = good.lines().enumerate().map(|(at, event)| {
            let is_bad = is_bad(at / 2);
            if is_bad { event.replace("\"success\"", "\"error\"") } else { event.to_owned() }
        });
        fs::write(&file, events.collect::<Vec<_>>().join("\n") + "\n").unwrap();
        let to_json = format!("--report=json={}", json.display());
        let file = file.to_str().unwrap();
        let (page, _) = report(folder.path(), &["--profile=cursor", &to_json, file]);
        is_sound(&page);
        let page = fs::read_to_string(page).unwrap();
        let places = (1..=1_200).filter(|it| is_bad(it - 1)).map(|number| {
            let found = page.find(&format!("class=\"call failed\" id=\"c{number}\""));
            found.unwrap_or_else(|| panic!("call {number}"))
        });
        assert!(places.collect::<Vec<_>>().is_sorted());
        let shown = page.matches("class=\"call good\"").count();
        assert!((1..600).contains(&shown), "{shown}");
        assert!(page.contains(&format!("Not all of it: {} other tool calls ", 600 - shown)));
        assert!(page.len() < 10_000_000, "{}", page.len());
        let json = fs::read_to_string(&json).unwrap();
        assert_eq!(json.matches("\"outcome\":\"failed\"").count(), 600, "{json}");
        assert_eq!(json.matches("\"outcome\":\"succeeded\"").count(), 400, "{json}");
    }
}

/// Goal: no stream that did not pass is without a page because good ones came first.
#[test]
fn bad_streams_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..5_001 {
        fs::write(folder.path().join(format!("{number:04}.ndjson")), "{}\n").unwrap();
    }
    fs::write(folder.path().join("z-bad.ndjson"), "[]\n").unwrap();
    let streams = folder.path().to_str().unwrap();
    let (index, pages) = report(folder.path(), &["--profile=jsonl", streams]);
    assert_eq!(pages.len(), 5_001);
    let index = fs::read_to_string(index).unwrap();
    assert!(index.contains("report.pages/5001-z-bad-ndjson.html"), "{index}");
    assert!(index.contains("1 of 5002 streams did not pass"), "{index}");
    let more = index.find("1 more stream passed and has no page").unwrap();
    assert!(more > index.find("<small>5000</small>").unwrap());
}

/// Goal: a page is bounded, whatever the stream is, and says what it leaves out.
/// Method: many calls and texts of the characters that take most room, and many findings.
#[test]
fn a_page_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let words = "\"<&\u{202e}".repeat(80);
    let long = words.repeat(40);
    let mut stream = String::new();
    // The calls are completed only after all of them have started, with long results.
    let mut ends = String::new();
    for number in 0..12_000 {
        let (text, id) = (if number % 50 == 0 { &long } else { &words }, format!("c{number}"));
        let call = serde_json::json!({"shellToolCall": {"args": {"command": text}}});
        for event in [
            serde_json::json!({"type": text, "session_id": "s"}),
            serde_json::json!({"type": "assistant", "session_id": "s", "message":
                {"role": "assistant", "content": [{"type": "text", "text": text}]}}),
            serde_json::json!({"type": "tool_call", "subtype": "started", "session_id": "s",
                "call_id": id, "tool_call": call}),
        ] {
            stream += &event.to_string();
            stream.push('\n');
        }
        let result = serde_json::json!({"success": {"exitCode": 0, "interleavedOutput": long}});
        let call = serde_json::json!({"shellToolCall": {"args": {"command": text},
            "result": result}});
        let end = serde_json::json!({"type": "tool_call", "subtype": "completed",
            "session_id": "s", "call_id": id, "tool_call": call});
        if number < 3_000 {
            ends.extend([end.to_string(), "\n".to_owned()]);
        }
    }
    stream += &ends;
    let file = folder.path().join("large.ndjson");
    fs::write(&file, &stream).unwrap();
    let (page, _) = report(folder.path(), &["--profile=cursor", file.to_str().unwrap()]);
    is_sound(&page);
    let page = fs::read_to_string(page).unwrap();
    assert!(stream.len() > 20_000_000 && page.len() > 2_000_000, "{}", stream.len());
    assert!(page.len() < 10_000_000, "{}", page.len());
    assert!(page.contains("href=\"#omitted\">are left out</a>"));
    assert!(page.contains("12 000 calls are too many to be shown one by one"));
    assert!(page.contains(" left out …</span>"));
    // Its end is there, and how many of the 9,000 calls that never completed are not.
    assert!(page.contains("id=\"c12000\""));
    let left = 9_000 - page.matches("class=\"call open\"").count();
    let left = format!("{} {:03} tool calls that did not succeed, ", left / 1_000, left % 1_000);
    assert!(page.contains(&left), "{left}");
}
