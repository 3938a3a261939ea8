"""A small ACP client that looks like an agent: it starts one, gives it a prompt, and copies its lines.

    acp.py [--deny] [--auth METHOD] [--mcp SERVER] [--second PROMPT] [--cancel-at FILE] PROMPT -- COMMAND…

SIGTERM and SIGINT become `session/cancel`. The exit status is that of the agent,
or 0 if it had to be stopped.
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

START, TURN, GONE = 40, 50, 6


class Client:
    def __init__(self, command, deny):
        self.deny = deny
        self.session = None
        self.lines = queue.Queue()
        self.sending = threading.Lock()
        self.agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.agent.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            self.lines.put(line)
        self.lines.put(None)

    def send(self, **message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        with self.sending:
            try:
                self.agent.stdin.write(line.encode())
                self.agent.stdin.flush()
            except OSError:
                pass

    def call(self, number, method, params, limit):
        """The response to our request, or None. Answers the agent's own requests meanwhile."""
        self.send(id=number, method=method, params=params)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                return None
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message and "id" in message:
                self.answer(message)
            elif message.get("id") == number and "method" not in message:
                return message
        return None

    def answer(self, request):
        if request["method"] == "session/request_permission":
            outcome = {"outcome": "selected", "optionId": self.choose(request["params"]["options"])}
            self.send(id=request["id"], result={"outcome": outcome})
        else:
            self.send(id=request["id"], error={"code": -32601, "message": "Method not found"})

    def choose(self, options):
        kind = "reject_once" if self.deny else "allow_once"
        fallback = options[-1 if self.deny else 0]
        return next((option for option in options if option.get("kind") == kind), fallback)["optionId"]

    def cancel(self, *_):
        # A handler may interrupt a `send`, so another thread takes the lock.
        if self.session:
            message = {"method": "session/cancel", "params": {"sessionId": self.session}}
            threading.Thread(target=self.send, kwargs=message).start()

    def cancel_at(self, file):
        """Cancels the turn once this file is there."""
        while not os.path.exists(file):
            time.sleep(0.1)
        time.sleep(2)
        self.cancel()

    def end(self):
        """Closes the agent's input. Returns its exit status."""
        try:
            self.agent.stdin.close()
        except OSError:
            pass
        try:
            return self.agent.wait(GONE)
        except subprocess.TimeoutExpired:
            # It stays. Then its status would be ours.
            self.agent.kill()
            self.agent.wait()
            return 0


def converse(client, options):
    capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    about = {"name": "lab", "title": "lab", "version": "1"}
    if not client.call(
        0,
        "initialize",
        {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": about},
        START,
    ):
        return
    if options.auth:
        client.call(1, "authenticate", {"methodId": options.auth}, START)
    servers = (
        [{"name": "lab", "command": options.mcp[0], "args": options.mcp[1:], "env": []}]
        if options.mcp
        else []
    )
    started = client.call(2, "session/new", {"cwd": os.getcwd(), "mcpServers": servers}, START)
    if not started or "result" not in started:
        return
    client.session = started["result"]["sessionId"]
    if options.cancel_at:
        threading.Thread(target=client.cancel_at, args=(options.cancel_at,), daemon=True).start()
    for number, text in enumerate([options.prompt, options.second], 3):
        if text:
            prompt = [{"type": "text", "text": text}]
            client.call(number, "session/prompt", {"sessionId": client.session, "prompt": prompt}, TURN)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--auth")
    parser.add_argument("--mcp", type=json.loads)
    parser.add_argument("--second")
    parser.add_argument("--cancel-at")
    parser.add_argument("prompt")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    client = Client(options.command[options.command[0] == "--" :], options.deny)
    signal.signal(signal.SIGTERM, client.cancel)
    signal.signal(signal.SIGINT, client.cancel)
    converse(client, options)
    status = client.end()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
