"""Fixtures for tests in a real browser: the built site, headless Chromium, and pages that watch for errors.

Playwright drives the Chromium that is installed; it downloads none. Without either the tests are skipped, but not in
CI (environment variable CI), where a skipped test would pass for a tested site.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import site_server
from filelock import FileLock

BUILT_FOR = f"https://site.example{site_server.FOLDER}"
"""Where the built pages think that they are: each process of a run serves them at a port of its own."""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
HEADLESS = "chromium-headless-shell"
"""The same engine without the window that nobody looks at: tests of the pages cost a fifth less."""
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
UNUSED = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AimEnabled", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding"),
    *("PreconnectToSearch", "ThirdPartyStoragePartitioning"),
)
"""Features of Chromium. The first two load two pages of its own for the address bar of each window, which cost more CPU
than one of ours. Playwright switches the others off, and of two such lists Chromium takes only the last."""
CHEAP = [
    "--js-flags=--no-concurrent-recompilation,--single-threaded-gc",
    "--font-render-hinting=none",
    f"--disable-features={','.join(UNUSED)}",
]
"""Threads that compile and clean up beside a page use more than they save on pages that live for a second. Without
hinting the headless program sets text as wide as the one with a window."""
LATE = """[...document.querySelectorAll("*")].filter(
  node => node.localName.startsWith("grpo-") && !("ready" in node.dataset))"""
SETTLED = """() => document.fonts.ready
  .then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
  .then(() => Promise.race([Promise.allSettled(document.getAnimations().map(animation => animation.finished)),
    new Promise((late) => setTimeout(late, 2000))])) // one in a part that is not painted never ends
  .then(() => undefined)"""
"""Fonts have come, what depends on sizes has been done, and nothing fades or slides any more."""
PATIENCE = 60_000
"""Milliseconds after which something does not come any more, on a machine that has much else to do."""
UNTIL_READY = f"""async (scrolling) => {{
  const tick = () => new Promise((done) => setTimeout(done, 20));
  const top = scrollY;
  const ready = (late) => document.readyState === "complete" && document.querySelector("grpo-progress")
    && !(scrolling && late) && !document.querySelector(".arithmatex:not(:has(.katex))");
  for (let i = 0, late = {LATE}[0]; i < {PATIENCE // 20} && !ready(late); i++, late = {LATE}[0]) {{
    if (scrolling) late?.scrollIntoView({{ behavior: "instant", block: "center" }});
    await tick();
  }}
  scrollTo({{ top, behavior: "instant" }});
  await ({SETTLED})();
  return ready({LATE}[0]) ? [] : ["not ready", ...{LATE}.map((node) => node.localName)];
}}"""
"""Scrolls through a page, as a reader does, until every figure is set up and every formula typeset; without scrolling,
waits for the first look. Returns what did not come."""

PageOpener = Callable[..., Any]


def chromium_program() -> str | None:
    """The path of the installed Chromium."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with `--strict` for BUILT_FOR, once for all processes of a run."""
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    folder = run / "site"
    with FileLock(run / "site.lock"):
        if not folder.exists():
            site_server.build(run / "site being built", url=f"{BUILT_FOR}/")
            (run / "site being built").rename(folder)
    return folder


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """The address of the course site; no slash at its end."""
    with site_server.serve(site_folder, built_for=BUILT_FOR) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium, driven by Playwright's synchronous API."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        cannot("Playwright is missing: pip install -c constraints.txt -e '.[dev]'")
    program = shutil.which(HEADLESS) or chromium_program()
    if program is None:
        cannot(f"no Chromium on this machine; tried {', '.join(CHROMIUM)}")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=[*FLAGS, *CHEAP])
        yield chromium
        chromium.close()


def cannot(reason: str) -> NoReturn:
    """Skips a test that this machine cannot run; in CI the test fails."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def open_page(browser: Any, site: str) -> Iterator[PageOpener]:
    """Opens pages of the site, each in a fresh context (no storage, no cache), and waits until they are ready.

    open_page("/simulation/", width=360, scheme="dark") gives Playwright's page; further options are those of a
    context, such as java_script_enabled=False. At the end of the test there must have been no error on the console, no
    uncaught exception, no failed request and no request to another host, on no page that it opened.
    """
    problems: list[str] = []
    contexts = []

    def open_page(
        path: str = "/", *, width: int = 1280, height: int = 900, scheme: str = "light", **options: Any
    ) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        contexts.append(context)
        page = new_page(context)
        watch(page, site, problems)
        page.goto(site + path)
        if options.get("java_script_enabled", True):
            wait_until_ready(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == [], problems


def new_page(context: Any) -> Any:
    """A page of a browser context, which waits long for what must come."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    return page


def watch(page: Any, site: str, problems: list[str]) -> None:
    """Notes everything that a page of the site must not do."""

    def note(kind: str, text: str) -> None:
        problems.append(f"{page.url}: {kind}: {text}")

    def on_message(message: Any) -> None:
        if message.type in ("error", "warning"):
            note(message.type, message.text)

    def on_request(request: Any) -> None:
        if not request.url.startswith((f"{site}/", "data:", "blob:")):
            note("request to another place", request.url)

    def on_failure(request: Any) -> None:
        # The page was left before a preview of a link had come; scripts are preloaded where none may run.
        if request.failure not in ("net::ERR_ABORTED", "csp"):
            note("failed request", f"{request.url} {request.failure}")

    def on_answer(answer: Any) -> None:
        if answer.status >= 400:
            note(f"answer {answer.status}", answer.url)

    page.on("console", on_message)
    page.on("pageerror", lambda error: note("exception", str(error)))
    page.on("request", on_request)
    page.on("requestfailed", on_failure)
    page.on("response", on_answer)


def wait_until_ready(page: Any, *, scrolling: bool = True) -> None:
    """Waits until every widget is set up and every formula typeset; without scrolling, those of the first screen."""
    late = page.evaluate(UNTIL_READY, scrolling)
    assert late == [], f"{page.url}: {late}"
