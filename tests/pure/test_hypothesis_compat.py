"""The private names of hypothesis that the grader uses still do what it needs."""

import gc
import sys
import types
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal import charmap
from hypothesis.internal.conjecture import providers

from grader.grading import hypothesis_compat

RARE = 715_225_739_501
"""A number that no test and no input would come upon by chance."""


def draws(highest: int) -> set[int]:
    """Some integers from a range in which no other constant is.

    The bounds are part of the key under which hypothesis remembers the constants that fit.
    """
    seen = set()

    @settings(max_examples=400)  # a constant of a file is drawn now and then
    @given(st.integers(RARE - 10**9, highest))
    def law(number: int) -> None:
        seen.add(number)

    law()
    return seen


def test_constants_of_local_files_do_not_get_into_the_inputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "of_a_student.py"
    source.write_text(f"number = {RARE}\n", "utf-8")
    module = types.ModuleType("of_a_student")
    module.__file__ = str(source)
    monkeypatch.setitem(sys.modules, "of_a_student", module)
    hypothesis_compat.ignore_local_constants()
    assert RARE not in draws(RARE + 10**9)
    # The place where it was stopped is still the one that hypothesis asks.
    constants = providers.Constants(integers={RARE}, floats=set(), bytes=set(), strings=set())
    monkeypatch.setattr(providers, "_get_local_constants", lambda: constants)
    assert RARE in draws(RARE + 10**9 + 1)


def test_hypothesis_writes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hypothesis_compat.write_no_files()
    monkeypatch.setattr(charmap, "_charmap", None)
    assert charmap.charmap()["Lu"]  # which it would keep in a file
    assert not charmap.charmap_file().exists() and not [*tmp_path.iterdir()]


def settings_alive() -> int:
    gc.collect()
    return sum(type(each) is settings for each in gc.get_objects())  # isinstance asks lazy objects


def test_a_law_that_is_seeded_again_and_again_does_not_remember_its_old_seeds() -> None:
    @given(st.integers())
    def law(number: int) -> None:
        pass

    def grow(*, forgetting: bool) -> int:
        before = settings_alive()
        for seed in range(5):
            if forgetting:
                hypothesis_compat.forget_seed(law)
            hypothesis.seed(seed)(law)
        return settings_alive() - before

    gc.freeze()  # objects from before need no look
    try:
        forgetting, remembering = (grow(forgetting=each) for each in (True, False))
    finally:
        gc.unfreeze()
    assert forgetting <= 1
    assert remembering == 5, "hypothesis has mended it: forget_seed is no longer needed"
