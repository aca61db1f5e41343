"""The page with all options of the commands."""

from __future__ import annotations

import argparse
import functools
import importlib

from grader.commands.course import COMMANDS
from grader.commands.grade_options import command_line

PATH = "docs/instructors/options.md"
_HEAD = """\
---
description: Every option of the commands that an instructor of the GRPO course uses
---

# All options

This page shows the `--help` of each command, without the examples.
"""


def text() -> str:
    """The options of all commands, without the examples."""
    commands = []
    for name, what in COMMANDS.items():
        command = argparse.ArgumentParser(f"course {name}", description=f"{what[0].upper()}{what[1:]}.", add_help=False)
        importlib.import_module(f"grader.commands.{name.replace('-', '_')}").add_arguments(command)
        commands.append(command)
    return _HEAD + "".join(map(_section, [*commands, command_line(everything=True)]))


def _section(command: argparse.ArgumentParser) -> str:
    exit_codes = (command.epilog or "").partition("\nexit code: ")[2]
    codes = f"\nExit code: {' '.join(exit_codes.split())}.\n" if exit_codes else ""
    description, command.description, command.epilog = command.description, None, None
    command.formatter_class = functools.partial(argparse.HelpFormatter, width=88, max_help_position=28)
    return f"\n## {command.prog}\n\n{description}\n\n```text\n{command.format_help()}```\n{codes}"
