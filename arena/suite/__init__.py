"""Suites: fixed positions with the loss of each move by a long search, and how engines fare on them."""
