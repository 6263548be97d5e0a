"""A module that cannot be imported; used by test_cleaning.py."""

LIMIT = 1 / 0
