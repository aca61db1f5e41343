"""A tab that tests share, so that a page is loaded once and not for every test."""

import re
from typing import Any

from site_fixtures import LATE, SETTLED, new_page, wait_until_ready, watch

WIDE = {"width": 1280, "height": 900}
RENEW = f"""async ([query, asked, forgetting]) => {{
  if (window.served?.path !== location.pathname) {{
    const text = await (await fetch(location.pathname)).text();
    window.served = {{ path: location.pathname, page: new DOMParser().parseFromString(text, "text/html") }};
  }}
  const served = window.served.page;
  const names = [...served.querySelectorAll("*")].map(node => node.localName);
  const tags = asked.length ? asked : new Set(names.filter(name => name.startsWith("grpo-")));
  history.replaceState(history.state, "", location.pathname + query);
  document.activeElement.blur();  // what was typed is stored before it is forgotten
  if (forgetting) localStorage.clear();
  for (const tag of tags) {{
    const fresh = served.querySelectorAll(tag);
    document.querySelectorAll(tag).forEach((node, i) => node.replaceWith(document.importNode(fresh[i], true)));
  }}
  while ({LATE}.some(node => node.matches(":defined"))) await new Promise(done => setTimeout(done));
  scrollTo({{ top: 0, behavior: "instant" }});
}}"""
MEDIUM = "[matchMedia('screen').matches, matchMedia('(prefers-reduced-motion: no-preference)').matches]"
FOLLOW = """address => {
  const link = document.createElement("a");
  link.href = address;
  document.querySelector("article").append(link);
  link.click();
}"""


class Tab:
    """A tab that is used again and again; it notes what must not happen."""

    def __init__(self, browser: Any, site: str) -> None:
        self.site = site
        self.problems: list[str] = []
        self.page = new_page(browser.new_context(viewport=WIDE))
        self._shown = ""
        watch(self.page, site, self.problems)

    def load(
        self,
        address: str,
        *,
        width: int = 1280,
        motion: bool = True,
        scrolling: bool = True,
        unchanged: bool = False,
    ) -> Any:
        """Loads a page, with its files from the cache and nothing stored, for a reader who may want no motion.

        What a test changes in its window ends with it; if it is unchanged, the next test may use the window.
        """
        self._as_at_the_start(width, motion)
        if self.page.url.startswith(self.site):
            self.page.evaluate("localStorage.clear()")
        self.page.goto(self.site + address)
        wait_until_ready(self.page, scrolling=scrolling)
        self._shown = re.split(r"[?#]", address)[0] if unchanged else ""
        return self.page

    def show(self, address: str, *tags: str, width: int = 1280, motion: bool = True) -> Any:
        """Shows a page whose widgets, or those with the tags, are as on a first visit with this address.

        Loads it only if it is another page than the last one, and must leave nothing behind but widgets, the address
        and what is stored.
        """
        path, mark, query = address.partition("?")
        if self._shown != path or re.split(r"[?#]", self.page.url)[0] != self.site + path:
            self.load(path, width=width, motion=motion, scrolling=not tags, unchanged=True)
        self._as_at_the_start(width, motion)
        for tag in tags:
            if not self.page.locator(f"{tag}[data-ready]").count():
                self.page.locator(tag).first.scroll_into_view_if_needed()
                self.page.wait_for_selector(f"{tag}[data-ready]")
        renew(self.page, mark + query, *tags)
        return self.page

    def beside(self, address: str) -> Any:
        """Loads a page in another tab of the same browser; it ends with the test."""
        page = new_page(self.page.context)
        watch(page, self.site, self.problems)
        page.goto(self.site + address)
        wait_until_ready(page)
        return page

    def _as_at_the_start(self, width: int, motion: bool) -> None:
        for other in self.page.context.pages[1:]:
            other.close()
        size = {**WIDE, "width": width}
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
        if self.page.evaluate(MEDIUM) != [True, motion]:  # to switch it draws the whole page anew
            self.page.emulate_media(media="screen", reduced_motion="no-preference" if motion else "reduce")


def renew(page: Any, query: str = "", *tags: str, forgetting: bool = True) -> None:
    """Makes widgets anew from what the server sends, as instant navigation does when a reader comes back to a page.

    Args:
        page: An open page.
        query: What its address ends with.
        tags: Those of the widgets; without any, all are made anew.
        forgetting: Whether nothing is stored any more.
    """
    page.evaluate(RENEW, [query, tags, forgetting])
    page.evaluate(SETTLED)


def come_back(page: Any) -> None:
    """Makes the widgets anew from the same address and what is stored: what a reader sees who comes back later."""
    renew(page, page.evaluate("location.search"), forgetting=False)


def follow_a_link(page: Any, address: str) -> None:
    """Goes to a page of the site by a link, which the theme follows without loading the page anew."""
    page.evaluate(FOLLOW, address)
