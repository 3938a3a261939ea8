"""The scenarios: for each, what the model answers, and what is asked of the agent besides.

A script gets one `Turn` and returns one `Reply`. The truth of a run is what the model really
delivered, so a scenario adds only what the replies do not show.
"""

import json
import re
from dataclasses import dataclass
from typing import Callable

from model import Call, Missing, Reply

TEXT = [
    "Hello",
    " from the scripted",
    " model.\nSecond line: ",
    "äöü € ",
    '😀 "quoted" ',
    "\\ back\\slash",
    " and\tdone.",
]
AFTER = ["The command", " printed", " hi.", " All done."]
PROMPT = "Say hello, please"
SECOND = "Now the second message"
NESTED = "[nested] Say hi"


@dataclass
class Scenario:
    name: str
    script: Callable
    about: str
    stalls: bool = False  # the run ends only when somebody ends it
    # What becomes of the calls; `started` if they may still run, `made` if the file made.txt tells.
    calls: str = "succeeded"
    needs: str = ""  # what the agent must be told, or be able to do: words such as deny, mcp, resume
    unanswered: str = ""  # the outcome if the last reply of the model was a call
    either: bool = False  # the run may fail although the model answered
    flags: str = ""  # of `ndjson-check` in run mode; without them the scenario makes no sense


ALL = {}


def scenario(about, **more):
    def keep(script):
        name = script.__name__.rstrip("_").replace("_", "-")
        ALL[name] = Scenario(name, script, about, **more)
        return script

    return keep


def end():
    return Reply(text=AFTER)


# Answers


@scenario("a plain answer")
def text(turn):
    return Reply(text=TEXT)


@scenario("a plain answer of a new turn in an earlier session", needs="resume")
def resume(turn):
    return Reply(text=TEXT)


@scenario("an answer of one million characters")
def long(turn):
    # Some agents stop a model that repeats itself.
    return Reply(text=[piece(number) for number in range(100)])


def piece(number):
    return "".join(f"Line {line} costs {line * line} €\n" for line in range(number * 400, number * 400 + 400))


@scenario("reasoning, then an answer")
def think(turn):
    return Reply(thoughts=["I think", " therefore."], text=TEXT)


@scenario("reasoning, a call, reasoning, an answer")
def think_tool(turn):
    return (
        Reply(thoughts=["A command", " will tell."], calls=[turn.shell("echo hi")])
        if not turn.results
        else Reply(thoughts=["It said hi."], text=AFTER)
    )


@scenario("no text at all")
def empty(turn):
    return Reply()


@scenario("a call, then no text")
def empty_after(turn):
    return end_with(Reply(), turn)


def end_with(last, turn):
    return last if turn.results else Reply(calls=[turn.shell("echo hi")])


@scenario("the output limit ends the answer")
def length(turn):
    return Reply(text=TEXT[:4], stop="length")


@scenario("the output limit ends the answer after a call")
def length_after(turn):
    return end_with(Reply(text=AFTER[:2], stop="length"), turn)


@scenario("a content filter ends the answer")
def filter_(turn):
    return Reply(text=TEXT[:2], stop="filter")


@scenario("a content filter lets nothing through")
def filter_empty(turn):
    return Reply(stop="filter")


@scenario("an answer of white space")
def blank(turn):
    return Reply(text=["  ", "\n"])


@scenario("an answer that ends with empty lines")
def trailing(turn):
    return Reply(text=["Hello.", "\n\n"])


@scenario("emoji whose halves come in neighbouring pieces")
def split_pair(turn):
    return Reply(text=["Hello \ud83d", "\ude00 and \ud83d", "\ude80 done."])


@scenario("half of an emoji, without the other half")
def half_pair(turn):
    return Reply(text=["Hello \ud83d", " done."])


WANTED = {"greeting": "hi"}
SCHEMA = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"],
    "additionalProperties": False,
}


@scenario("an answer that satisfies a schema", needs="schema", calls="any")
def schema(turn):
    name = next((name for name in turn.tools if re.search("(?i)^structured_?output$", name)), None)
    if name and not turn.results:
        return Reply(calls=[Call(name, WANTED)], answers=True)
    return Reply(text=[json.dumps(WANTED)])


@scenario("a model that is overloaded, and another one that answers", needs="fallback")
def fallback(turn):
    return Reply(text=TEXT) if turn.model == FALLBACK else Reply(status=529)


FALLBACK = "claude-haiku-4-5"


# Messages by standard input, or further prompts in ACP


@scenario("a second message after the first answer", needs="input")
def second(turn):
    return Reply(text=AFTER if SECOND in turn.user else TEXT)


@scenario("a second message while a command runs", needs="input steer", calls="started")
def steer(turn):
    return end() if turn.results else Reply(calls=[turn.shell("touch started; sleep 4; echo hi")])


@scenario("a command is interrupted, and a second message answered", needs="input", calls="interrupted")
def interrupt(turn):
    return end() if SECOND in turn.user else Reply(calls=[turn.shell(ENDLESS, timeout=600000)])


ENDLESS = "touch started; tail -f /dev/null"


# Calls


@scenario("one command")
def tool(turn):
    return end_with(end(), turn)


@scenario("text, one command, text")
def text_tool(turn):
    return end() if turn.results else Reply(text=["I will", " run it."], calls=[turn.shell("echo hi")])


