"""A tab that tests share, so that a page is loaded once and not for every test."""

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
        watch(self.page, site, self.problems)

    def load(self, path: str, *, width: int = 1280, scrolling: bool = True) -> Any:
        """Loads a page; files may come from the cache."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(self.site + path)
        wait_until_ready(self.page, scrolling=scrolling)
        return self.page

    def show(self, address: str, *tags: str, width: int = 1280) -> Any:
        """Shows a page whose widgets, or those with the tags, are as on a first visit with this address.

        Loads it only if it is another page than the last one.
        """
        path, mark, query = address.partition("?")
        if self.page.url.split("?")[0].split("#")[0] != self.site + path:
            self.load(path, width=width, scrolling=not tags)
        for other in self.page.context.pages[1:]:
            other.close()
        self.page.set_viewport_size({"width": width, "height": 900})
        for tag in tags:
            self.page.locator(tag).scroll_into_view_if_needed()
            self.page.wait_for_selector(f"{tag}[data-ready]")
        self.page.evaluate(RENEW, [mark + query, tags or self.page.evaluate(WIDGETS)])
        self.page.evaluate(SETTLED)
        return self.page
