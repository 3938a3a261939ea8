import resource
import sys

import ndjson_check as nc
import pytest

from conftest import FIXTURES

PLAIN = (FIXTURES / "agents" / "cursor" / "plain.ndjson").read_bytes()


def read(times: int) -> None:
    for _ in range(times):
        for event in nc.read(PLAIN, profile="cursor"):
            event.to_dict()


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_memory_does_not_grow_over_many_streams() -> None:
    read(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read(10_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4_096, f"{grown} KiB more"