@scenario("a command that fails", calls="failed")
def tool_fails(turn):
    return end() if turn.results else Reply(calls=[turn.shell("sh -c 'echo bad >&2; exit 3'")])


@scenario("a command that fails without a word", calls="failed")
def tool_silent(turn):
    return end() if turn.results else Reply(calls=[turn.shell("exit 2")])


@scenario("a command with much output")
def tool_big(turn):
    return end() if turn.results else Reply(calls=[turn.shell("seq 1 20000")])


@scenario("a command that prints bytes that are not UTF-8, and control characters")
def tool_bytes(turn):
    return (
        end()
        if turn.results
        else Reply(calls=[turn.shell(r"printf '\377\376\000\033[31mred\033[0m\r\n\342\200\250end\n'")])
    )


@scenario("two commands that print 300,000 emoji, at even and at odd places")
def emoji(turn):
    # An agent that cuts a string at a fixed length cuts one of the two within an emoji.
    command = "yes \U0001f600 | head -n 300000 | tr -d '\\n'"
    return end() if turn.results >= 2 else Reply(calls=[turn.shell("printf x; " * turn.results + command)])


@scenario("two commands at once")
def parallel(turn):
    return end() if turn.results else Reply(calls=[turn.shell("sleep 1; echo one"), turn.shell("echo two")])


@scenario("five commands, one after the other")
def five(turn):
    return (
        end()
        if turn.results >= 5
        else Reply(text=[f"Step {turn.results + 1}."], calls=[turn.shell(f"echo {turn.results + 1}")])
    )


@scenario("two hundred commands at once")
def calls_200(turn):
    return end() if turn.results else Reply(calls=[turn.shell(f"echo {number}") for number in range(200)])


@scenario("three commands, one after the other, with the same id")
def reused_ids(turn):
    # Who takes them for one call has one result.
    if turn.results >= 3 or turn.number > 3:
        return end()
    call = turn.shell(f"echo {turn.number}")
    return Reply(calls=[Call(call.name, call.arguments, "call_0")])


@scenario("a tool without a name", calls="failed")
def no_name(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call("", {"foo": "bar"})])


@scenario("a patch that does not fit", needs="patch", calls="failed")
def bad_patch(turn):
    patch = "*** Begin Patch\n*** Update File: none.txt\n@@\n-old\n+new\n*** End Patch"
    return end() if turn.results else Reply(calls=[turn.shell(f"apply_patch <<'EOF'\n{patch}\nEOF")])


@scenario("one command, with hooks that let it pass", needs="hooks")
def hook(turn):
    return end_with(end(), turn)


@scenario("one command, which a hook blocks", needs="hooks block", calls="failed")
def hook_blocks(turn):
    return end_with(end(), turn)


@scenario("a script that fails at one call and does not wait for another", needs="script", calls="any")
def script(turn):
    code = """
tools.bash({ command: "sleep 5; echo late" });
try { await tools.read({ path: "none.txt" }); } catch (error) { console.log(error); }
return await tools.bash({ command: "echo hi" });
"""
    return end() if turn.results else Reply(calls=[turn.tool("^codemode$", code=code)])


@scenario("the disk is full after a command", needs="full-disk", calls="any", either=True)
def full_disk(turn):
    return end() if turn.results else Reply(calls=[turn.shell("cat /dev/zero > ~/full; echo full")])


@scenario(
    "a command of twelve seconds, with an idle timeout of six", flags="--idle-timeout 6s", calls="started"
)
def quiet_tool(turn):
    return end() if turn.results else Reply(calls=[turn.shell("sleep 6; sleep 6; echo hi")])


@scenario("a tool that does not exist", calls="failed")
def unknown_tool(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call("no_such_tool", {"foo": "bar"})])


@scenario("a call whose arguments are not JSON", calls="failed")
def bad_arguments(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call(turn.shell("").name, '{"comm')])


@scenario("a command that the agent may not run", needs="deny", calls="refused")
def denied(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[turn.shell("touch made.txt")])


@scenario("a command in the background", calls="started")
def background(turn):
    return (
        end()
        if turn.results
        else Reply(
            calls=[
                turn.shell(
                    "sleep 3; echo hi",
                    run_in_background=True,
                    is_background=True,
                    background=True,
                    description="say hi later",
                )
            ]
        )
    )


@scenario("a command of fifteen seconds", calls="started")
def slow_tool(turn):
    return end() if turn.results else Reply(calls=[turn.shell("sleep 15; echo hi")])


@scenario("a tool of an MCP server", needs="mcp")
def mcp(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="hi")])


@scenario("a tool of an MCP server that fails", needs="mcp", calls="failed")
def mcp_fails(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="fail")])


@scenario("a sub-agent that answers", calls="started")
def subagent(turn):
    if NESTED in turn.user:
        return Reply(text=["The sub-agent", " says hi."], aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])


@scenario("a sub-agent that runs a command", calls="any")
def subagent_tool(turn):
    if NESTED in turn.user:
        return (
            Reply(text=["The sub-agent says hi."], aside=True)
            if turn.results
            else Reply(calls=[turn.shell("echo hi")], aside=True)
        )
    return end() if turn.results else Reply(calls=[delegate(turn)])


KINDS = ("general-purpose", "general", "coder", "worker", "explore")


