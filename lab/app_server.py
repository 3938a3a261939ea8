"""A small client of Codex's app-server: it starts one, gives it a prompt, and copies its lines.

    app_server.py PROMPT -- COMMAND…

SIGTERM and SIGINT become `turn/interrupt`. The exit status is that of the app-server, or 0 if it had
to be stopped.
"""

import json
import os
import signal
import subprocess
import sys
import threading

START, TURN, GONE = 40, 50, 6


class Client:
    def __init__(self, command):
        self.thread = self.turn = None
        self.sending = threading.Lock()
        self.answers = {}
        self.came = threading.Condition()
        self.ended = False
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.server.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            try:
                self.take(json.loads(line))
            except (ValueError, KeyError):
                continue
        with self.came:
            self.ended = True
            self.came.notify_all()

    def take(self, message):
        if "method" in message and "id" in message:
            refused = {"code": -32601, "message": "Method not found"}
            self.send(id=message["id"], error=refused)
        with self.came:
            if "method" not in message:
                self.answers[message["id"]] = message
            # Sub-agents have threads with turns of their own.
            own = message.get("params", {}).get("threadId") == self.thread
            if message.get("method") == "turn/started" and own:
                self.turn = message["params"]["turn"]["id"]
            if message.get("method") == "turn/completed" and own:
                self.answers["turn"] = message
            self.came.notify_all()

    def send(self, **message):
        with self.sending:
            try:
                self.server.stdin.write(json.dumps(message).encode() + b"\n")
                self.server.stdin.flush()
            except OSError:
                pass

    def wait(self, key, limit):
        with self.came:
            self.came.wait_for(lambda: key in self.answers or self.ended, limit)
            return self.answers.get(key)

    def call(self, number, method, params, limit):
        self.send(id=number, method=method, params=params)
        return self.wait(number, limit)

    def interrupt(self, *_):
        # A handler may interrupt a `send`, so another thread takes the lock.
        if self.turn:
            params = {"threadId": self.thread, "turnId": self.turn}
            message = {"id": 9, "method": "turn/interrupt", "params": params}
            threading.Thread(target=self.send, kwargs=message).start()

    def end(self):
        """Closes the server's input. Returns its exit status."""
        try:
            self.server.stdin.close()
        except OSError:
            pass
        try:
            return self.server.wait(GONE)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
            return 0


def converse(client, prompt):
    about = {"name": "lab", "title": "lab", "version": "1"}
    if not client.call(0, "initialize", {"clientInfo": about}, START):
        return
    client.send(method="initialized")
    place = {"cwd": os.getcwd(), "approvalPolicy": "never", "sandbox": "danger-full-access"}
    started = client.call(1, "thread/start", place, START)
    if not started or "result" not in started:
        return
    client.thread = started["result"]["thread"]["id"]
    say = {"threadId": client.thread, "input": [{"type": "text", "text": prompt}]}
    answer = client.call(2, "turn/start", say, START)
    if answer and "result" in answer:
        client.wait("turn", TURN)


def main():
    prompt, _, *command = sys.argv[1:]
    client = Client(command)
    signal.signal(signal.SIGTERM, client.interrupt)
    signal.signal(signal.SIGINT, client.interrupt)
    converse(client, prompt)
    status = client.end()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
