"""A small MCP server on standard input and output: one tool, `echo`."""

import json
import sys

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
        if text == "picture":
            return {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}
        return {"content": [{"type": "text", "text": text}], "isError": text == "fail"}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = {
            "jsonrpc": "2.0",
            "id": request["id"],
            "result": result(request["method"], request.get("params") or {}),
        }
        print(json.dumps(answer), flush=True)
