"""The texts of "Read your run" on docs/your-run.md: what each finding means, and what the names in a log hold.

They are in docs/assets/readings.json. The page shows all of them without scripts, and its script takes them from there.
"""

from __future__ import annotations

import json
from typing import Any

from grader.core import course

_LEVELS = {"stop": "Stop", "look": "Look", "normal": "Normal, do not worry"}


def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((course.ROOT / "docs/assets/readings.json").read_text("utf-8"))
    return data


def symptoms() -> str:
    """All readings in Markdown."""
    return "\n".join(_entry(name, reading) for name, reading in _data()["readings"].items())


def _entry(name: str, reading: dict[str, Any]) -> str:
    """A reading under a heading of its own, so that the search finds it by its title."""
    causes = "\n".join(f"{place}. {cause}." for place, cause in enumerate(reading["causes"], 1))
    next_steps = "\n".join(f"- {step}{'' if step.endswith('?') else '.'}" for step in reading["next"])
    said = f"Practitioners disagree: {reading['disagree']}\n\n" if "disagree" in reading else ""
    links = " · ".join(f"[{text}]({address})" for text, address in reading["links"])
    unlisted = " data-unlisted=''" if reading.get("only_in_readings") else ""
    attributes = f"#{name} data-level={reading['level']} data-group='{reading['group']}'{unlisted}"
    return (
        f"### {reading['title']} {{ {attributes} }}\n\n"
        f"**{_LEVELS[reading['level']]}.** {reading['means']}\n\n"
        f"{'Probable causes, in order' if len(reading['causes']) > 1 else 'Cause'}:\n\n{causes}\n\n"
        f"Look at next:\n\n{next_steps}\n\n{said}"
        f"{f'Explained in: {links}' if links else ''}\n"
    )


def names() -> str:
    """What the names in logs hold, as a table."""
    rows = []
    for names, library, meaning in _data()["names"]:
        code = ", ".join(f"`{name}`" for name in names.split(", "))
        rows.append(f"| {code} | {library} | {meaning} |")
    return "\n".join(["| Name | Printed by | What it holds |", "|---|---|---|", *rows])
