"""What the whole suite shares: a surrounding in which neither the machine nor the user's settings change a result."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

# The machines of continuous integration are slow and shared: a slow example is no failure.
hypothesis.settings.register_profile("ascendlab", deadline=None, derandomize="CI" in os.environ, print_blob=True)
hypothesis.settings.load_profile("ascendlab")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the user's IPython and Jupyter settings out of the kernels that the tests start."""
    # A kernel that is still ending may write there: what it leaves is no failure.
    private = tempfile.TemporaryDirectory(prefix="ascendlab-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(private.cleanup)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        os.environ[name] = str(Path(private.name, name.lower()))
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder that holds pyproject.toml."""
    return Path(__file__).resolve().parent.parent
