"""MkDocs's hook: what happens to built pages. After Zensical, which has no hooks: `course dev finish-site FOLDER`."""

import logging
from pathlib import Path
from typing import Any

from grader.workshop.finish_site import finish

_log = logging.getLogger("mkdocs.hooks.finish_site")


def on_post_build(*, config: Any) -> None:
    """MkDocs has written all pages."""
    for note in finish(Path(config["site_dir"])):
        _log.info(note)
