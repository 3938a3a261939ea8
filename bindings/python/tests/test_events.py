"""The classes of events."""

import ast
import contextlib
import copy
import dataclasses
import json
import pickle
import re
import weakref
from typing import get_args

import ndjson_check as nc
import pytest

from conftest import FIXTURES, ROOT

SCHEMA = json.loads(
    (ROOT / "crates/core/src/profile/builtin/events/schema.json").read_text(encoding="utf-8")
)
KINDS = {kind["$ref"].removeprefix("#/$defs/") for kind in SCHEMA["oneOf"]}


def every_kind() -> dict[str, nc.AnyEvent]:
    """One event of each."""
    found: dict[str, nc.AnyEvent] = {}
    for stream in sorted(FIXTURES.glob("agents/*/*.ndjson")):
        with contextlib.suppress(nc.NdjsonCheckError):
            found.update((event.type, event) for event in nc.read(stream))
        if len(found) == len(KINDS):
            break
    return found


def test_events_are_copied_and_pickled() -> None:
    @dataclasses.dataclass
    class Step:
        event: nc.AnyEvent

    kinds = every_kind()
    assert kinds.keys() == KINDS
    for event in kinds.values():
        assert copy.copy(event) is event and copy.deepcopy([event]) == [event]
        assert dataclasses.asdict(Step(event)) == {"event": event}
        assert weakref.ref(event)() is event
        for again in (pickle.loads(pickle.dumps(event)), nc.Event.from_dict(event.to_dict())):
            assert type(again) is type(event)
            assert (again, hash(again), repr(again)) == (event, hash(event), repr(event))
            assert again.to_json() == event.to_json()
            names = getattr(type(event), "__match_args__")
            for name in (*names, "type", "line", "time_ms"):
                assert getattr(again, name) == getattr(event, name)


def test_events_are_made() -> None:
    members = {"type": "text_delta", "segment": 2, "text": "\u00e9", "line": 3}
    event = nc.TextDelta.from_dict(members)
    assert (event.text, event.segment, event.line, event.time_ms) == ("\u00e9", 2, 3, None)
    assert list(event.to_dict().items()) == list(members.items())
    assert repr(event) == "TextDelta(segment=2, text='\u00e9', line=3)"
    assert event == nc.Event.from_dict(dict(reversed(members.items())))
    for wrong, said in [
        ({**members, "text": 5}, "this is no event: /text: value is not of type"),
        ({"type": "end"}, 'this is no event: "outcome" is a required property'),
        ({"type": "text_dleta"}, 'this is no event: its type is "text_dleta"'),
        ({}, 'this is no event: its type is ""'),
        ({**members, "line": float("nan")}, "Out of range float"),
    ]:
        with pytest.raises(ValueError, match=said):
            nc.Event.from_dict(wrong)
    with pytest.raises(ValueError, match="an event of the type text_delta is no Text$"):
        nc.Text.from_dict(members)
    with pytest.raises(TypeError):
        nc.Event.from_dict(5)  # type: ignore[arg-type]
    # A defect repeats the finding of another stream, and is none itself.
    for rule in ("schema-violation", "invalid-json"):
        defect = {"type": "defect", "rule": rule, "severity": "error", "message": "wrong", "line": 2}
        assert nc.Event.from_dict(defect).to_dict() == defect
    # One of another version.
    later = pickle.loads(pickle.dumps(event).replace(b"text_delta", b"text_dleta"))
    assert type(later) is nc.Event and later.type == "text_dleta"


def test_classes_say_what_the_schema_says() -> None:
    stubs = ast.parse((ROOT / "bindings/python/python/ndjson_check/_native.pyi").read_text())
    in_stubs = {it.name: ast.get_docstring(it) for it in stubs.body if isinstance(it, ast.ClassDef)}
    for kind in get_args(nc.AnyEvent):
        name = re.sub("(?<!^)([A-Z])", r"_\1", kind.__name__).lower()
        said = kind.__doc__
        assert said.startswith(SCHEMA["$defs"][name]["description"])
        assert (in_stubs[kind.__name__] or "").split() == said.split()
    assert len(get_args(nc.AnyEvent)) == len(KINDS)
    # These are names for other types.
    named = set(nc.__all__) - {"AnyEvent", "CallKind"}
    assert [name for name in sorted(named) if not getattr(nc, name).__doc__] == []