def delegate(turn):
    names = ("task", "agent", "spawn_agent", "subagent", "delegate_task", "dispatch_agent")
    name = next((name for name in turn.tools if name.split("/")[-1].lower() in names), None)
    if name is None:
        raise Missing("no tool that starts a sub-agent")
    kind = turn.kind(name, KINDS)
    tool = f"^{name}$"
    return turn.tool(
        tool,
        prompt=NESTED,
        task=NESTED,
        message=NESTED,
        tasks=[{"goal": NESTED}],
        description="say hi",
        subagent_type=kind,
        agent_type=kind,
        name="helper",
        mode="sync",
    )


# Failures of the model


@scenario("HTTP 400")
def http_400(turn):
    return Reply(status=400)


@scenario("HTTP 401")
def http_401(turn):
    return Reply(status=401)


@scenario("HTTP 401 after a call")
def http_401_after(turn):
    return end_with(Reply(status=401), turn)


@scenario("HTTP 402")
def http_402(turn):
    return Reply(status=402)


@scenario("HTTP 404")
def http_404(turn):
    return Reply(status=404)


@scenario("no key", needs="no-key")
def no_key(turn):
    return Reply(status=401)


@scenario("no server", needs="no-server")
def no_server(turn):
    return Reply(status=500)


@scenario("HTTP 429, once")
def http_429_once(turn):
    return Reply(status=429) if first(turn) else Reply(text=TEXT)


@scenario("HTTP 429, always")
def http_429(turn):
    return Reply(status=429)


@scenario("HTTP 500, once")
def http_500_once(turn):
    return Reply(status=500) if first(turn) else Reply(text=TEXT)


@scenario("HTTP 500, always")
def http_500(turn):
    return Reply(status=500)


@scenario("HTTP 500 after a call, always")
def http_500_after(turn):
    return end_with(Reply(status=500), turn)


@scenario("the connection is lost in the middle of the answer, always")
def cut(turn):
    return Reply(text=TEXT, fault="cut")


@scenario("the connection is reset in the middle of the answer, always")
def reset(turn):
    return Reply(text=TEXT, fault="reset")


@scenario("the connection is reset in the middle of the answer, once")
def reset_once(turn):
    return Reply(text=TEXT, fault="reset" if first(turn) else "")


@scenario("the connection is reset after a call, always")
def reset_after(turn):
    return end_with(Reply(text=AFTER, fault="reset"), turn)


@scenario("the stream of the answer reports an error, always")
def error(turn):
    return Reply(text=TEXT, fault="error")


@scenario("the stream of the answer reports an error, once")
def error_once(turn):
    return Reply(text=TEXT, fault="error" if first(turn) else "")


@scenario("the stream reports an error after a call, always")
def error_after(turn):
    return end_with(Reply(text=AFTER, fault="error"), turn)


@scenario("the connection is lost in the middle of the answer, once")
def cut_once(turn):
    return Reply(text=TEXT, fault="cut" if first(turn) else "")


@scenario("the connection is lost after the text, once")
def cut_late(turn):
    return Reply(text=TEXT, fault="cut-late" if first(turn) else "")


@scenario("the connection is lost within a call, once")
def cut_call(turn):
    return (
        end()
        if turn.results
        else Reply(
            text=["I will run it."],
            calls=[turn.shell("echo hi; echo more")],
            fault="cut-call" if first(turn) else "",
        )
    )


@scenario("the connection is lost after a call, always")
def cut_after(turn):
    return end_with(Reply(text=AFTER, fault="cut"), turn)


@scenario("the connection is lost after a call, once")
def cut_after_once(turn):
    return end_with(Reply(text=AFTER, fault="cut" if turn.number == 2 else ""), turn)


def first(turn):
    return turn.number == 1


# Runs that somebody ends


@scenario("the model hangs before its answer", stalls=True)
def hang_start(turn):
    return Reply(text=TEXT, fault="hang-start")


@scenario("the model hangs in the middle of its answer", stalls=True)
def hang(turn):
    return Reply(text=TEXT, fault="hang")


@scenario("the model hangs after its text", stalls=True)
def hang_late(turn):
    return Reply(text=TEXT, fault="hang-late")


@scenario("the model hangs within a call", stalls=True)
def hang_call(turn):
    call = turn.shell("echo hi; echo more")
    return Reply(text=["I will run it."], calls=[call], fault="hang-call")


@scenario("the model hangs after a call", stalls=True)
def hang_after(turn):
    return end_with(Reply(text=AFTER, fault="hang"), turn)


@scenario("a command never ends", stalls=True, calls="unfinished")
def stuck_tool(turn):
    return (
        end()
        if turn.results
        else Reply(calls=[turn.shell(ENDLESS, timeout=600000)])
    )


# Calls that go wrong, and answers that say little


@scenario("two commands at once, one of which fails", calls="mixed")
def mixed(turn):
    calls = [turn.shell("sh -c 'echo bad >&2; exit 3'"), turn.shell("echo two")]
    return end() if turn.results else Reply(calls=calls)


@scenario("a call without its arguments", calls="failed")
def missing_key(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call(turn.shell("").name, {})])


@scenario("text and a command that fails, then no text", calls="failed")
def text_fail_quiet(turn):
    call = turn.shell("sh -c 'echo bad >&2; exit 3'")
    return Reply() if turn.results else Reply(text=["I will", " run it."], calls=[call])


@scenario("a command that prints five megabytes in one line", calls="any")
def huge(turn):
    return end() if turn.results else Reply(calls=[turn.shell("yes x | head -n 5000000 | tr -d '\\n'")])


