"""Builds the course site and serves it as GitHub Pages does: below a folder of the host, compressed, with MIME types.

The folder matters: a link that is written from the host's root works on a bare server and breaks on GitHub Pages.
"""

import contextlib
import functools
import gzip
import mimetypes
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from grader.workshop.site_module import site_module

ROOT = Path(__file__).parents[2]
FOLDER = "/course"
_PROGRAMS = "tests/browser/node_modules"
_NOT_COPIED = (".git", ".venv", "build", "node_modules", "__pycache__")
COMPRESSED = {"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "application/json", "image/svg+xml"}
MIME_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".woff2": "font/woff2", ".csv": "text/csv"}


def build(folder: Path, *, url: str) -> None:
    """Builds the site for the address at which it will stand; instant navigation is off at any other.

    It is the site of the tests' own course file. Where an instructor's course has other menus, a copy is built.
    """
    written: dict[Path, str] = site_module("course_lists").with_lists()
    lists = {path: text for path, text in written.items() if path.read_text("utf-8") != text}
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "course") if lists else ROOT
        if lists:
            shutil.copytree(ROOT, root, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))
            (root / _PROGRAMS).symlink_to(ROOT / _PROGRAMS)  # with the one that makes scripts small
        for path, text in lists.items():
            (root / path.relative_to(ROOT)).write_text(text, "utf-8", newline="\n")
        _build(root, folder, url)


def _build(root: Path, folder: Path, url: str) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder.absolute())]
    environment = {**os.environ, "SITE_URL": url, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"mkdocs build --strict failed:\n{done.stdout}{done.stderr}")


@contextlib.contextmanager
def serve(folder: Path, *, port: int = 0, built_for: str = "", first: str = "") -> Iterator[str]:
    """Serves a folder, which may still be empty, from a thread; gives the address without a slash at its end.

    A site that was built for another address is served as if it had been built for this one. `first` is HTML that each
    page begins its head with.
    """
    server = _Server(("127.0.0.1", port), functools.partial(_Handler, folder, built_for, first))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{FOLDER}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of an answer is no error of the site."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folder: Path, built_for: str, first: str, *arguments: object) -> None:
        self.folder = folder
        self.built_for = built_for.encode()
        self.first = first.encode()
        super().__init__(*arguments)  # type: ignore[arg-type]

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        status, path = self._find(unquote(urlsplit(self.path).path))
        kind = MIME_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        body = path.read_bytes() if path.is_file() else b""
        if self.built_for and path.suffix in (".html", ".xml"):  # no other file holds the site's address
            body = body.replace(self.built_for, f"http://127.0.0.1:{self.connection.getsockname()[1]}{FOLDER}".encode())
        if self.first and path.suffix == ".html":
            body = body.replace(b"<head>", b"<head>" + self.first, 1)
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Cache-Control", "max-age=600")
        if kind in COMPRESSED and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = _compressed(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def _find(self, path: str) -> tuple[HTTPStatus, Path]:
        """The file of an address; the site's own page for what does not exist."""
        missing = HTTPStatus.NOT_FOUND, self.folder / "404.html"
        if not path.startswith(f"{FOLDER}/"):
            return missing
        found = (self.folder / path.removeprefix(f"{FOLDER}/")).resolve()
        if found.is_dir():
            found /= "index.html"
        if not found.is_file() or not found.is_relative_to(self.folder.resolve()):
            return missing
        return HTTPStatus.OK, found


@functools.lru_cache(maxsize=256)
def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=6, mtime=0)
