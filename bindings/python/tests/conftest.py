import os
import shutil
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


def is_alive(pid_file: Path) -> bool:
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    # A zombie of which nobody asks is dead.
    state = Path(f"/proc/{pid_file.read_text().strip()}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


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
