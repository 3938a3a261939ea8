"""What is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import NdjsonCheckError

if TYPE_CHECKING:
    from ._run import RunEnd


class OutcomeError(Exception):
    """A run did not succeed. `end` says how it ended."""

    def __init__(self, end: RunEnd) -> None:
        said = end.error_text or (end.stderr_tail[-1] if end.stderr_tail else None)
        super().__init__(f"the run is {end.outcome}" + (f": {said}" if said else ""))
        self.end = end

    def __reduce__(self) -> tuple[type[OutcomeError], tuple[RunEnd]]:
        # It is made of `end`, not of its message.
        return type(self), (self.end,)


class RunFailed(OutcomeError):
    """The agent or its process says that the run failed."""


class RunTruncated(OutcomeError):
    """The stream ended before the run did."""


class RunTimedOut(OutcomeError):
    """A time was over."""


_CLASSES: dict[str, type[OutcomeError]] = {
    "failed": RunFailed,
    "truncated": RunTruncated,
    "timed-out": RunTimedOut,
}


def raise_for(end: RunEnd) -> None:
    if end.outcome != "succeeded":
        raise _CLASSES.get(end.outcome, OutcomeError)(end)


__all__ = ["NdjsonCheckError", "OutcomeError", "RunFailed", "RunTimedOut", "RunTruncated"]
