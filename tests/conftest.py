"""Settings for all tests."""

import os
import signal

import pytest
from hypothesis import settings

from caboose.cli.options import sandbox as untrusted
from caboose.protocol.process.launch import SandboxError, check_sandbox

# As the commands do: with more threads the linear algebra of small matrices takes many times the processor time. It is
# told before anybody loads numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The suite says the same each time, however busy the machine; `make soak` is what looks for new cases.
settings.register_profile("caboose", deadline=None, derandomize=True, database=None)
settings.load_profile("caboose")

# Shells start background jobs with SIGINT ignored, nohup ignores SIGHUP, and children inherit that: tests of what these
# signals do would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# The suite says the same, whoever runs it. (For commands in a process of their own: players.without_warning.)
untrusted._is_superuser = lambda: False


@pytest.fixture
def sandboxed() -> None:
    """For tests that need bubblewrap."""
    try:
        check_sandbox()
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def still_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """For matches with foreign engines in this process, whose memory they would hide: it has other tests to run."""
    monkeypatch.setattr("caboose.cli.options.sandbox.hide", lambda: None)
