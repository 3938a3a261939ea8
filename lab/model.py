"""The scripted model: a server on 127.0.0.1 that answers one run of one agent as a scenario says."""

import gzip
import json
import re
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import wire

NAME = "scripted-model"
HANG = 600
GARBAGE = "<html><head><title>504 Gateway Time-out</title></head></html>"
LOSSES = {one: one.split("-")[0] for one in ("cut", "cut-late", "cut-call", "reset", "quit", "quit-call")}


@dataclass
class Call:
    name: str
    arguments: dict | str
    id: str = ""  # one that the model chooses; otherwise each call has another


@dataclass
class Reply:
    """What the model answers. `fault` says what goes wrong on the way:

    hang-start, no answer; hang, an answer that stops in the middle; hang-late, after the text;
    hang-call, within a call's arguments; cut, a connection closed in the middle; cut-late, after the
    text; cut-call, within a call's arguments; reset, a connection reset in the middle; quit, a stream
    that ends in order in the middle; quit-call, within a call's arguments; error, an error that the
    stream reports in the middle; error-call, within a call's arguments; garbage, a web page in the
    middle of the stream.
    """

    text: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    thoughts: list = field(default_factory=list)
    stop: str = "end"
    fault: str = ""
    status: int = 200
    said: str = ""  # the message of an error, instead of the usual one
    after: str = ""  # its header `retry-after`
    page: str = ""  # what the server sends instead of an answer, as `kind`
    kind: str = "text/html"
    tokens: int = 12  # how long it says that the conversation is
    aside: bool = False  # not for the main conversation
    answers: bool = False  # the arguments of its call are the answer
    torn: bool = False  # its bytes come three at a time, in plain UTF-8
    last: bool = False  # the server ends after it
    told: int = 500  # the status of an error that the stream reports


class Missing(Exception):
    """The agent offers no tool that the scenario needs."""


class Turn:
    """One request of the agent, as a scenario sees it."""

    def __init__(self, body, number):
        self.number = number
        self.tools = wire.tools(body)
        self.results = wire.results(body)
        self.user = wire.said_by_user(body)
        self.model = str(body.get("model") or "")
        self.body = body

    def shell(self, command, **more):
        """A call of the agent's shell."""
        name = next((name for name in SHELLS if name in self.tools), None)
        name = name or next((name for name in self.tools if SHELL_LIKE.search(name)), None)
        if name is None:
            raise Missing("no shell")
        return Call(name, fill(self.tools[name], command, more))

    def kind(self, name, kinds):
        """The first of these kinds that the agent names with a tool, or anywhere."""
        tools = [json.dumps(tool) for tool in self.body.get("tools") or []]
        own = " ".join(text for text in tools if f'"{name.split("/")[-1]}"' in text)
        named = [kind for text in (own, json.dumps(self.body)) for kind in kinds if re.search(rf"\b{kind}\b", text)]
        return named[0] if named else kinds[0]

    def tool(self, pattern, command="", **more):
        """A call of the first tool whose name fits."""
        name = next((name for name in self.tools if re.search(pattern, name)), None)
        if name is None:
            raise Missing(f"no tool like {pattern}")
        return Call(name, fill(self.tools[name], command, more))


SHELLS = """
    run_shell_command exec_command shell_command shell Bash bash Shell execute_bash terminal Execute
    execute_command run_commands run_command local_shell run_terminal_command
""".split()
SHELL_LIKE = re.compile(r"shell|bash|command|exec|terminal", re.I)


def fill(schema, command, more):
    """Arguments that satisfy a tool's schema: `more` and the command where they belong."""
    properties = (schema or {}).get("properties") or {}
    required = set((schema or {}).get("required") or [])
    given = {}
    for key, value in properties.items():
        kind = kind_of(value)
        if key in more:
            given[key] = more[key]
        elif command and key in ("command", "cmd", "script"):
            given[key] = ["bash", "-c", command] if kind == "array" else command
        elif command and key == "commands":
            items = (value.get("items") or {}) if kind == "array" else None
            inner = fill(items, command, {}) if items and kind_of(items) == "object" else command
            given[key] = [inner] if kind == "array" else command
        elif key in required:
            given[key] = value["enum"][0] if value.get("enum") else DUMMY.get(kind, "say hi")
    if command and not given.keys() & {"command", "cmd", "commands", "script"}:
        given["command"] = command
    if "security_risk" in given:
        given["security_risk"] = "LOW"
    return given


DUMMY = {"boolean": False, "integer": 30, "number": 30, "array": [], "object": {}}


def kind_of(schema):
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    for one in schema.get("anyOf", []) + schema.get("oneOf", []):
        if kind is None and one.get("type") != "null":
            kind = one.get("type")
    return (kind or "string").lower()