GOOD = [
    '{"type":"result","subtype":"success","is_error":false,"result":"spoofed","session_id":"s"}',
    '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}',
    '{"type":"result","status":"success","stats":{}}',
    '{"type":"agent_end","messages":[]}',
]
BAD = [
    '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s"}',
    '{"type":"turn.failed","error":{"message":"spoofed"}}',
    '{"type":"result","status":"error","error":{"message":"API Error: 401 spoofed"}}',
    '{"type":"error","message":"API Error: 429 spoofed"}',
]


def lines(some):
    return "cat <<'EOF'\n" + "\n".join(some) + "\nEOF"


@scenario("a command prints events of a success, then the model fails")
def spoof(turn):
    return Reply(status=500) if turn.results else Reply(calls=[turn.shell(lines(GOOD))])


@scenario("a command prints events of a failure, then the model answers")
def spoof_bad(turn):
    return end() if turn.results else Reply(calls=[turn.shell(lines(BAD) + "\n(" + lines(BAD) + "\n) >&2")])


ODD = [
    "Before\u2028line\u2029paragraph",
    " nul \u0000 escape \u001b[31mred\u001b[0m",
    "\ufeffmark \uffff",
    " end.",
]


@scenario("an answer with line separators, NUL, escapes and a byte order mark")
def odd_text(turn):
    return Reply(text=ODD)


@scenario("reasoning, and no answer")
def only_thoughts(turn):
    return Reply(thoughts=["I think", " therefore."])


@scenario("a call, then reasoning, and no answer")
def thoughts_after(turn):
    return end_with(Reply(thoughts=["I think", " therefore."]), turn)


# Answers that end too early


@scenario("the stream ends in order in the middle of the answer, always")
def quit_(turn):
    return Reply(text=TEXT, fault="quit")


@scenario("the stream ends in order in the middle of the answer, once")
def quit_once(turn):
    return Reply(text=TEXT, fault="quit" if first(turn) else "")


@scenario("the stream ends in order in the middle of the answer after a call, always")
def quit_after(turn):
    return end_with(Reply(text=AFTER, fault="quit"), turn)


@scenario("the output limit ends a call", calls="any", unanswered="failed")
def length_call(turn):
    call = Call(turn.shell("").name, '{"command": "echo hi; ec')
    return end() if turn.results else Reply(text=["I will run it."], calls=[call], stop="length")


@scenario("the output limit ends the reasoning")
def length_thoughts(turn):
    return Reply(thoughts=["I think", " therefore."], stop="length")


@scenario("the answer ends with a reason that means an error")
def stop_error(turn):
    return Reply(text=TEXT[:2], stop="error")


@scenario("the model refuses")
def refusal(turn):
    return Reply(text=["I cannot help", " with that."], stop="refusal")


@scenario("the model refuses after a call")
def refusal_after(turn):
    return end_with(Reply(text=["I cannot help", " with that."], stop="refusal"), turn)


# More failures of the model


HTML = "<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"


@scenario("a web page instead of an answer, always")
def html_200(turn):
    return Reply(page=HTML.format("Sign in"))


@scenario("HTTP 502 with a web page, always")
def html_502(turn):
    return Reply(status=502, page=HTML.format("502 Bad Gateway"))


@scenario("HTTP 200 without a body after a call, always")
def empty_200_after(turn):
    return end_with(Reply(page="\n", kind="text/event-stream"), turn)


@scenario("HTTP 403")
def http_403(turn):
    return Reply(status=403)


@scenario("HTTP 413")
def http_413(turn):
    return Reply(status=413)


@scenario("HTTP 503, once")
def http_503_once(turn):
    return Reply(status=503) if first(turn) else Reply(text=TEXT)


@scenario("HTTP 429 with an hour to wait, always")
def http_429_hour(turn):
    said = "You exceeded your current quota, please check your plan and billing details."
    return Reply(status=429, after="3600", said=said)


@scenario("HTTP 400: no credit")
def http_400_credit(turn):
    said = "Your credit balance is too low to access the API. Please go to Plans & Billing."
    return Reply(status=400, said=said)


OVERFLOW = "prompt is too long: 250000 tokens > 200000 maximum (maximum context length)"


@scenario("HTTP 400: the conversation is too long, always")
def context(turn):
    return Reply(status=400, said=OVERFLOW)


@scenario("HTTP 400: the conversation is too long after a call, once")
def context_once(turn):
    return Reply(status=400, said=OVERFLOW) if turn.number == 2 else end_with(end(), turn)


@scenario("the conversation nearly fills the model", calls="any")
def compact(turn):
    tokens = 199_000 if turn.model.startswith("claude") else 99_000
    if turn.results or turn.number > 1:
        return end()
    return Reply(calls=[turn.shell("echo hi")], tokens=tokens)


# What is wrong around the agent


@scenario("a command kills the agent", calls="any", unanswered="failed")
def kill_parent(turn):
    return end() if turn.results else Reply(calls=[turn.shell("kill -KILL $PPID; sleep 2; echo hi")])


@scenario("a command leaves a process behind that holds its output", calls="any")
def left_behind(turn):
    return end() if turn.results else Reply(calls=[turn.shell("sleep 25 & echo hi")])


@scenario("a command deletes the working directory", calls="any")
def no_folder(turn):
    if turn.results >= 2 or turn.number > 2:
        return end()
    return Reply(calls=[turn.shell('rm -rf "$PWD"; echo gone' if not turn.results else "echo hi")])


