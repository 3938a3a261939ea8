"""Tests of the lab itself: `python3 lab/test_lab.py`. No agent and no ndjson-check is needed."""

import contextlib
import io
import json
import socket
import sys
import tempfile
import unittest
import unittest.mock
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True

import agents
import drift
import install
import judge
import record
import truth
import why
import wire
from model import Call, Missing, Model, Reply, Turn, fill
from scenarios import ALL, Scenario

RAN = {"timed_out": False, "killed": False}


def entry(reply, tools=("shell",), main=True):
    reply = {**vars(reply), "calls": [vars(call) for call in reply.calls]}
    return {"main": main, "tools": list(tools), "results": 0, "reply": reply}


def truth_of(*replies, scenario=ALL["tool"], **happened):
    return truth.of(scenario, [entry(reply) for reply in replies], {**RAN, **happened})


class Truth(unittest.TestCase):
    def test_the_last_reply_decides(self):
        call = Reply(calls=[Call("shell", {})])
        found = truth_of(call, Reply(text=["All ", "done."]))
        self.assertEqual((found["outcome"], found["answer"], found["calls"]), ("succeeded", "All done.", 1))
        cut = (Reply(text=["a"], fault=fault) for fault in ("cut", "quit"))
        stopped = (Reply(text=["a"], stop=stop) for stop in ("length", "refusal", "error"))
        for last in (Reply(status=500), Reply(page="<html>"), *cut, *stopped):
            self.assertEqual(truth_of(call, last)["outcome"], "failed", last)
        for last in (Reply(), Reply(text=["a"], fault="cut-late"), call):
            self.assertEqual(truth_of(call, last)["outcome"], "either", last)

    def test_a_run_that_was_ended_has_failed(self):
        half = Reply(text=["a"], fault="hang")
        self.assertEqual(truth_of(half, killed=True)["outcome"], "failed")
        self.assertEqual(truth_of(half, timed_out=True)["outcome"], "failed")
        self.assertEqual(truth_of(Reply(status=429), timed_out=True)["outcome"], "failed")
        self.assertEqual(truth_of(Reply(text=["a"]), timed_out=True)["outcome"], "either")
        self.assertEqual(truth_of()["outcome"], "failed")

    def test_an_agent_that_ends_after_a_call_may_have_failed(self):
        call = Reply(calls=[Call("shell", {})])
        for name in ("kill-parent", "max-turns", "hook-halts"):
            self.assertEqual(truth_of(call, scenario=ALL[name])["outcome"], "failed", name)
            self.assertEqual(truth_of(Reply(text=["a"]), scenario=ALL[name])["outcome"], "succeeded", name)

    def test_an_answer_without_an_end_is_none(self):
        for fault in ("reset", "error", "hang-call"):
            self.assertEqual(truth_of(Reply(text=["a"], fault=fault))["outcome"], "failed", fault)
        self.assertEqual(truth_of(Reply(text=["a"], fault="hang-late"))["outcome"], "either")
        self.assertEqual(truth_of(Reply(text=["a"], fault="hang-late"), killed=True)["outcome"], "failed")
        self.assertEqual(truth_of(Reply(text=[" ", "\n"]))["outcome"], "either")

    def test_a_full_disk_or_a_signal_may_end_a_run(self):
        call = Reply(calls=[Call("shell", {})])
        for name in ("full-disk", "term-parent", "no-home"):
            found = truth_of(call, Reply(text=["a"]), scenario=ALL[name])
            self.assertEqual(found["outcome"], "either", name)

    def test_a_file_may_tell_whether_a_command_ran(self):
        call = Reply(calls=[Call("shell", {})])
        for made, became in ((True, "succeeded"), (False, "failed")):
            found = truth_of(call, Reply(text=["a"]), scenario=ALL["call-big"], made=made)
            self.assertEqual(found["became"], became)

    def test_halves_of_an_emoji_are_joined(self):
        self.assertEqual(truth_of(Reply(text=["a\ud83d", "\ude00"]))["answer"], "a😀")
        self.assertEqual(truth_of(Reply(text=["a\ud83d", "b"]))["answer"], "a\ufffdb")

    def test_the_arguments_of_a_call_can_be_the_answer(self):
        call = Call("StructuredOutput", {"greeting": "hi"})
        found = truth_of(Reply(calls=[call], answers=True))
        self.assertEqual((found["outcome"], found["answer"]), ("succeeded", '{"greeting":"hi"}'))

    def test_calls_that_were_not_delivered_are_not_counted(self):
        call = Reply(calls=[Call("shell", {})])
        lost = Reply(calls=[Call("shell", {})], fault="cut-call")
        found = truth_of(lost, call, Reply(text=["a"]))
        self.assertEqual((found["calls"], found["times"]), (1, [1, 1]))

    def test_requests_beside_the_conversation_are_left_out(self):
        log = [entry(Reply(text=["a"])), entry(Reply(text=["A title"]), tools=(), main=False)]
        self.assertEqual(truth.of(ALL["text"], log, RAN)["answer"], "a")


