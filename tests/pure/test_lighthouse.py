"""Which of Lighthouse's marks are good enough. No test of `make test` starts Lighthouse itself."""

import pytest
from lighthouse import LEAST, MOST_SHIFT, too_low

GOOD = {**LEAST, "CLS": MOST_SHIFT}


def test_the_least_marks_are_good_enough() -> None:
    assert too_low(GOOD) == set()


@pytest.mark.parametrize("name", [*LEAST])
def test_a_mark_below_the_least_is_named(name: str) -> None:
    assert too_low({**GOOD, name: LEAST[name] - 0.01}) == {name}


def test_a_page_that_moves_is_named_beside_a_low_mark() -> None:
    assert too_low({**GOOD, "CLS": MOST_SHIFT + 0.001, "seo": 0.9}) == {"layout shift", "seo"}
