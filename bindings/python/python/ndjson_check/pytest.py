"""A plugin of pytest: the fixture `agent_run`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pytest

from ._run import Run, RunOptions, run

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AgentRunner(Protocol):
    """Runs an agent to its end. Raises an OutcomeError if the run does not pass, unless `check` is
    False."""

    def __call__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        check: bool = True,
        **options: Unpack[RunOptions],
    ) -> Run: ...


@pytest.fixture
def agent_run() -> Iterator[AgentRunner]:
    """Runs an agent to its end, with the options of `ndjson_check.run`. The test fails if the run
    does not pass, unless `check` is False."""
    runs: list[Run] = []

    def start(
        command: Sequence[str | os.PathLike[str]],
        *,
        check: bool = True,
        **options: Unpack[RunOptions],
    ) -> Run:
        # The test is shown, not these lines.
        __tracebackhide__ = True
        agent = run(command, **options)
        runs.append(agent)
        agent.wait()
        if check:
            agent.raise_for_outcome()
        return agent

    yield start
    for agent in runs:
        agent.close()
