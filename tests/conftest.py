"""Settings for all tests."""

from hypothesis import settings

# The suite says the same each time, however busy the machine; `make soak` is what looks for new cases.
settings.register_profile("caboose", deadline=None, derandomize=True, database=None)
settings.load_profile("caboose")