@scenario("a home that cannot be written", needs="read-only-home", calls="any")
def home_read_only(turn):
    return end_with(end(), turn)


@scenario("a disk that is full from the start", needs="full", calls="any")
def disk_full(turn):
    return end_with(end(), turn)


@scenario("a configuration that is cut in half", needs="broken-config", calls="any")
def config_broken(turn):
    return end_with(end(), turn)


@scenario("an empty prompt", needs="no-prompt")
def no_prompt(turn):
    return Reply(text=TEXT)


@scenario("a consumer that waits twenty seconds", needs="slow")
def slow_reader(turn):
    return end() if turn.results >= 3 else Reply(text=[piece(0)[:20000]], calls=[turn.shell("seq 1 3000")])


@scenario("a second message that the model cannot answer", needs="input")
def second_fails(turn):
    return Reply(status=400) if SECOND in turn.user else Reply(text=TEXT)


@scenario("a sub-agent whose model fails", calls="any")
def subagent_fails(turn):
    if NESTED in turn.user:
        return Reply(status=400, aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])


@scenario("a command in plan mode", needs="plan", calls="any")
def plan(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[turn.shell("touch made.txt")])


@scenario("a call of an MCP server, which dies", needs="mcp", calls="failed")
def mcp_dies(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="die")])


@scenario("an MCP server that does not exist", needs="mcp absent")
def mcp_absent(turn):
    return Reply(text=TEXT)


@scenario("hooks that fail", needs="hooks fails", calls="any")
def hook_fails(turn):
    return end_with(end(), turn)


@scenario("a hook that blocks the prompt", needs="hooks block-prompt", calls="any")
def hook_blocks_prompt(turn):
    return end_with(end(), turn)


@scenario("a hook that ends the run before a command", needs="hooks halt", calls="any", unanswered="failed")
def hook_halts(turn):
    return end_with(end(), turn)


@scenario("more turns than are allowed", needs="max-turns", calls="any", unanswered="failed")
def max_turns(turn):
    return end() if turn.results >= 6 else Reply(text=["Again."], calls=[turn.shell(f"echo {turn.results}")])


@scenario("a question that no user can answer", needs="question", calls="any", unanswered="failed")
def question(turn):
    return end() if turn.results else Reply(text=["Let me ask."], calls=[turn.tool("^ask_user$", question="Which?")])


@scenario("the same command twelve times", calls="any", unanswered="failed")
def loop(turn):
    return end() if turn.results >= 12 else Reply(calls=[turn.shell("echo hi")])


# Nights that go wrong


@scenario("three commands that fail, one after the other, and an answer that says so", calls="failed")
def gives_up(turn):
    tries = ("make all", "cd none && make", "sh -c 'echo no rule >&2; exit 2'")
    if turn.results >= len(tries):
        return Reply(text=["I could not do it: every command failed."])
    return Reply(text=["I try again."], calls=[turn.shell(tries[turn.results])])


@scenario("a command that waits for a password", calls="failed", unanswered="failed")
def password(turn):
    ask = "read -r -p 'Password: ' said || exit 77"
    return end() if turn.results else Reply(calls=[turn.shell(ask)])


@scenario("two commands at once, one of which the tool ends after three seconds", calls="mixed")
def tool_timeout(turn):
    if turn.results:
        return end()
    slow = turn.shell("sleep 20; echo one")
    schema = (turn.tools.get(slow.name) or {}).get("properties") or {}
    numbers = {key: value for key, value in schema.items() if value.get("type") != "boolean"}
    limits = {key: value for key, value in numbers.items() if re.search("(?i)timeout", key)}
    if not limits:
        raise Missing("no limit of a command's time")
    for key, value in limits.items():
        short = re.search(r"(?i)_ms|\bms\b|millisecond", key + str(value.get("description")))
        slow.arguments[key] = 3000 if short else 3
    return Reply(calls=[slow, turn.shell("echo two")])


@scenario("HTTP 500 three times after a call, then an answer")
def http_500_thrice(turn):
    return Reply(status=500) if 2 <= turn.number <= 4 else end_with(end(), turn)


@scenario("HTTP 429 after a call, always")
def http_429_after(turn):
    return end_with(Reply(status=429), turn)


@scenario("the stream of the answer has a web page in the middle, always")
def garbage(turn):
    return Reply(text=TEXT, fault="garbage")


@scenario("the stream of the answer has a web page in the middle, once")
def garbage_once(turn):
    return Reply(text=TEXT, fault="garbage" if first(turn) else "")


@scenario("HTTP 200 with an error as JSON instead of a stream, always")
def error_200(turn):
    said = {"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": 429}}
    return Reply(page=json.dumps(said), kind="application/json")


@scenario("the server of the model is gone after a call", calls="any", unanswered="failed")
def server_gone(turn):
    return end() if turn.results else Reply(calls=[turn.shell("echo hi")], last=True)


@scenario("HTTP 400: the conversation is too long after a call, always")
def context_after(turn):
    return end_with(Reply(status=400, said=OVERFLOW), turn)


@scenario("the output limit ends the second of two calls", calls="any", unanswered="failed")
def length_parallel(turn):
    calls = [turn.shell("echo one"), Call(turn.shell("").name, '{"command": "echo hi; ec')]
    return end() if turn.results else Reply(text=["I will run both."], calls=calls, stop="length")


