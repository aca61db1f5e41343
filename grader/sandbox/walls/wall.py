"""What the grader puts around a cold worker from outside: the one interface of the walls that differ between systems.

A worker confines itself as far as its system lets it (`worker.confine`). What it cannot do to itself is done here:
programs that wrap its command line, limits that the grader watches, and an end that reaches everything it started.
Every wall may fail to come up; then grading goes on without it, and the report does not name it.
"""

from __future__ import annotations


class OuterWall:
    """One wall, for one worker. Its methods are called in this order; here they do nothing.

    Attributes:
        name: What the report calls it.
    """

    name = ""

    def around(self, command: list[str]) -> list[str]:
        """The command line that starts the worker behind this wall. Not called where none of these got it to start."""
        return command

    def environment(self) -> dict[str, str]:
        """What the worker's environment has to hold."""
        return {}

    def started(self, process: int) -> None:
        """The process runs, and no student code has been sent to it."""

    def stands(self) -> bool:
        """Put up the rest, now that the worker has imported what it needs. Still no student code has been sent.

        Returns:
            Whether the wall holds.
        """
        return False

    def reason(self) -> str:
        """Why this wall ended the worker, as a few words for the report; "" if it did not."""
        return ""

    def end(self) -> None:
        """End what the worker started, and let go of everything. The worker is not reaped yet."""