class Model:
    """The server of one run. `log` has every request with the reply that it got."""

    def __init__(self, script):
        self.script = script
        self.log = []
        self.asked = None  # when the first request came
        self.missing = None
        self.stalled = threading.Event()
        self.lock = threading.Lock()
        self.count = 0
        self.gone = False
        self.ended = 0  # answers without a call that were given to the end
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.model = self
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, body):
        """The reply to a request, written into the log."""
        with self.lock:
            self.asked = self.asked or time.monotonic()
            # Requests without tools ask for titles and summaries.
            main = bool(wire.tools(body))
            self.count += main
            turn = Turn(body, self.count)
            try:
                reply = self.script(turn) if main else self.aside(turn)
            except Missing as missing:
                self.missing = str(missing)
                reply = Reply(text=["I cannot do that."])
            entry = {
                "path": path,
                "main": main,
                "results": turn.results,
                "tools": sorted(turn.tools),
                "reply": {**vars(reply), "calls": [vars(call) for call in reply.calls]},
            }
            self.log.append(entry)
            return reply, len(self.log)

    def aside(self, turn):
        """Failures meet every request; any other request without tools gets a title."""
        turn.number = turn.number or 1
        try:
            reply = self.script(turn)
        except Missing:
            return Reply(text=["A title"])
        return reply if reply.status != 200 or reply.page or reply.fault == "hang-start" else Reply(text=["A title"])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_CONNECT(self):
        self.send_json(403, {})

    def do_GET(self):
        if not re.search(r"/models/?(\?.*)?$", self.path):
            return self.send_json(404, {"error": {"message": "not here", "type": "not_found"}})
        model = {
            "id": NAME,
            "object": "model",
            "type": "model",
            "name": f"models/{NAME}",
            "display_name": "Scripted",
            "created": wire.STAMP,
            "owned_by": "lab",
            "context_length": 100000,
        }
        # Codex reads `models` and expects another kind of entries there.
        others = [] if "codex" in self.headers.get("user-agent", "") else [model]
        self.send_json(200, {"object": "list", "data": [model], "models": others, "has_more": False})

    def do_POST(self):
        body = self.read_json()
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.send_json(200, {"input_tokens": 10})
        if path.endswith(":countTokens"):
            return self.send_json(200, {"totalTokens": 10})
        protocol = wire.protocol(path)
        if protocol is None or not isinstance(body, dict):
            return self.send_json(404, {"error": {"message": "not here"}})
        model = self.server.model
        if model.gone:
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        reply, number = model.answer(path, body)
        model.ended += bool(wire.tools(body)) and reply.status == 400
        if reply.page:
            return self.send_content(reply.status, reply.kind, reply.page.encode())
        if reply.status != 200:
            after = reply.after or ("1" if reply.status == 429 else "")
            headers = [("retry-after", after)] if after else []
            return self.send_json(reply.status, wire.error(protocol, reply.status, reply.said), headers)
        name = body.get("model") or NAME
        streamed = body.get("stream") or path.endswith(":streamGenerateContent")
        if reply.fault == "hang-start" or (reply.fault.startswith("hang") and not streamed):
            return self.hang()
        if reply.fault in ("error", "error-call", "garbage") and not streamed:
            return self.send_json(reply.told, wire.error(protocol, reply.told, reply.said))
        model.gone = reply.last
        if streamed:
            faults = {"error": wire.stream_error(protocol, reply.told, reply.said), "garbage": (None, GARBAGE)}
            self.send_stream(wire.STREAM[protocol](reply, number, name), faults, reply.torn)
        else:
            whole = wire.WHOLE[protocol](reply, number, name)
            self.send_json(200, whole, lost=LOSSES.get(reply.fault))
        model.ended += bool(wire.tools(body)) and not reply.fault and not reply.calls
        if reply.last:
            self.close_connection = True
            self.server.shutdown()
            self.server.server_close()

    def send_stream(self, events, faults, torn=False):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            if event in ("cut", "reset"):
                return self.lose(event)
            if event == "quit":
                break
            if event == "hang":
                return self.hang()
            failed = isinstance(event, str)
            name, data = faults[event] if failed else event
            data = data if isinstance(data, str) else json.dumps(data, ensure_ascii=not torn)
            text = ((f"event: {name}\n" if name else "") + f"data: {data}\n\n").encode()
            size = 3 if torn else len(text)
            for at in range(0, len(text), size):
                part = text[at : at + size]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            if failed:
                break
            time.sleep(0.02)
        self.wfile.write(b"0\r\n\r\n")

    def send_json(self, status, value, headers=(), lost=None):
        self.send_content(status, "application/json", json.dumps(value).encode(), headers, lost)

    def send_content(self, status, kind, content, headers=(), lost=None):
        if lost == "quit":
            # In order, but not whole.
            content, lost = content[: len(content) // 2], None
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if lost else content)
        if lost:
            self.lose(lost)

    def lose(self, how):
        """Ends the connection before the answer is complete: closes it, or resets it."""
        self.wfile.flush()
        time.sleep(0.2)
        self.close_connection = True
        if how == "reset":
            # A linger time of 0 sends RST, as soon as nobody else holds the connection.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)

    def hang(self):
        self.wfile.flush()
        self.server.model.stalled.set()
        time.sleep(HANG)

    def read_json(self):
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        try:
            return json.loads(content)
        except ValueError:
            return None
