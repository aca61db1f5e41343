"""Pages in three engines, driven alike: Chromium by Playwright, Firefox by WebDriver BiDi, WebKitGTK by WebDriver.

Playwright would drive Debian's Firefox, too, but asks for a command at each start that Firefox ESR does not know, and
Selenium needs geckodriver, which Debian does not have: so BiDi's few commands are sent here. What a page does wrong is
noted by a script that the server puts first into each page, the same for all engines.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from site_fixtures import CHEAP, FLAGS, PATIENCE, chromium_program
from waiting import wait_until

ALL = ("chromium", "firefox", "webkit")
OTHERS = ALL[1:]
SECONDS = 4 * PATIENCE / 1000  # a call may read a page from its top to its end
WIDE = (1280, 720)
FIREFOX = ("firefox-esr", "firefox")
NEEDS = {
    "firefox": "Firefox is missing (Debian: apt install firefox-esr): no page is opened in it.",
    "webkit": "WebKitGTK is missing (Debian: apt install webkit2gtk-driver xvfb): no page is opened in it.",
}
KEYS = {"ArrowRight": "\ue014", "ArrowLeft": "\ue012", "Enter": "\ue007"}
NOTES = """<script>
{
  const problems = window.problems = [];
  const note = (kind, what) => problems.push(`${kind}: ${what}\\n${what?.stack ?? ""}`);
  for (const kind of ["error", "warn"]) {
    const say = console[kind];
    console[kind] = (...all) => { note(kind, all.join(" ")); say(...all); };
  }
  addEventListener("error", (event) =>
    note("error", event.error ?? event.message ?? event.target.src ?? event.target.href), true);
  addEventListener("unhandledrejection", ({ reason }) => note("rejected", reason));
}
</script>"""
"""Notes what goes to the console, what nobody catches, and files that do not come."""


FRAME = """(address, width, height) => new Promise((loaded) => {
  const frame = Object.assign(document.createElement("iframe"), { src: address, width, height, onload: loaded });
  frame.style.border = 0;
  document.body.replaceChildren(frame);
}).then(() => null)"""


# Without what the page adds to its address: the simulation its seed, the theme a heading.
IS_THERE = """(address) => location.pathname === new URL(address).pathname && document.readyState === "complete"
"""


class Engine(Protocol):
    """A window of a browser."""

    def open(self, address: str) -> None:
        """Goes to a page and returns when its files have come."""

    def ask(self, function: str, *arguments: Any) -> Any:
        """Calls a function of JavaScript with values of JSON and returns what it, or its promise, gives."""

    def press(self, key: str) -> None:
        """Presses a key by its name in KEYS, or the key of a character."""

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the window without its frame, in CSS pixels."""


def missing_engines() -> dict[str, str]:
    """Each engine besides Chromium that this machine lacks, with a sentence that says what to install."""
    found = {"firefox": _firefox_program(), "webkit": shutil.which("WebKitWebDriver") and shutil.which("Xvfb")}
    return {name: NEEDS[name] for name, program in found.items() if program is None}


def start(name: str) -> contextlib.AbstractContextManager[Engine]:
    """Opens a window of "chromium", "firefox" or "webkit" that ends with the context."""
    return {"chromium": _chromium, "firefox": _firefox, "webkit": _webkit}[name]()


def _firefox_program() -> str | None:
    return next(filter(None, map(shutil.which, FIREFOX)), None)


