"""A small MCP server on standard input and output: one tool, `echo`."""

import json
import sys
import time
from pathlib import Path

TOOL = {
    "name": "echo",
    "description": "Says the text again",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
# One transparent dot.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def result(method, params):
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lab", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        text = params["arguments"].get("text", "")
        if text == "die":
            sys.exit(1)
        if text == "hang":
            Path("started").touch()
            time.sleep(600)
        if text == "nothing":
            return {"content": []}
        if text == "link":
            link = {"type": "resource_link", "uri": "file:///lab/some.txt", "name": "some.txt"}
            return {"content": [link], "structuredContent": {"said": "hi"}}
        if text == "picture":
            return {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}
        return {"content": [{"type": "text", "text": text}], "isError": text == "fail"}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        params = request.get("params") or {}
        if (params.get("arguments") or {}).get("text") == "error":
            answer["error"] = {"code": -32603, "message": "the tool is broken"}
        else:
            answer["result"] = result(request["method"], params)
        print(json.dumps(answer), flush=True)
