"""One browser tab that tests share, because loading a page costs more than using it."""

from pathlib import Path
from typing import Any

from PIL import Image
from site_fixtures import LATE, PATIENCE, SETTLED, UNTIL_READY, new_page, wait_until_ready, watch

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 900}
RENEW = f"""async ([query, tags, forget]) => {{
  if (window.served?.path !== location.pathname) {{
    const text = await (await fetch(location.pathname)).text();
    window.served = {{ path: location.pathname, page: new DOMParser().parseFromString(text, "text/html") }};
  }}
  const served = window.served.page;
  const names = [...served.querySelectorAll("*")].map(node => node.localName);
  history.replaceState(history.state, "", location.pathname + query);
  document.activeElement.blur();  // stores what was typed before it is forgotten
  if (forget) localStorage.clear();
  for (const tag of tags.length ? tags : new Set(names.filter(name => name.startsWith("grpo-")))) {{
    const fresh = served.querySelectorAll(tag);
    document.querySelectorAll(tag).forEach((node, i) => node.replaceWith(document.importNode(fresh[i], true)));
  }}
  while ({LATE}.some(node => node.matches(":defined"))) await new Promise(done => setTimeout(done));
  scrollTo({{ top: 0, behavior: "instant" }});
}}"""
MEDIUM = """["screen", "(prefers-reduced-motion: no-preference)", "(prefers-color-scheme: dark)"]
  .map((query) => matchMedia(query).matches)"""
FOLLOW = f"""async (address) => {{
  window.stayed = true;
  localStorage.clear();
  const link = Object.assign(document.createElement("a"), {{ href: address }});
  document.querySelector("article").append(link);
  link.click();
  const arrived = () => document.querySelector("link[rel=canonical]")?.href === address;
  for (let i = 0; i < {PATIENCE // 20} && !arrived(); i++) await new Promise((done) => setTimeout(done, 20));
  return arrived() ? await ({UNTIL_READY})(true) : ["the page does not come"];
}}"""


def assert_a_card(path: Path) -> None:
    """A picture to post has the size that chats show, and something on it from its title to its address."""
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == ("PNG", (1200, 630))
        box = picture.convert("L").point(lambda light: 255 * (light < 128)).getbbox()
    assert box and box[0] < 100 and box[1] < 120 and box[2] > 1100 and box[3] > 560


class Tab:
    """A tab that notes errors, failed requests and requests to other hosts."""

    def __init__(self, browser: Any, site: str) -> None:
        self.site = site
        self.problems: list[str] = []
        self.page = new_page(browser.new_context(viewport=WIDE))
        self._clean_path = ""  # the open page, if nothing but its widgets, its address and the storage has changed
        watch(self.page, site, self.problems)

    def load(
        self, address: str, *, motion: bool = True, scrolling: bool = True, size: Any = WIDE, scheme: str = "light"
    ) -> Any:
        """Loads a page with an empty storage. Without scrolling, only the first screen is set up."""
        if self.page.url.startswith(self.site):
            self.page.goto(f"{self.site}/assets/favicon.svg")  # without the theme, which stores its colours late
            self.page.evaluate("localStorage.clear()")
        self._reset_window(motion, size, scheme)
        self.page.goto(self.site + address)
        wait_until_ready(self.page, scrolling=scrolling)
        self._clean_path = ""
        return self.page

    def follow(self, path: str) -> Any:
        """Goes to a page by a link, which costs a third of loading it: the theme replaces the content only."""
        page = self.page
        if not self._clean_path:
            self.load("/start/")
            page.wait_for_load_state("networkidle")  # the theme takes links over when it has read the sitemap
        self._reset_window()
        assert page.evaluate(FOLLOW, self.site + path) == []
        self._clean_path = path
        return page

    def show(self, address: str, *tags: str, motion: bool = True) -> Any:
        """Shows a page with its widgets, or those with the tags, as on a first visit to this address.

        Loads the page only if another one is open.
        """
        path, mark, query = address.partition("?")
        if self._clean_path != path:
            self.load(path, motion=motion, scrolling=not tags)
            self._clean_path = path
        self._reset_window(motion)
        for tag in tags:
            if not self.page.locator(f"{tag}[data-ready]").count():
                self.page.locator(tag).first.scroll_into_view_if_needed()
                self.page.wait_for_selector(f"{tag}[data-ready]")
        renew(self.page, mark + query, *tags)
        return self.page

    def beside(self, address: str) -> Any:
        """Loads a page in another tab of the same browser; the next test closes it."""
        page = new_page(self.page.context)
        watch(page, self.site, self.problems)
        page.goto(self.site + address)
        wait_until_ready(page)
        return page

    def _reset_window(self, motion: bool = True, size: Any = WIDE, scheme: str = "light") -> None:
        for other in self.page.context.pages[1:]:
            other.close()
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
        if self.page.evaluate(MEDIUM) != [True, motion, scheme == "dark"]:  # emulating a medium redraws the whole page
            reduced = "no-preference" if motion else "reduce"
            self.page.emulate_media(media="screen", reduced_motion=reduced, color_scheme=scheme)


def renew(page: Any, query: str = "", *tags: str, forget: bool = True) -> None:
    """Replaces widgets by what the server sends, as instant navigation does when a reader comes back.

    Args:
        page: An open page.
        query: New end of its address.
        tags: Of the widgets to replace; all by default.
        forget: Whether to empty the storage.
    """
    page.evaluate(RENEW, [query, tags, forget])
    page.evaluate(SETTLED)


def come_back(page: Any) -> None:
    """Replaces the widgets, with the same address and the same storage."""
    renew(page, page.evaluate("location.search"), forget=False)