class Chromium:
    """A page of Chromium that Playwright drives."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        page.set_default_timeout(PATIENCE)

    def open(self, address: str) -> None:
        self.page.goto(address)

    def ask(self, function: str, *arguments: Any) -> Any:
        return self.page.evaluate(f"all => ({function})(...all)", [*arguments])

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})


@contextlib.contextmanager
def _chromium() -> Iterator[Engine]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=[*FLAGS, *CHEAP])
        yield Chromium(browser.new_page())
        browser.close()


class _Firefox:
    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.numbers = itertools.count(1)
        self.send("session.new", capabilities={})
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.resize(*WIDE)

    def send(self, method: str, **parameters: Any) -> Any:
        """The result of a command; events, of which none were asked for, are passed over."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != number:
            pass
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def open(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self.context, url=address, wait="complete")
        # The theme notes in the address which heading is in view; a note of the page before can end that wait early.
        wait_until(lambda: self.ask(IS_THERE, address))

    def ask(self, function: str, *arguments: Any) -> Any:
        found = self.send(
            "script.callFunction",
            functionDeclaration=f"async all => JSON.stringify(await ({function})(...JSON.parse(all)) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self.context},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        strokes = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self.send("input.performActions", context=self.context, actions=[keyboard])

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.send("browsingContext.setViewport", context=self.context, viewport=size)


PREFERENCES = {"browser.download.folderList": 2, "focusmanager.testmode": True}
"""Downloads go to a folder that ends with the window. It takes keys, although no screen gives it the focus."""


@contextlib.contextmanager
def _firefox() -> Iterator[Engine]:
    import websocket

    program = _firefox_program()
    assert program
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        wanted = {**PREFERENCES, "browser.download.dir": home}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in wanted.items()]
        Path(home, "user.js").write_text("\n".join(lines), "utf-8")
        command = [program, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", home]
        with _process(command, {**os.environ, "HOME": home}) as process:
            port = _said(process, rb"BiDi listening on ws://127\.0\.0\.1:(\d+)")
            address = f"ws://127.0.0.1:{port}/session"
            socket = websocket.create_connection(address, timeout=SECONDS, suppress_origin=True)
            yield _Firefox(socket)
            socket.close()


class _WebKit:
    """Its pages are in a frame, because the window of WebKitGTK's browser is never as narrow as a phone."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.size = WIDE
        self.origin = ""
        driver.set_script_timeout(SECONDS)
        driver.set_window_size(1500, 1150)

    def open(self, address: str) -> None:
        self.driver.switch_to.default_content()
        parts = urlsplit(address)
        if self.origin != parts.netloc:
            self.driver.get(f"{parts.scheme}://{parts.netloc}/")
            self.ask("() => { document.open(); document.write(`<body style='margin:0'>`); document.close(); }")
            self.origin = parts.netloc
        self.ask(FRAME, address, *self.size)
        self.driver.switch_to.frame(0)

    def ask(self, function: str, *arguments: Any) -> Any:
        call = f"(async () => JSON.stringify(await ({function})(...JSON.parse(arguments[0])) ?? null))()"
        failed = "error => arguments[1](JSON.stringify({ failed: String(error) }))"
        found = json.loads(
            self.driver.execute_async_script(f"{call}.then(arguments[1], {failed})", json.dumps(arguments))
        )
        if isinstance(found, dict) and "failed" in found:
            raise RuntimeError(found["failed"])
        return found

    def press(self, key: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver, duration=0).send_keys(KEYS.get(key, key)).perform()

    def resize(self, width: int, height: int) -> None:
        self.size = (width, height)
        self.ask("(w, h) => frameElement && Object.assign(frameElement, { width: w, height: h })", width, height)


@contextlib.contextmanager
def _webkit() -> Iterator[Engine]:
    from selenium import webdriver
    from selenium.webdriver.webkitgtk.options import Options
    from selenium.webdriver.webkitgtk.service import Service

    options = Options()
    options.add_argument("--automation")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, _display() as display:
        service = Service(shutil.which("WebKitWebDriver"), env={**os.environ, "HOME": home, "DISPLAY": display})
        driver = webdriver.WebKitGTK(options=options, service=service)
        yield _WebKit(driver)
        driver.quit()


@contextlib.contextmanager
def _display() -> Iterator[str]:
    """A screen that nobody sees, where WebKitGTK's browser opens its window."""
    ours, theirs = os.pipe()
    command = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL)
    os.close(theirs)
    try:
        yield f":{int(os.read(ours, 16))}"
    finally:
        process.terminate()
        process.wait()
        os.close(ours)


@contextlib.contextmanager
def _process(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends with the context; what it says is read from its standard error."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()


def _said(process: subprocess.Popen[bytes], pattern: bytes) -> str:
    """What the group of a pattern matches in the first line of standard error that has it."""
    assert process.stderr
    for line in process.stderr:
        if found := re.search(pattern, line):
            threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop it
            return found[1].decode()
    raise RuntimeError("the program has ended before it said where it listens")
