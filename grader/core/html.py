"""The frame of a page that is one HTML file: it loads nothing, runs nothing, and looks well in light, dark and print.

What a page is about is its own module's business; the colours, the policy and the escaping of text are here.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re

from .text import visible


def page(*, title: str, main: str, style: str = "") -> str:
    """A whole HTML file.

    Args:
        title: Of the window and of the page; plain text.
        main: HTML that stands under the title.
        style: CSS of this page beside what all pages share; attributes `style` are refused by the browser.
    """
    sheet = STYLE + style
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(title)}</title>
<style>{sheet}</style>
</head>
<body>
<main>
<h1>{text(title)}</h1>
{main}
</main>
</body>
</html>
"""


def text(words: str) -> str:
    """Any text as HTML: escaped, and with invisible characters written out."""
    return html.escape(visible(words))


def prose(words: str) -> str:
    """The same, with what stands between backticks as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text(words))


STYLE = """
:root { color-scheme: light dark; --line: #c4c7cc; --soft: #f1f4f8; --right: #14683a; --wrong: #a51d1d;
  --text: #16191d; --faint: #555c66; --page: #fff; --link: #0b57d0; }
@media (prefers-color-scheme: dark) {
  :root { --line: #4a5058; --soft: #22272e; --right: #7fd6a0; --wrong: #ff9d94;
    --text: #e8eaed; --faint: #a8b0ba; --page: #16191d; --link: #9cc4ff; }
}
@media print {
  :root { color-scheme: light; --line: #999; --soft: #fff; --right: #000; --wrong: #000;
    --text: #000; --faint: #333; --page: #fff; --link: #000; }
}
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--page); }
a { color: var(--link); }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.25; break-after: avoid; }
h2 { border-bottom: 2px solid var(--line); margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-block: .5rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
th, td { overflow-wrap: break-word; }
th { background: var(--soft); }
tr { break-inside: avoid; }
.wide { overflow-x: auto; }
.faint { color: var(--faint); }
@media print { .wide { overflow: visible; } }
"""
