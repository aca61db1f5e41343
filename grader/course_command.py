"""The instructors' command: `course stubs`, `course vectors`, `course selftest`, `course ablate` and more."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import (
    __version__,
    ablations,
    answer_key,
    golden,
    mistakes,
    recordings,
    selftest,
    stubs,
    worksheet_command,
    write_vectors,
)
from .sandbox import SandboxError

_EXAMPLES = """examples:
  course stubs               write starter/ from the model answers
  course stubs --check       is starter/ current?
  course vectors             write the worked examples' answers from the model answers and the misconceptions
  course golden              write what the browser must agree with: runs of the simulation, the worksheet's table
  course selftest            does the grader treat every answer whose grade is known as it must?
  course selftest clip       the same for one exercise
  course worksheet me you --out page.html
                             worksheets side by side, with the answer key, as one HTML page
  course ablate clip         what the clip range does: runs, curves as CSV and PNG
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand. Exit code 0 fine, 1 something is stale or wrong, 2 usage, 3 the grader could not run."""
    parser = argparse.ArgumentParser(
        prog="course",
        description="The instructors' command of the GRPO course.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module, text in (
        ("stubs", stubs, "write starter/ from the model answers"),
        ("vectors", write_vectors, "write the worked examples' answers"),
        ("mistakes", mistakes, "write the pages of common mistakes"),
        ("golden", golden, "write what the browser must agree with"),
        ("selftest", selftest, "grade answers whose grade is known"),
        ("ablate", ablations, "write the runs that show what each setting does"),
        ("recordings", recordings, "write the recorded runs as a module for the browser"),
        ("answer-key", answer_key, "measure the answers to the worksheet's questions"),
        ("worksheet", worksheet_command, "write a page with submitted worksheets side by side"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except SandboxError as error:
        print(f"course: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
