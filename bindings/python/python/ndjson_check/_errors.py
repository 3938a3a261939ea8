"""What is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import NdjsonCheckError

if TYPE_CHECKING:
    from ._run import RunEnd


class OutcomeError(Exception):
    """A run did not pass; the message is its headline. `end` says how it ended. Of this class
    itself: the run succeeded, but its stream does not conform, as when it is broken."""

    def __init__(self, end: RunEnd) -> None:
        super().__init__(end.headline)
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
    # pytest shows the test that failed, not these lines.
    __tracebackhide__ = True
    if not end.passed:
        raise _CLASSES.get(end.outcome, OutcomeError)(end)


__all__ = ["NdjsonCheckError", "OutcomeError", "RunFailed", "RunTimedOut", "RunTruncated"]