@scenario("a command kills its shell", calls="failed")
def kill_shell(turn):
    return end() if turn.results else Reply(calls=[turn.shell("kill -KILL $$; echo hi")])


@scenario("a command ends its process group", calls="any", unanswered="failed", either=True)
def term_group(turn):
    return end() if turn.results else Reply(calls=[turn.shell("kill -TERM 0; sleep 2; echo hi")])


@scenario("a command sends the agent SIGTERM", calls="any", unanswered="failed", either=True)
def term_parent(turn):
    return end() if turn.results else Reply(calls=[turn.shell("kill -TERM $PPID; sleep 2; echo hi")])


@scenario("a command sends the agent SIGHUP", calls="any", unanswered="failed", either=True)
def hup_parent(turn):
    return end() if turn.results else Reply(calls=[turn.shell("kill -HUP $PPID; sleep 2; echo hi")])


@scenario("a command stops the agent for three seconds", calls="any")
def paused(turn):
    command = "p=$PPID; (sleep 3; kill -CONT $p) & kill -STOP $p; wait; echo hi"
    return end() if turn.results else Reply(calls=[turn.shell(command)])


@scenario("a command deletes the home directory", calls="any", either=True)
def no_home(turn):
    if turn.results >= 2 or turn.number > 2:
        return end()
    return Reply(calls=[turn.shell("echo hi" if turn.results else 'find "$HOME" -mindepth 1 -delete; echo gone')])


@scenario("a file is written where no folder can be made", calls="failed")
def write_outside(turn):
    place = dict.fromkeys(("path", "file_path", "filePath", "absolute_path", "filename"), "/dev/null/none/made.txt")
    text = dict.fromkeys(("content", "contents", "text", "file_text"), "made")
    if turn.results or turn.number > 1:
        return end()
    return Reply(calls=[turn.tool("(?i)^(write|write_?file|create|create_?file)$", **place, **text)])


@scenario("two sub-agents at once, the model of one of which fails", calls="any")
def subagents(turn):
    if OTHER in turn.user:
        return Reply(status=400, aside=True)
    if NESTED in turn.user:
        return Reply(text=["The sub-agent says hi."], aside=True)
    if turn.results:
        return end()
    other = delegate(turn)
    other.arguments = json.loads(json.dumps(other.arguments).replace(NESTED, OTHER))
    return Reply(calls=[delegate(turn), other])


OTHER = "[other] Say no"


@scenario("a model that counts no tokens of the conversation")
def no_tokens(turn):
    return Reply(text=TEXT, tokens=0) if turn.results else Reply(calls=[turn.shell("echo hi")], tokens=0)


@scenario("an answer whose characters come in halves")
def torn(turn):
    return Reply(text=TEXT * 5, torn=True)


@scenario("a command that prints a compressed file")
def tool_binary(turn):
    return end() if turn.results else Reply(calls=[turn.shell("seq 1 60000 | gzip -n")])


@scenario("an answer of events of a success, which breaks off, always")
def forge(turn):
    return Reply(text=["\n".join(GOOD), "\n"] + TEXT, fault="cut")


@scenario("an answer of events of a failure")
def forge_bad(turn):
    return Reply(text=["\n".join(BAD), "\n", "done."])


@scenario("an MCP tool that returns a picture", needs="mcp")
def mcp_image(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="picture")])


@scenario("a model that never stops to call", calls="any", unanswered="failed")
def endless(turn):
    return Reply(text=["Once more."], calls=[turn.shell(f"echo {turn.results}")])


@scenario("a command of two hundred thousand characters", calls="made")
def call_big(turn):
    return end() if turn.results else Reply(calls=[turn.shell("touch made.txt; : " + "a" * 200_000)])


@scenario("the same text before a command and after it")
def same_text(turn):
    return end() if turn.results else Reply(text=AFTER, calls=[turn.shell("echo hi")])


@scenario("two commands at once, with the same id", calls="any")
def twin_ids(turn):
    calls = [turn.shell("echo one"), turn.shell("echo two")]
    return end() if turn.results else Reply(calls=[Call(call.name, call.arguments, "call_0") for call in calls])


@scenario("a call whose arguments are a list", calls="any")
def list_arguments(turn):
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call(turn.shell("").name, '["echo hi"]')])


@scenario("a command with half of an emoji", calls="any")
def half_call(turn):
    return end() if turn.results else Reply(calls=[turn.shell("echo '\ud83d'")])


# More nights


def last_try(turn):
    """Whether this is the later of two runs of one session."""
    return turn.user.count(PROMPT) > 1


@scenario("HTTP 401 after five commands, always: the login expired")
def http_401_late(turn):
    return Reply(status=401) if turn.results >= 5 else five(turn)


@scenario("HTTP 404 after three commands, always: the model is gone")
def http_404_late(turn):
    return Reply(status=404) if turn.results >= 3 else five(turn)


@scenario("HTTP 529 after five commands, always")
def http_529_late(turn):
    return Reply(status=529) if turn.results >= 5 else five(turn)


@scenario("HTTP 429 with five seconds to wait after a call, twice, then an answer")
def http_429_twice(turn):
    return Reply(status=429, after="5") if turn.number in (2, 3) else end_with(end(), turn)


@scenario("HTTP 504 with a web page after a call, always")
def html_504_after(turn):
    return end_with(Reply(status=504, page=HTML.format("504 Gateway Time-out")), turn)


@scenario("HTTP 407 with a web page: a proxy wants a password")
def html_407(turn):
    return Reply(status=407, page=HTML.format("407 Proxy Authentication Required"))


