"""Linear algebra in one thread: the matrices here are small, and more threads only wait for each other, at many times
the processor time. The libraries look at the environment when they are loaded, so it says so before numpy is."""

import os

# Of OpenBLAS, MKL, BLIS, Apple's Accelerate, and what is built with OpenMP.
VARIABLES = (
    "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_NUM_THREADS",
)  # fmt: skip
LIMITED = "CABOOSE_LIMITED_THREADS"
"""Which of the variables are ours, for processes that we start: what is the user's own stays."""


def limit_threads() -> None:
    """One thread for each library of which the environment says nothing, in this process and its children. Must come
    before numpy is loaded."""
    os.environ.update(limited_environment())


def limited_environment() -> dict[str, str]:
    """The environment for a process of ours that has not loaded numpy yet."""
    ours = [name for name in VARIABLES if name not in os.environ]
    limited = " ".join([*os.environ.get(LIMITED, "").split(), *ours])
    return {**os.environ, **dict.fromkeys(ours, "1"), LIMITED: limited}


def users_environment() -> dict[str, str] | None:
    """The environment as the user gave it to us, for programs that are not ours; None where nothing was changed."""
    ours = os.environ.get(LIMITED)
    if ours is None:
        return None
    left_out = {LIMITED, *ours.split()}
    return {name: value for name, value in os.environ.items() if name not in left_out}
