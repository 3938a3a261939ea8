"""What many streams leave behind. `NDJSON_CHECK_STREAMS` says how many are read."""

import os
import resource
import sys

import ndjson_check as nc
import pytest

from conftest import FIXTURES

STREAMS = int(os.environ.get("NDJSON_CHECK_STREAMS", "2000"))
# A leak of half a KiB in each stream is seen.
GROWTH_KIB_MAX = max(512, STREAMS // 2)
PLAIN = (FIXTURES / "agents" / "cursor" / "plain.ndjson").read_bytes()


def read(times: int) -> None:
    for _ in range(times):
        for event in nc.read(PLAIN, profile="cursor"):
            event.to_dict()


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_memory_does_not_grow_over_many_streams() -> None:
    read(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read(STREAMS)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < GROWTH_KIB_MAX, f"{grown} KiB more"
