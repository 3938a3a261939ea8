"""The truth of a run: what the model delivered, and what was done to the agent."""

import json

from model import Reply


def of(scenario, log, happened):
    """The truth as a plain object.

    outcome   succeeded, failed, or either where both are fair
    answer    the last text, if the run succeeded
    times     how often the agent got that text, least and most
    calls     how many calls the model made, and what became of them
    """
    main = conversation(log)
    last = next(
        (Reply(**entry["reply"]) for entry in reversed(main) if not entry["reply"].get("aside")), None
    )
    outcome = outcome_of(last, happened)
    if scenario.unanswered and (last is None or last.calls):
        outcome = scenario.unanswered
    if outcome == "succeeded" and scenario.either:
        outcome = "either"  # some agents cannot go on
    delivered = [
        entry["reply"] for entry in main if not entry["reply"]["fault"] and entry["reply"]["status"] == 200
    ]
    calls = sum(len(reply["calls"]) for reply in delivered)
    became = scenario.calls
    if became == "made":
        became = "succeeded" if happened["made"] else "failed"
    answer = answer_of(last) if last and outcome == "succeeded" else None
    same = [entry["reply"]["fault"] for entry in main if whole(entry["reply"]["text"]) == answer]
    # Some ask again in the background, and do not show it.
    times = [1, same.count("") + same.count("cut-late")]
    if last and last.answers:
        times = [0, 1]  # a call, which may be shown as an answer
    return {
        "outcome": outcome,
        "answer": answer,
        "times": times,
        "calls": calls,
        "became": became,
        "requests": len(main),
    }


def answer_of(reply):
    if reply.answers:
        return json.dumps(reply.calls[0]["arguments"], separators=(",", ":"))
    return whole(reply.text)


def whole(pieces):
    """The text of these pieces. Halves of a surrogate pair are joined; one alone is U+FFFD."""
    units = "".join(pieces).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")


def conversation(log):
    """The requests of the main conversation. Others have few tools, or none: titles, memories."""
    main = [entry for entry in log if entry["main"]]
    return [
        entry for entry in main if 2 * len(entry["tools"]) > len(main[0]["tools"]) or entry["reply"]["calls"]
    ]


def outcome_of(last, happened):
    if last is None:
        return "failed"
    if happened["killed"] or happened["timed_out"]:
        # Some agents give the signal to their tool, and go on; some had just finished.
        return "either" if not last.fault and last.text and not last.calls else "failed"
    if last.status != 200 or last.page or last.stop != "end":
        return "failed"
    if last.fault and not last.fault.endswith("-late"):
        return "failed"
    if last.answers:
        return "succeeded"
    if last.fault or not whole(last.text).strip():
        return "either"
    return "either" if last.calls else "succeeded"
