"""`course dev pages`: write the generated pages of the site; MkDocs does this by itself."""

from __future__ import annotations

import argparse

from ..workshop import generated_pages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`course dev pages` has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """`course dev pages`: 0 fine."""
    generated_pages.write()
    return 0
