"""The error of a file of the course that its author must repair. Commands print its text and stop.

Left out: files of students, which are data and never an error.
"""


class FileRefused(ValueError):
    """A file of the course cannot be used; the text says which, where, and what to do."""


def not_python(file: str, error: SyntaxError) -> FileRefused:
    """The error of a file that does not parse.

    Args:
        file: Its path from the repository root.
        error: What the parser said.
    """
    return FileRefused(f"{file}:{error.lineno}: make this file valid Python: {error.msg}")
