"""The error for a file of the course that its author must repair. Commands print its text and stop.

Files of students never raise it, because they are data.
"""


class FileRefused(ValueError):
    """A file of the course is unusable; the text says which one, where, and what to do."""


def not_python(file: str, error: SyntaxError) -> FileRefused:
    """The error for a file that does not parse, by its path from the repository root."""
    return FileRefused(f"{file}:{error.lineno}: make this file valid Python: {error.msg}")
