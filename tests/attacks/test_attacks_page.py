"""The page of attacks is what the corpus says now."""

from __future__ import annotations

from page import PAGE, page


def test_the_page_is_current_and_short() -> None:
    text = PAGE.read_text("utf-8")
    assert text == page(), "run `python tests/attacks/page.py`"
    assert len(text.split()) <= 1_500
