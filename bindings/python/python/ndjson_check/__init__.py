"""Reads and checks the NDJSON event streams of AI coding agents, and runs agents."""

from ._errors import NdjsonCheckError, OutcomeError, RunFailed, RunTimedOut, RunTruncated
from ._events import *  # noqa: F403
from ._events import __all__ as _event_names
from ._frame import Frames, Table, frame
from ._native import __version__
from ._read import Reader, aread, read
from ._run import Call, Calls, Run, RunEnd, run

__all__ = [
    "Call",
    "Calls",
    "Frames",
    "NdjsonCheckError",
    "OutcomeError",
    "Reader",
    "Run",
    "RunEnd",
    "RunFailed",
    "RunTimedOut",
    "RunTruncated",
    "Table",
    "__version__",
    "aread",
    "frame",
    "read",
    "run",
]
__all__ += _event_names
