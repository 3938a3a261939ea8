"""Reads conversions with the readers of their formats: validate.py BINARY FOLDER..."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def otlp_json():
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    def read(text):
        data = json.loads(text)
        # Ids are hexadecimal in OTLP JSON, and base64 in the JSON of protocol buffers.
        import base64

        for resource in data["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    for key, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                        if key in span:
                            raw = bytes.fromhex(span[key])
                            assert len(raw) == size and any(raw), span
                            span[key] = base64.b64encode(raw).decode()
        parsed = ParseDict(data, TracesData())
        spans = [
            span
            for resource in parsed.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        ids = [span.span_id for span in spans]
        assert len(ids) == len(set(ids)), "two spans have one id"
        assert {span.parent_span_id for span in spans[:-1]} <= {spans[-1].span_id}
        for span in spans:
            assert span.start_time_unix_nano <= span.end_time_unix_nano, span

    return read


def chrome_trace():
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    def read(text):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(text.encode())
            file.flush()
            with TraceProcessor(trace=file.name, config=TraceProcessorConfig()) as trace:
                wrong = trace.query(
                    "select name, value from stats where severity = 'error' and value > 0"
                )
                wrong = [(row.name, row.value) for row in wrong]
                assert not wrong, wrong
                slices = next(iter(trace.query("select count(*) as n from slice"))).n
                events = json.loads(text)["traceEvents"]
                expected = sum(event["ph"] in "bXi" for event in events)
                assert slices == expected, (slices, expected)

    return read


def atif():
    from harbor.models.trajectories.trajectory import Trajectory

    def read(text):
        Trajectory.model_validate_json(text)

    return read


def streams(folder):
    return sorted(Path(folder).rglob("*.ndjson"))


def profile(path):
    parts = path.parts
    if "agents" in parts:
        return ["--profile", parts[parts.index("agents") + 1]]
    return []


def main():
    binary, *folders = sys.argv[1:]
    failed = False
    for form in (otlp_json, atif, chrome_trace):
        name = form.__name__.replace("_", "-")
        try:
            read = form()
        except ImportError as error:
            print(f"{name}: skipped: {error}")
            continue
        count = wrong = 0
        for path in (path for folder in folders for path in streams(folder)):
            command = [binary, "--quiet", "--no-config", *profile(path), "--to", name, str(path)]
            text = subprocess.run(command, capture_output=True).stdout.decode()
            if not text:
                continue
            count += 1
            try:
                read(text)
            except Exception as error:  # Whatever the reader raises.
                wrong += 1
                print(f"{name}: {path}: {str(error)[:600]}")
        failed |= wrong > 0 or count == 0
        print(f"{name}: {count} streams read, {wrong} wrong")
    sys.exit(failed)


main()
