"""A tab that tests share, so that a page is loaded once and not for every test."""

import re
from typing import Any

from site_fixtures import SETTLED, wait_until_ready, watch

RENEW = """async ([query, tags]) => {
  const page = await (await fetch(location.pathname)).text();
  const served = new DOMParser().parseFromString(page, "text/html");
  history.replaceState(history.state, "", location.pathname + query);
  localStorage.clear();
  for (const tag of tags) {
    const fresh = served.querySelectorAll(tag);
    document.querySelectorAll(tag).forEach((node, i) => node.replaceWith(document.importNode(fresh[i], true)));
  }
  scrollTo({ top: 0, behavior: "instant" });
}"""
"""Makes widgets anew from what the server sends, as instant navigation does when a reader comes back to a page."""
WIDGETS = """() => [...new Set([...document.querySelectorAll("*")].map(node => node.localName))]
  .filter(name => name.startsWith("grpo-"))"""


class Tab:
    """A tab that is used again and again; it notes what must not happen."""

    def __init__(self, browser: Any, site: str) -> None:
        self.site = site
        self.problems: list[str] = []
        self.page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self._shown = ""
        watch(self.page, site, self.problems)

    def load(self, address: str, *, width: int = 1280, scrolling: bool = True) -> Any:
        """Loads a page, with its files from the cache and nothing stored. What a test changes in it ends with it."""
        self._as_at_the_start(width)
        if self.page.url.startswith(self.site):
            self.page.evaluate("localStorage.clear()")
        self.page.goto(self.site + address)
        wait_until_ready(self.page, scrolling=scrolling)
        self._shown = ""
        return self.page

    def show(self, address: str, *tags: str, width: int = 1280) -> Any:
        """Shows a page whose widgets, or those with the tags, are as on a first visit with this address.

        Loads it only if it is another page than the last one, and must leave nothing behind but widgets, the address
        and what is stored.
        """
        path, mark, query = address.partition("?")
        if self._shown != path or re.split(r"[?#]", self.page.url)[0] != self.site + path:
            self.load(path, width=width, scrolling=not tags)
        self._shown = path
        self._as_at_the_start(width)
        for tag in tags:
            if not self.page.locator(f"{tag}[data-ready]").count():
                self.page.locator(tag).scroll_into_view_if_needed()
                self.page.wait_for_selector(f"{tag}[data-ready]")
        self.page.evaluate(RENEW, [mark + query, tags or self.page.evaluate(WIDGETS)])
        self.page.evaluate(SETTLED)
        return self.page

    def _as_at_the_start(self, width: int) -> None:
        for other in self.page.context.pages[1:]:
            other.close()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="screen", reduced_motion="no-preference")
