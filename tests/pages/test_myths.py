"""The cards of myths, as a reader who shares one uses them."""

from urllib.parse import urlsplit

import pytest
from tab import Tab, assert_a_card

STATES = {
    "clip": "though the ratio is outside the band",
    "group-size": "43.0 % of the groups with G = 8",
    "dr-grpo-scale": "1 of 6 samples",
    "memory": "33 % less",
}
"""What the figure of a card says when the page comes: the state that refutes the claim."""


@pytest.mark.proof
def test_a_card_shows_its_refutation_and_can_be_shared(tab: Tab) -> None:
    page = tab.load("/myths/")
    for anchor, sentence in STATES.items():
        card = page.locator(f"grpo-myth:has(#{anchor})")
        assert sentence in card.locator(".grpo-status").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    card = page.locator("grpo-myth:has(#clip)")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card.get_by_role("button", name="Copy link", exact=True).press("Enter")
    card.locator(".grpo-bar .grpo-told:not(:empty)").wait_for()
    link = urlsplit(page.evaluate("navigator.clipboard.readText()"))
    assert (link.path, link.query, link.fragment) == (f"{urlsplit(page.url).path}clip/", "", "")
    for anchor in ("clip", "r1-clip"):  # with a figure, and without
        card = page.locator(f"grpo-myth:has(#{anchor})")
        with page.expect_download() as download:
            card.get_by_role("button", name="Save as image").press("Enter")
        assert download.value.suggested_filename == f"{anchor}.png"
        assert_a_card(download.value.path())
