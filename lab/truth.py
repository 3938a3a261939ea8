"""The truth of a run: what the model delivered, and what was done to the agent."""

from model import Reply


def of(scenario, model, happened):
    """The truth as a plain object.

    outcome   succeeded, failed, or either where both are fair
    answer    the last text, if the run succeeded
    calls     how many calls the model made, and what became of them
    """
    main = [entry for entry in model.log if entry["main"]]
    last = Reply(**main[-1]["reply"]) if main else None
    outcome = outcome_of(last, happened)
    delivered = [entry["reply"] for entry in main if not entry["reply"]["fault"] and entry["reply"]["status"] == 200]
    calls = sum(len(reply["calls"]) for reply in delivered)
    answer = "".join(last.text) if last and outcome == "succeeded" else None
    return {"outcome": outcome, "answer": answer, "calls": calls, "became": scenario.calls, "requests": len(main)}


def outcome_of(last, happened):
    if happened["killed"] or happened["timed_out"] or last is None:
        return "failed"
    if last.status != 200 or last.fault in ("cut", "cut-call", "hang", "hang-start"):
        return "failed"
    if last.stop != "end":
        return "failed"
    if last.fault == "cut-late" or not "".join(last.text):
        return "either"
    return "either" if last.calls else "succeeded"
