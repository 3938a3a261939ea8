"""Writes python/ndjson_check/_summary.py from the schema of the JSON report: `python summary.py`."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import wrap

HERE = Path(__file__).resolve().parent
SCHEMA = HERE / "../../crates/formats/src/report.schema.json"
FILE = HERE / "python/ndjson_check/_summary.py"

# Members of a line of the report that a summary does not have.
LEFT_OUT = {"type", "report_version", "tool_version", "sha256", "known", "stats"}
ALWAYS = {"passed", "headline", "answer", "last_message"}
ANSWER = {"description": "The answer: the last message of the agent, or its value as JSON; empty unless "
                         "the run succeeded.",
          "type": "string"}
LAST = {"description": "The last message of the agent, whether or not the run succeeded.", "type": "string"}
VALUE = {"description": "The answer as a value, where the agent was asked for one."}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


class Writer:
    def __init__(self) -> None:
        self.definitions = json.loads(SCHEMA.read_text())["$defs"]
        self.classes: dict[str, str] = {}

    def type(self, schema: dict, name: str) -> str:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            return self.type(self.definitions[name], name)
        if "type" not in schema and "enum" not in schema:
            return "Any"
        if "enum" in schema:
            return f"Literal[{', '.join(map(json.dumps, schema['enum']))}]"
        kind = schema["type"]
        if isinstance(kind, list):
            return f"Union[{', '.join(PLAIN[it] for it in kind)}]"
        if kind == "array":
            return f"list[{self.type(schema['items'], name)}]"
        if kind == "object" and "properties" in schema:
            return self.object(schema, name)
        if kind == "object":
            return f"dict[str, {self.type(schema['additionalProperties'], name)}]"
        return PLAIN[kind]

    def object(self, schema: dict, name: str) -> str:
        title = "".join(word.capitalize() for word in name.split("_"))
        if title in self.classes:
            return title
        required = set(schema.get("required", ()))
        members = [(key, self.type(it, key), it.get("description"))
                   for key, it in schema["properties"].items()]
        always = [it for it in members if it[0] in required]
        others = [it for it in members if it[0] not in required]
        base, text = "TypedDict", ""
        if always and others:
            base = f"_{title}"
            text = self.body(f"class {base}(TypedDict):", "What is always there.", always)
        says = schema.get("description", f"An item of `{name}s`.")
        total = "" if always and not others else ", total=False"
        text += self.body(f"class {title}({base}{total}):", says, others or always)
        self.classes[title] = text
        return title

    def body(self, head: str, says: str, members: list[tuple[str, str, str | None]]) -> str:
        lines = [head, f'    """{says}"""', ""]
        for key, kind, description in members:
            lines += wrap(description or "", 98, initial_indent="    # ", subsequent_indent="    # ")
            lines.append(f"    {key}: {kind}")
        return "\n".join(lines) + "\n\n\n"

    def write(self) -> str:
        stream = self.definitions["stream"]
        members = {key: it for key, it in stream["properties"].items() if key not in LEFT_OUT}
        members = {"passed": members.pop("passed"), "headline": members.pop("headline"),
                   "answer": ANSWER, "last_message": LAST, "structured": VALUE, **members}
        members["passed"] = {**members["passed"],
                             "description": "Whether the stream conforms and its run succeeded."}
        members["headline"] = {**members["headline"],
                               "description": "How the run ended, in one sentence for a reader."}
        required = (set(stream["required"]) - LEFT_OUT) | ALWAYS
        self.object({**stream, "properties": members, "required": sorted(required)}, "summary")
        head = ('"""Made by summary.py from the schema of the JSON report. Do not edit."""\n\n'
                "from typing import Any, Literal, TypedDict, Union\n\n\n")
        return head + "".join(self.classes.values()).rstrip("\n") + "\n"


if __name__ == "__main__":
    FILE.write_text(Writer().write())