@scenario("a server that does not speak TLS", needs="no-tls")
def no_tls(turn):
    return Reply(text=TEXT)


@scenario("a server whose name is unknown", needs="no-name")
def no_dns(turn):
    return Reply(text=TEXT)


@scenario("the stream of the answer reports a rate limit, always")
def error_429(turn):
    said = "Rate limit reached for requests. Limit 30000, used 28000. Please try again in 6s."
    return Reply(text=TEXT, fault="error", told=429, said=said)


@scenario("the stream of the answer reports that the conversation is too long, always")
def error_context(turn):
    return Reply(text=TEXT, fault="error", told=400, said=OVERFLOW)


@scenario("the stream of the answer reports that the credit is used up, after a call, always")
def error_402_after(turn):
    said = "You exceeded your current quota, please check your plan and billing details."
    return end_with(Reply(text=AFTER, fault="error", told=402, said=said), turn)


@scenario("the stream reports an error after a call, once")
def error_after_once(turn):
    return end_with(Reply(text=AFTER, fault="error" if turn.number == 2 else ""), turn)


@scenario("the stream ends in order in the middle of the answer after a call, once")
def quit_after_once(turn):
    return end_with(Reply(text=AFTER, fault="quit" if turn.number == 2 else ""), turn)


def broken_call(turn, fault):
    calls = [turn.shell("echo hi; echo more")]
    return Reply(text=["I will run it."], calls=calls, fault=fault)


@scenario("the connection is lost within a call, always", calls="any")
def cut_call_always(turn):
    return end() if turn.results else broken_call(turn, "cut-call")


@scenario("the stream ends in order within a call, always", calls="any")
def quit_call(turn):
    return end() if turn.results else broken_call(turn, "quit-call")


@scenario("the stream reports an error within a call, once", calls="any")
def error_call(turn):
    return end() if turn.results else broken_call(turn, "error-call" if first(turn) else "")


@scenario("HTTP 529 after a call that nearly fills the model, always", calls="any", unanswered="failed")
def compact_fails(turn):
    return compact(turn) if first(turn) and not turn.results else Reply(status=529)


@scenario("the model hangs after a call that nearly fills it", calls="any", stalls=True)
def compact_hangs(turn):
    return compact(turn) if first(turn) and not turn.results else Reply(text=AFTER, fault="hang-start")


@scenario("the output limit ends the answer before its first word")
def length_empty(turn):
    return Reply(stop="length")


@scenario("the output limit ends the answer before its first word, after a call")
def length_empty_after(turn):
    return end_with(Reply(stop="length"), turn)


@scenario("the model refuses without a word")
def refusal_empty(turn):
    return Reply(stop="refusal")


@scenario("a command in each of two runs of one session, with the same id", needs="resume", calls="any")
def resume_tool(turn):
    call = turn.shell("echo hi")
    return end() if turn.number > 1 else Reply(calls=[Call(call.name, call.arguments, "call_0")])


@scenario("an answer in a session whose first run failed after a call", needs="resume", calls="any")
def resume_failed(turn):
    return end() if last_try(turn) else end_with(Reply(status=400), turn)


@scenario("a failure in a session whose first run was answered", needs="resume")
def resume_fails(turn):
    return Reply(status=400) if last_try(turn) else Reply(text=TEXT)


@scenario("two messages, with a command for each", needs="input", calls="any")
def second_tool(turn):
    done = SECOND in turn.user
    if turn.results >= 1 + done:
        return Reply(text=AFTER if done else TEXT)
    return Reply(calls=[turn.shell("echo two" if done else "echo one")])


@scenario("a first message that the model cannot answer, and a second one that it can", needs="input", either=True)
def first_fails(turn):
    return Reply(text=AFTER) if SECOND in turn.user else Reply(status=400)


@scenario("two calls at once, one to a tool that does not exist", calls="any")
def mixed_unknown(turn):
    calls = [Call("no_such_tool", {"foo": "bar"}), turn.shell("echo two")]
    return end() if turn.results or turn.number > 1 else Reply(calls=calls)


@scenario("a command whose call has an odd id")
def odd_id(turn):
    call = turn.shell("echo hi")
    return end() if turn.results else Reply(calls=[Call(call.name, call.arguments, 'functions.sh:0/ä "x"' + "y" * 90)])


@scenario("a call whose arguments name the command twice", calls="any")
def twin_keys(turn):
    call = turn.shell("echo hi")
    text = json.dumps(call.arguments)
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call(call.name, text[:-1] + ", " + text[1:])])


@scenario("a call whose arguments are a hundred lists deep", calls="any")
def deep_arguments(turn):
    call = turn.shell("echo hi")
    deep = []
    for _ in range(100):
        deep = [deep]
    return end() if turn.results or turn.number > 1 else Reply(calls=[Call(call.name, {**call.arguments, "extra": deep})])


@scenario("empty lines before a command")
def blank_tool(turn):
    return end() if turn.results else Reply(text=["\n\n"], calls=[turn.shell("echo hi")])


@scenario("an answer, a command, and then no text")
def answer_first(turn):
    return Reply() if turn.results else Reply(text=AFTER, calls=[turn.shell("echo hi")])


@scenario("a command that prints for five seconds")
def progress(turn):
    command = r"seq 50 | while read -r i; do printf '\r%s%%' $i; sleep 0.1; done; echo"
    return end() if turn.results else Reply(calls=[turn.shell(command)])