def said(code=0, answer="Hi", transcript=None, diagnostics=(), **stream):
    counts = {"total": 0, "failed": 0, "rejected": 0, "denied": 0, "unfinished": 0, "succeeded": 0}
    outcome = {0: "succeeded", 1: "failed", 3: "failed"}.get(code)
    stream = {"verdict": "conforming", "outcome": outcome, "profile": "codex", "events": 3, **stream}
    stream["tool_call_counts"] = {**counts, **stream.get("tool_call_counts", {})}
    return judge.Said(code, stream, list(diagnostics), answer, answer if transcript is None else transcript)


def faults(what, scenario="tool", **true):
    true = {"outcome": "succeeded", "answer": "Hi", "times": [1, 1], "calls": 0, "became": "any", **true}
    recording = judge.Recording(Path("x"), {"agent": "codex", "version": "1", "scenario": scenario}, true)
    found = judge.compare(what, recording, agents.Expected("codex", ""))
    return [fault.what for fault in found]


class Judge(unittest.TestCase):
    def test_what_is_true_is_no_fault(self):
        self.assertEqual(faults(said()), [])
        self.assertEqual(faults(said(3, ""), outcome="failed", answer=None), [])
        for code in (0, 3):
            self.assertEqual(faults(said(code), outcome="either", answer=None), [])

    def test_what_is_not_true_is_a_fault(self):
        self.assertEqual(faults(said(), outcome="failed", answer=None), ["false success"])
        self.assertEqual(faults(said(3, "")), ["false failure"])
        self.assertEqual(faults(said(3, "Hi"), outcome="failed"), ["answer of a failed run"])
        self.assertEqual(faults(said(answer="Ho", transcript="Hi")), ["answer"])
        self.assertEqual(faults(said(transcript="Hi Hi")), ["transcript"])
        self.assertEqual(faults(said(profile="gemini")), ["profile"])
        self.assertEqual(faults(said(2)), ["not recognised"])
        unknown = {"rule": "unknown-event", "severity": "warning", "message": "x"}
        self.assertEqual(faults(said(diagnostics=[unknown])), ["unknown-event"])

    def test_without_an_event_the_agent_is_not_known(self):
        empty = said(3, "", profile="cursor", events=0)
        self.assertEqual(faults(empty, outcome="failed", answer=None), [])
        self.assertEqual(faults(empty), ["false failure"])
        passed = said(0, "", profile="cursor", events=0)
        self.assertEqual(faults(passed, outcome="failed", answer=None), ["profile"])

    def test_calls_are_counted_and_have_an_end(self):
        two = {"total": 2, "succeeded": 1, "failed": 1}
        self.assertEqual(faults(said(tool_call_counts=two), calls=2, became="succeeded"), ["calls"])
        self.assertEqual(faults(said(tool_call_counts=two), calls=1, became="failed"), ["calls"])
        one = {"total": 1, "denied": 1}
        self.assertEqual(faults(said(tool_call_counts=one), calls=1, became="interrupted"), ["calls"])
        unfinished = {"total": 1, "unfinished": 1}
        self.assertEqual(faults(said(tool_call_counts=unfinished), calls=1, became="interrupted"), [])
        self.assertEqual(faults(said(tool_call_counts=one), calls=1, became="refused"), [])
        self.assertEqual(faults(said(tool_call_counts=two), calls=2, became="mixed"), [])
        both = {"total": 2, "failed": 2}
        self.assertEqual(faults(said(tool_call_counts=both), calls=2, became="mixed"), ["calls"])

    def test_a_run_whose_only_call_was_refused_may_be_an_error(self):
        refused = {"rule": "all-calls-refused", "message": "m", "severity": "error"}
        what = said(1, diagnostics=[refused])
        self.assertEqual(faults(what, scenario="denied"), [])
        self.assertEqual(faults(what, scenario="hook-blocks"), [])
        self.assertEqual(faults(what), ["all-calls-refused"])

    def test_an_answer_in_json_may_have_other_white_space(self):
        self.assertEqual(faults(said(answer='{"a":1}', transcript="Hi"), answer='{"a": 1}', times=[0, 1]), [])
        self.assertEqual(faults(said(answer='{"a":2}'), answer='{"a": 1}', times=[0, 1]), ["answer"])
        self.assertEqual(faults(said(answer="Hi\n\n")), [])

    def test_a_dropped_run_is_shown(self):
        codex = install.choose(["codex"])
        version = codex[0].version
        about = {"agent": "codex", "version": version, "variant": "", "mode": "", "signal": ""}
        ran = {**RAN, "exit_status": 0, "survivors": [], "date": "2026-11-23"}
        with tempfile.TemporaryDirectory() as folder:
            for name, missing in (("tool", None), ("mcp", "no tool like echo"), ("gone", None)):
                place = Path(folder) / "rec" / codex[0].name / name
                place.mkdir(parents=True)
                run = {**about, **ran, "scenario": name, "missing": missing}
                record.write_json(place / "run.json", run)
                record.write_json(place / "requests.json", [])
                (place / "stream.ndjson").touch()
            with unittest.mock.patch.dict("os.environ", {"NDJSON_CHECK_LAB": folder}):
                self.assertEqual([one.name for one in judge.recordings(codex)], ["tool"])
                self.assertEqual([one.name for one in judge.dropped(codex)], ["gone", "mcp"])
                self.assertIn("no tool like echo", str(judge.dropped(codex)[1]))
                recorded = [
                    plan.name
                    for plan in record.plans(codex, ["tool", "mcp", "text"])
                    if record.is_recorded(plan)
                ]
                self.assertEqual(recorded, ["tool"])
                found = [judge.Judgement(one) for one in judge.recordings(codex)]
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    judge.markdown(found, judge.dropped(codex))
                row = f"| codex | {version} | 2026-11-23 | 1 | 1 | 0 | 0 | 2 | 0 of 1 |"
                self.assertIn(row, printed.getvalue())
                self.assertIn("| direct | `lab run` | 1 |", printed.getvalue())

    def test_drift_says_what_it_looked_at(self):
        with tempfile.TemporaryDirectory() as folder:

            def one(name, event):
                place = Path(folder) / name
                place.mkdir(parents=True)
                (place / "stream.ndjson").write_text(json.dumps(event))
                run = {"agent": "codex", "exit_status": 0}
                found = judge.Judgement(judge.Recording(place, run, {"outcome": "succeeded"}))
                found.outcomes = {"stream": True}
                return found

            old = [one("old/tool", {"type": "a"}), one("old/text", {"type": "b"})]
            new = [one("new/tool", {"type": "a", "more": 1})]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                drift.compare(old, new)
        self.assertIn("looked at: 1 runs that both have: tool\n", printed.getvalue())
        self.assertIn("new: 1 kinds of events, 2 keys\n", printed.getvalue())

    def test_the_table_says_which_command_made_the_runs(self):
        def one(agent, variant, mode, signal):
            run = {"agent": agent, "variant": variant, "mode": mode, "signal": signal}
            return judge.Judgement(judge.Recording(Path("x"), run, {}))

        runs = [("qwen", "acp", "", ""), ("nanocoder", "acp", "", "TERM"), ("claude", "", "pipe", "KILL")]
        found = [command for _, command in judge.forms([one(*run) for run in runs])]
        self.assertEqual(found, ["lab run --variant acp", "lab run", "lab run --pipe --kill KILL"])

    def test_every_listed_fault_names_an_agent_and_has_a_reason(self):
        names = [package.name for package in install.choose(versions="all")]
        for row in judge.listed():
            self.assertTrue(any(judge.fnmatchcase(name, row["agent"]) for name in names), row)
            self.assertGreater(len(row["why"] or ""), 20, row)

    def test_the_truth_of_a_reason_is_what_the_model_and_the_lab_did(self):
        def true(scenario, outcome="failed", **happened):
            run = {"scenario": scenario, "killed": False, "timed_out": False, "signal": ""}
            return why.true_reasons({**run, **happened}, outcome)

        self.assertEqual(true("http-500-after"), {"overloaded"})
        self.assertEqual(true("http-500", timed_out=True), {"overloaded", "interrupted"})
        self.assertEqual(true("hang", killed=True, signal="KILL"), {"killed"})
        self.assertEqual(true("text", "succeeded"), {"completed"})
        self.assertEqual(true("http-400"), set())

    def test_reasons_are_counted_by_way(self):
        said = {"pipe": "unknown", "status": "auth", "run mode": "network"}
        one = why.Why("codex", "http-401", {"auth"}, said)
        self.assertEqual([one.kind(way) for way in why.WAYS], ["silent", "right", "wrong"])
        good = why.Why("codex", "text", {"completed"}, dict.fromkeys(why.WAYS, "completed"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            why.table([one, good])
        self.assertIn("| codex | 1 | 1 | 0 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 1 |", printed.getvalue())
        self.assertIn("1 good runs; with a reason for a failure: pipe 0, status 0, run mode 0", printed.getvalue())

    def test_alarms_are_counted_by_who_gives_them(self):
        run = {"agent": "codex", "version": "1"}
        bad = judge.Judgement(judge.Recording(Path("x"), run, {"outcome": "failed"}))
        bad.outcomes = {"status": True, "stream": False}
        good, missed = judge.alarms([bad])
        self.assertEqual((good["status"], missed["status"], missed["stream"]), (0, 1, 0))


REPLY = Reply(text=["Hel", "lo ", "€."], calls=[Call("shell", {"command": "echo a long command"})])


def texts(value):
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(one)


class Wire(unittest.TestCase):
    def test_a_streamed_reply_has_the_whole_text_and_the_call(self):
        for name, stream in wire.STREAM.items():
            events = [data for _, data in stream(REPLY, 1, "m")]
            found = [text for event in events for text in texts(event)]
            places = [found.index(piece) for piece in REPLY.text]
            self.assertEqual(places, sorted(places), name)
            arguments = wire.chunks(wire.arguments(REPLY.calls[0]))
            whole = "echo a long command" in found
            self.assertTrue(whole or all(piece in found for piece in arguments), name)

    def test_a_fault_comes_where_it_belongs(self):
        early = ("cut", "hang", "reset", "quit", "error", "garbage")
        faults = [*((fault, 2) for fault in early), ("cut-late", 3), ("hang-late", 3)]
        for name, stream in wire.STREAM.items():
            for fault, text_before in faults:
                events = list(stream(Reply(text=REPLY.text, fault=fault), 1, "m"))
                at = events.index(fault.removesuffix("-late"))
                before = [text for _, data in events[:at] for text in texts(data)]
                seen = sum(piece in before for piece in REPLY.text)
                self.assertEqual(seen, text_before, (name, fault))

    def test_a_call_may_bring_its_own_id(self):
        reply = Reply(calls=[Call("shell", {}, "mine")])
        for name, stream in wire.STREAM.items():
            self.assertIn("mine", [text for _, data in stream(reply, 7, "m") for text in texts(data)], name)
            self.assertIn("mine", list(texts(wire.WHOLE[name](reply, 7, "m"))), name)

    def test_the_whole_reply_says_the_same(self):
        for name, whole in wire.WHOLE.items():
            self.assertIn("Hello €.", list(texts(whole(REPLY, 1, "m"))), name)

    def test_a_limit_is_told_in_the_words_of_the_protocol(self):
        words = {"chat": "length", "responses": "max_output_tokens", "anthropic": "max_tokens"}
        for name, word in {**words, "gemini": "MAX_TOKENS"}.items():
            events = [data for _, data in wire.STREAM[name](Reply(text=["a"], stop="length"), 1, "m")]
            self.assertIn(word, [text for event in events for text in texts(event)], name)

    def test_a_refusal_is_told_in_the_words_of_the_protocol(self):
        words = {"chat": "refusal", "responses": "response.refusal.delta", "anthropic": "refusal"}
        for name, word in {**words, "gemini": "PROHIBITED_CONTENT"}.items():
            events = list(wire.STREAM[name](Reply(text=["a"], stop="refusal"), 1, "m"))
            self.assertIn(f'"{word}"', json.dumps(events), name)

    def test_requests_are_read_in_every_protocol(self):
        chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "tool", "content": "x"}]}
        block = {"type": "tool_result", "content": "x"}
        anthropic = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, block]}]}
        gemini = {"contents": [{"role": "user", "parts": [{"text": "Hi"}, {"functionResponse": {}}]}]}
        items = [{"role": "user", "content": "Hi"}, {"type": "function_call_output"}]
        for body in (chat, anthropic, gemini, {"input": items}):
            self.assertEqual((wire.results(body), wire.said_by_user(body).strip()), (1, "Hi"), body)
        self.assertEqual(wire.results({"input": "Hi"}), 0)


