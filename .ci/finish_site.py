"""MkDocs's hook: what happens to built pages. After Zensical, which has no hooks: `course dev finish-site FOLDER`."""

from pathlib import Path
from typing import Any

from grader.workshop.finish_site import finish


def on_post_build(*, config: Any) -> None:
    """MkDocs has written all pages."""
    finish(Path(config["site_dir"]))
