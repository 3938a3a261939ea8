"""What is new in the streams of another version of an agent, and which verdicts changed."""

import json
import re

TAGS = ("type", "subtype", "kind", "role", "method", "message_type", "sessionUpdate", "status")
INSIDE = ("event", "item", "part", "message", "params", "update", "assistantMessageEvent")
NAMED = re.compile(r"[0-9a-f]{8}|\d{3}|[/ .]|^(toolu|call|msg)_")


def compare(old, new):
    """Prints the difference between two lists of judgements."""
    before, after = shapes(old), shapes(new)
    names = {one.recording.name for one in new}
    both = sorted(one.recording.name for one in old if one.recording.name in names)
    print(f"looked at: {len(both)} runs that both have: {', '.join(both)}")
    for side, found in (("old", before), ("new", after)):
        print(f"  {side}: {len(found)} kinds of events, {sum(map(len, found.values()))} keys")
    print_new("event kinds", sorted(after.keys() - before.keys()))
    print_new("event kinds that are gone", sorted(before.keys() - after.keys()))
    keys = [
        f"{kind}: {key}"
        for kind in sorted(after.keys() & before.keys())
        for key in sorted(after[kind] - before[kind])
    ]
    print_new("keys", keys)
    print_new("verdicts", verdicts(old, new))


def print_new(title, lines):
    print(f"{title}: {len(lines) or 'none'}")
    for line in lines:
        print(f"  {line}")


def shapes(judgements):
    """For each kind of event the paths of its keys."""
    found = {}
    for one in judgements:
        for line in one.recording.stream.read_text(errors="replace").splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                found.setdefault("(not JSON)", set())
                continue
            if isinstance(event, dict):
                found.setdefault(kind_of(event), set()).update(paths(event))
    return found


def kind_of(event):
    """The event's tags, such as `system/init` or `item.completed/command_execution`."""
    tags = [str(event[tag]) for tag in TAGS if isinstance(event.get(tag), str)]
    for name in INSIDE:
        if isinstance(event.get(name), dict):
            tags.append(kind_of(event[name]))
    return "/".join(tag for tag in tags if tag and not NAMED.search(tag)) or "(no tag)"


def paths(value, above=""):
    """The paths of all keys; a key that is a name or an id is `*`."""
    if isinstance(value, list):
        for one in value:
            yield from paths(one, above + "[]")
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{above}/{'*' if NAMED.search(key) else key}"
            yield path
            yield from paths(inner, path)


def verdicts(old, new):
    """The recordings that are judged another way now."""
    before = {one.recording.name: summary(one) for one in old}
    return [
        f"{one.recording.name}: {before[one.recording.name]} -> {summary(one)}"
        for one in new
        if one.recording.name in before and before[one.recording.name] != summary(one)
    ]


def summary(one):
    said = "success" if one.outcomes.get("with status", one.outcomes["stream"]) else "failure"
    faults = ", ".join(sorted({fault.what for fault in one.faults}))
    truth = one.recording.truth["outcome"]
    status = one.recording.run["exit_status"]
    return f"{said} (truth: {truth}, exit status {status}){': ' + faults if faults else ''}"