def ask(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


class Server(unittest.TestCase):
    def test_the_model_answers_as_its_script_says(self):
        def script(turn):
            return Reply(status=401) if turn.results else Reply(calls=[turn.shell("echo hi")])

        tool = {"type": "function", "function": {"name": "bash", "parameters": {}}}
        with Model(script) as model:
            body = {"tools": [tool], "messages": []}
            first = ask(model.url + "/v1/chat/completions", body)
            call = first["choices"][0]["message"]["tool_calls"][0]["function"]
            self.assertEqual((call["name"], json.loads(call["arguments"])), ("bash", {"command": "echo hi"}))
            with self.assertRaises(urllib.error.HTTPError) as refused:
                ask(model.url + "/v1/chat/completions", {**body, "messages": [{"role": "tool"}]})
            refused.exception.close()
            self.assertEqual(refused.exception.code, 401)
            # A request for a title has no tools; it does not spoil the run.
            ask(model.url + "/v1/chat/completions", {"messages": []})
            self.assertEqual([one["main"] for one in model.log], [True, True, False])
            self.assertIsNone(model.missing)
            ask(model.url + "/v1/chat/completions", {"tools": [{"name": "other"}], "messages": []})
            self.assertEqual(model.missing, "no shell")

    def ask_for_a_stream(self, reply):
        """What comes of this reply as a stream, and how it ends."""
        with Model(lambda turn: reply) as model:
            body = {"stream": True, "tools": [{"name": "other"}], "messages": []}
            content = json.dumps(body).encode()
            request = f"POST /v1/chat/completions HTTP/1.1\r\nhost: lab\r\ncontent-length: {len(content)}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", model.port), 10) as client:
                client.sendall(request.encode() + content)
                got = b""
                try:
                    while piece := client.recv(4096):
                        got += piece
                        if got.endswith(b"\r\n0\r\n\r\n"):
                            return got, "end"
                except ConnectionResetError:
                    return got, "reset"
            return got, "closed"

    def test_connections_are_closed_reset_or_report_an_error(self):
        ends = {"": "end", "cut": "closed", "reset": "reset", "error": "end", "garbage": "end", "quit": "end"}
        for fault, end in ends.items():
            got, ended = self.ask_for_a_stream(Reply(text=["Hel", "lo"], fault=fault))
            self.assertIn(b"Hel", got, fault)
            self.assertEqual(b"Gateway Time-out" in got, fault == "garbage", fault)
            self.assertEqual(b'"lo"' in got, fault == "", fault)
            self.assertEqual(b"scripted: api error" in got, fault == "error", fault)
            self.assertEqual(ended, end, fault)

    def test_characters_can_come_in_parts(self):
        got, _ = self.ask_for_a_stream(Reply(text=["€" * 9], torn=True))
        lines = got.split(b"\r\n\r\n", 1)[1].split(b"\r\n")
        self.assertEqual(max(len(part) for part in lines[1::2]), 3)
        self.assertIn("€" * 9, b"".join(lines[1::2]).decode())

    def test_the_server_can_end_after_a_reply(self):
        with Model(lambda turn: Reply(text=["Hello"], last=True)) as model:
            url, body = model.url + "/v1/chat/completions", {"tools": [{"name": "x"}], "messages": []}
            self.assertIn("choices", ask(url, body))
            with self.assertRaises(OSError):
                ask(url, body)

    def test_an_error_may_say_more_and_a_page_may_come_instead(self):
        replies = [Reply(status=429, said="no more", after="60"), Reply(page="<p>", status=502), Reply(page="<p>")]
        with Model(lambda turn: replies.pop(0)) as model:
            url, body = model.url + "/v1/chat/completions", {"tools": [{"name": "x"}], "messages": []}
            for code, word in ((429, b"no more"), (502, b"<p>")):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    ask(url, body)
                with refused.exception as answer:
                    self.assertEqual((answer.code, word in answer.read()), (code, True))
                    self.assertEqual(answer.headers["retry-after"], "60" if code == 429 else None)
            with self.assertRaises(ValueError):
                ask(url, body)

    def test_arguments_satisfy_the_schema_of_the_tool(self):
        kinds = {"command": {"type": "array"}, "why": {"type": "string"}, "ms": {"type": "integer"}}
        found = fill({"properties": kinds, "required": ["command", "why"]}, "ls", {})
        self.assertEqual(found, {"command": ["bash", "-c", "ls"], "why": "say hi"})


    def test_the_kind_of_a_sub_agent_is_one_that_the_agent_names(self):
        def kind(description, system=""):
            tool = {"type": "function", "function": {"name": "task", "description": description}}
            message = {"role": "system", "content": system}
            return Turn({"tools": [tool], "messages": [message]}, 1).kind("task", ("general", "worker"))

        self.assertEqual(kind("Generally: worker, explorer"), "worker")
        self.assertEqual(kind("One of the catalog", system="- worker: works"), "worker")
        self.assertEqual(kind("none"), "general")

    def test_a_slow_start_does_not_end_a_run(self):
        self.assertEqual(record.deadline(SimpleNamespace(asked=None), 10), 130)
        self.assertEqual(record.deadline(SimpleNamespace(asked=40), 10), 100)


