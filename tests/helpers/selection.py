"""What pytest runs in each tier of `tests/tiers.py`, as its option -m; `tests/conftest.py` gives the marks."""

SELECTION = {"check": "check and not proof", "test": "not proof and not sample", "proof": ""}