PATHS = ("path", "file_path", "filePath", "absolute_path", "filename", "target_file")


def of_file(turn, pattern, path, **more):
    return turn.tool(pattern, **dict.fromkeys(PATHS, path), **more)


EDIT = r"(?i)^(edit|replace|str_?replace|edit_file|search_replace|multi_?edit)$"


@scenario("an edit of a text that the file does not have", calls="mixed")
def edit_none(turn):
    if turn.results >= 2 or turn.number > 2:
        return end()
    if not turn.results:
        return Reply(calls=[turn.shell("echo hi > some.txt")])
    old = dict.fromkeys(("old_string", "oldString", "old_str", "oldText", "old_text"), "not there")
    new = dict.fromkeys(("new_string", "newString", "new_str", "newText", "new_text"), "new")
    edits = [{"oldText": "not there", "newText": "new"}]
    return Reply(calls=[of_file(turn, EDIT, "some.txt", **old, **new, edits=edits, instruction="change it")])


@scenario("an edit that changes nothing", calls="any")
def edit_same(turn):
    if turn.results >= 2 or turn.number > 2:
        return end()
    if not turn.results:
        return Reply(calls=[turn.shell("echo hi > some.txt")])
    keys = "old_string oldString old_str oldText old_text new_string newString new_str newText new_text".split()
    edits = [{"oldText": "hi", "newText": "hi"}]
    return Reply(calls=[of_file(turn, EDIT, "some.txt", **dict.fromkeys(keys, "hi"), edits=edits, instruction="change it")])


@scenario("a file is read that does not exist", calls="failed")
def read_none(turn):
    call = of_file(turn, "(?i)^(read|read_?file|view)$", "none.txt")
    return end() if turn.results or turn.number > 1 else Reply(calls=[call])


@scenario("a picture is read", calls="any")
def read_picture(turn):
    if turn.results >= 2 or turn.number > 2:
        return end()
    if not turn.results:
        return Reply(calls=[turn.shell(f"echo {DOT} | base64 -d > dot.png")])
    return Reply(calls=[of_file(turn, "(?i)^(read|read_?file|view|view_image)$", "dot.png")])


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@scenario("a page of the web, where no web is", calls="failed")
def web(turn):
    address = "http://example.com/"
    call = turn.tool("(?i)^(web_?fetch|fetch|fetch_?url|fetch_?web_?page)$", url=address, prompt=f"Read {address}")
    return end() if turn.results or turn.number > 1 else Reply(calls=[call])


@scenario("a list of what is to do", calls="any")
def todo(turn):
    todos = [
        {"id": "1", "content": "Say hi", "title": "Say hi", "description": "Say hi", "activeForm": "Saying hi"},
        {"id": "2", "content": "Rest", "title": "Rest", "description": "Rest", "activeForm": "Resting"},
    ]
    todos = [{**one, "status": "pending", "priority": "low"} for one in todos]
    plan = [{"step": "Say hi", "status": "in_progress"}, {"step": "Rest", "status": "pending"}]
    call = turn.tool("(?i)^(todo|todo_?write|todo_?list|write_?todos|update_?(plan|todo)|task_?create)$", todos=todos, plan=plan)
    return end() if turn.results or turn.number > 1 else Reply(calls=[call])


@scenario("a question to the user in a run without a user", calls="any", either=True)
def ask(turn):
    options = [{"label": "One", "description": "one"}, {"label": "Two", "description": "two"}]
    asked = [{"id": "q", "question": "Which?", "header": "Which", "type": "choice", "multiSelect": False, "options": options}]
    call = turn.tool("(?i)^(ask_?user|ask_?user_?question|question|ask_?followup_?question|request_?user_?input)$",
                     question="Which?", questions=asked, choices=["One", "Two"], options=["One", "Two"])
    return end() if turn.results or turn.number > 1 else Reply(calls=[call])


@scenario("an MCP tool that answers with an error of the protocol", needs="mcp", calls="failed")
def mcp_error(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="error")])


@scenario("an MCP tool that returns nothing", needs="mcp")
def mcp_empty(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="nothing")])


@scenario("an MCP tool that returns a link and structured content", needs="mcp")
def mcp_link(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="link")])


@scenario("an MCP tool that never answers", needs="mcp", stalls=True, calls="unfinished")
def mcp_hangs(turn):
    return end() if turn.results else Reply(calls=[turn.tool("(?i)echo", text="hang")])


@scenario("a sub-agent that starts a sub-agent", calls="any")
def subagent_deep(turn):
    if NESTED in turn.user:
        try:
            calls = [] if turn.results else [delegate(turn)]
        except Missing:
            calls = []
        return Reply(text=["The sub-agent says hi."], calls=calls, aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])


@scenario("a sub-agent that says nothing", calls="any")
def subagent_empty(turn):
    if NESTED in turn.user:
        return Reply(aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])


@scenario("a sub-agent whose answer the output limit ends", calls="any")
def subagent_length(turn):
    if NESTED in turn.user:
        return Reply(text=["The sub-agent"], stop="length", aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])


@scenario("a sub-agent whose model hangs", calls="any", stalls=True)
def subagent_hangs(turn):
    if NESTED in turn.user:
        return Reply(text=["The sub-agent", " says hi."], fault="hang", aside=True)
    return end() if turn.results else Reply(calls=[delegate(turn)])