class Plans(unittest.TestCase):
    def test_an_agent_gets_the_scenarios_that_it_can_run(self):
        package = install.choose(["pi"])[0]
        names = [plan.name for plan in record.plans([package])]
        self.assertIn("resume", names)
        self.assertIn("hang.kill-TERM", names)
        self.assertFalse({"denied", "schema"} & set(names))
        killed = [plan.name for plan in record.plans([package], mode="pipe", sign="TERM,KILL")]
        self.assertEqual(len(killed), 2 * sum(one.stalls for one in ALL.values()))
        self.assertIn("hang.pipe.kill-KILL", killed)
        self.assertEqual(list(record.plans([package], ["text"], sign="TERM")), [])
        for wrong in ({"names": ["nosuch"]}, {"sign": "NOSUCH"}):
            with self.assertRaises(SystemExit):
                list(record.plans([package], **wrong))

    def test_a_scenario_needs_what_the_agent_can(self):
        def names(agent, **more):
            return {plan.scenario.name for plan in record.plans(install.choose([agent]), **more)}

        self.assertLessEqual({"second", "interrupt", "schema", "hook-blocks", "no-key"}, names("claude"))
        self.assertFalse({"second", "schema", "hook"} & names("opencode"))
        # The ACP client can send a second prompt, but there is no flag for a schema.
        acp = names("qwen", variant="acp")
        self.assertTrue({"second", "interrupt"} <= acp and "schema" not in acp)
        self.assertNotIn("quiet-tool", names("claude"))
        self.assertIn("quiet-tool", names("claude", mode="run"))

    def test_messages_by_standard_input_come_in_their_order(self):
        def steps(name):
            plan = SimpleNamespace(scenario=ALL[name])
            run = SimpleNamespace(plan=plan, needs=lambda what: what in ALL[name].needs.split())
            return [(when, json.loads(line)["type"]) for when, line in agents.messages(run)]

        self.assertEqual(steps("second"), [("", "user"), ("answer", "user")])
        self.assertEqual(steps("steer"), [("", "user"), ("started", "user")])
        asked = [("", "control_request"), ("", "user"), ("started", "control_request"), ("started", "user")]
        self.assertEqual(steps("interrupt"), asked)

    def test_halves_of_an_emoji_can_be_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "requests.json"
            record.write_json(file, {"text": ["\ud83d", "\ude00"]})
            self.assertEqual(json.loads(file.read_text()), {"text": ["\ud83d", "\ude00"]})

    def test_a_failed_installation_names_its_log(self):
        package = install.Package("x", "pip", "x", "1", "python0.0", "MIT", "1")
        with tempfile.TemporaryDirectory() as folder:
            with unittest.mock.patch.dict("os.environ", {"NDJSON_CHECK_LAB": folder}):
                self.assertIn("install.log", install.install_one(package))

    def test_a_library_that_the_index_lacks_loses_its_pin(self):
        log = "ERROR: No matching distribution found for certifi==2026.10.19\n"
        self.assertEqual(install.LACKS.findall(log), ["certifi"])
        wanted = ["certifi==2026.10.19 ; python_version < '4'", "rich==1.0", "Certifi"]
        found = install.unpinned(wanted, {"certifi"})
        self.assertEqual(found, ["certifi ; python_version < '4'", "rich==1.0", "Certifi"])

    def test_a_recording_names_no_path_of_this_machine(self):
        content = b'{"cwd":"/tmp/lab/run-ab12/work","url":"http://127.0.0.1:4711"}'
        found = record.neutral(content, Path("/tmp/lab/run-ab12"), 4711)
        self.assertEqual(found, b'{"cwd":"/tmp/lab/run/work","url":"http://127.0.0.1:8080"}')

    def test_every_agent_of_the_table_has_an_entry(self):
        for package in install.choose(versions="all"):
            self.assertIn(package.agent, agents.ALL)
        with self.assertRaises(SystemExit):
            install.choose(["nobody"])

    def test_scenarios_raise_missing_or_reply(self):
        class Turn:
            number, results, user, model, tools = 1, 0, "", "", {}

            def shell(self, command, **more):
                return Call("shell", {"command": command})

            def tool(self, pattern, command="", **more):
                raise Missing(pattern)

        for one in ALL.values():
            self.assertIsInstance(one, Scenario)
            try:
                self.assertIsInstance(one.script(Turn()), Reply, one.name)
            except Missing:
                self.assertRegex(one.name, "^(ask|edit|mcp|question|read|script|subagent|todo|tool-timeout|web|write-outside)")


if __name__ == "__main__":
    unittest.main()
