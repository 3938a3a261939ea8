import os
import shutil
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


@pytest.fixture(scope="session")
def program() -> str:
    """The program that the wheel has installed."""
    path = shutil.which("ndjson-check", path=sysconfig.get_path("scripts"))
    assert path is not None, "the wheel has no program"
    return path


@pytest.fixture(autouse=True)
def no_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a workflow the program would write annotations."""
    for name in list(os.environ):
        if name.startswith("GITHUB_"):
            monkeypatch.delenv(name)
