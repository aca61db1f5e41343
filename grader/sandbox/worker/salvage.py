"""Executes a module so that a mistake costs the statement that contains it, not the whole file.

A text that is not Python is cut at module level, and blocks that do not compile are not executed. A statement that
raises is skipped. What was not executed is returned, so that the report can say so. A function that may have been cut
in two is not executed either: half a function must not be graded as if it were whole.
"""

from __future__ import annotations
import __future__

import ast
import re
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

_STRING_OR_COMMENT = re.compile(
    r"""#[^\n]*|(\"{3}|'{3})(?:\\.|(?!\1).)*+(?:\1)?|(["'])(?:\\.|(?!\2)[^\n])*+\2?""", re.DOTALL
)
_CELL = re.compile(r"# code cell \d+ of .+\.ipynb", re.IGNORECASE)
_HEADER = re.compile(r"(?:async[ \t]+def|def|class)[ \t]+\w|@\w")
_IMPORT = re.compile(r"import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b")
_FUTURE_IMPORT = re.compile(r"from[ \t]+__future__[ \t]+import[ \t]+annotations[ \t]*")
_DECORATOR = re.compile(r"@\w")
_CONTINUES = re.compile(r"[)\]}]|(?:elif|else|except|finally)\b")
_OPENS = re.compile(r"(?:async|def|class|if|for|while|with|try|match)\b|@|<<<<<<<")
_ENDS_A_FUNCTION = re.compile(r"[ \t]*(?:return|yield)\b", re.M)
_CONFLICT, _CONFLICT_END = re.compile(r"<{7}(?: |$)"), re.compile(r">{7}(?: |$)")
_BINDS = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.M)
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_MOST = 20  # parts that are returned


class Skipped(NamedTuple):
    """A part of a module that was not executed."""

    line: int
    error: BaseException
    names: tuple[str, ...]  # what it would have defined


def _of_this_file(error: BaseException, file_name: str) -> BaseException:
    """The exception; if another module that is imported is not Python, one that says so."""
    if isinstance(error, SyntaxError) and error.filename != file_name:
        return ImportError(f"{str(error.filename).rpartition('/')[2]} cannot be imported ({type(error).__name__})")
    return error


class Block(NamedTuple):
    """Lines of a text, counted from 0."""

    start: int
    end: int


def execute(text: str, file_name: str, namespace: dict[str, Any]) -> list[Skipped]:
    """Execute the text of a module, and return what was not executed.

    Raises:
        SyntaxError: nothing in it can be read.
    """
    not_executed: list[Skipped] = []
    try:
        code = _compiled_in_cells(text, file_name)
    except SyntaxError as error:
        text, not_executed = _readable(text, file_name)
        if not _HEADER.search(text) and not re.search(r"^\w+\s*=", text, re.M):
            raise
        try:
            code = compile(text, file_name, "exec")
        except SyntaxError:
            raise error from None
    try:
        exec(code, namespace)
    except BaseException as error:
        _refuse_to_skip(error)
        not_executed += _rest(text, file_name, namespace, error, code.co_flags & _FUTURE)
    return not_executed[:_MOST]


def _compiled_in_cells(text: str, file_name: str) -> CodeType:
    """The code of a text, of which each cell of a notebook is Python by itself.

    Raises:
        SyntaxError: it is not.
    """
    code, lines = compile(text, file_name, "exec"), text.split("\n")
    cells = [*_cells(lines)] if ".ipynb" in text else []
    for error in (_error(lines, cell, file_name) for cell in cells):
        if error is not None:
            raise error
    return code


def _refuse_to_skip(error: BaseException) -> None:
    """Raise what ends more than a statement: Ctrl-C, and leaving the debugger."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "BdbQuit":
        raise error


def _rest(text: str, file_name: str, namespace: dict[str, Any], error: BaseException, flags: int) -> Iterator[Skipped]:
    """Skip the statement that raised, execute the others one by one, and yield those that raise."""
    statements, line = ast.parse(text, file_name).body, _line_of(error, file_name)
    first = next((n for n, each in enumerate(statements) if line and (each.end_lineno or 0) >= line), -1)
    if first < 0:
        raise error
    yield from _not_executed(statements[first], error, file_name, namespace, flags)
    for part in statements[first + 1 :]:
        yield from _tried(part, file_name, namespace, flags)


def _tried(part: ast.stmt, file_name: str, namespace: dict[str, Any], flags: int) -> Iterator[Skipped]:
    """Execute a statement; if it raises, yield what failed of it."""
    try:
        exec(compile(ast.Module([part], []), file_name, "exec", flags=flags), namespace)
    except BaseException as error:
        _refuse_to_skip(error)
        yield from _not_executed(part, error, file_name, namespace, flags)


def _not_executed(
    part: ast.stmt, error: BaseException, file_name: str, namespace: dict[str, Any], flags: int
) -> Iterator[Skipped]:
    """What failed of a statement that raised: all of it, but of an import only the names that fail by themselves."""
    parts = _parts(part)
    if len(parts) == 1:
        yield Skipped(_line_of(error, file_name) or part.lineno, _of_this_file(error, file_name), _names(part))
        return
    for each in parts:
        yield from _tried(each, file_name, namespace, flags)


def _line_of(error: BaseException, file_name: str) -> int:
    """The line at module level where an exception was raised; 0 if there is none."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == file_name and frame.f_code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _parts(statement: ast.stmt) -> list[ast.stmt]:
    """An import of several names as one import per name; any other statement as it is."""
    if isinstance(statement, ast.Import):
        return [ast.copy_location(ast.Import([alias]), statement) for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        module, level = statement.module, statement.level
        return [ast.copy_location(ast.ImportFrom(module, [alias], level), statement) for alias in statement.names]
    return [statement]


def _names(statement: ast.stmt) -> tuple[str, ...]:
    """What a statement defines at module level."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (statement.name,)
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.alias):
            names.append(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return tuple(dict.fromkeys(names))


def _readable(text: str, file_name: str) -> tuple[str, list[Skipped]]:
    """The text without the blocks that do not compile, on the same lines, and these blocks."""
    lines = text.split("\n")
    kept: list[Block] = []
    bad: list[tuple[Block, SyntaxError]] = []
    for block in _cells(lines):
        for piece, error in _compiled(lines, block, file_name):
            if error is None:
                kept.append(piece)
                continue
            if kept:
                kept += _split(lines, kept.pop(), strings=True)
            if kept and kept[-1].end == piece.start and _cuts(lines, kept[-1], piece):
                piece = Block(kept.pop().start, piece.end)
            bad.append((piece, error))
    not_executed = []
    for number, line in enumerate(lines):  # a later cell may have one, where it is not allowed; all code has them here
        lines[number] = _FUTURE_IMPORT.sub("pass", line)
    for piece, error in bad:
        code = "\n".join(lines[piece.start : piece.end])
        names = tuple(dict.fromkeys(name for pair in _BINDS.findall(_without_indented(code)) for name in pair if name))
        not_executed.append(Skipped(error.lineno or piece.start + 1, error, names))
        # An older definition of the same name is not what the student means.
        forget = "; ".join(f"globals().pop({name!r}, None)" for name in names)
        lines[piece.start : piece.end] = [forget] + [""] * (piece.end - piece.start - 1)
    return "\n".join(lines), not_executed


def _without_indented(code: str) -> str:
    return "\n".join(line for line in code.split("\n") if line[:1].strip())


def _cells(lines: Sequence[str]) -> Iterator[Block]:
    """The code cells of a notebook; any other text as a whole."""
    starts = [number for number, line in enumerate(lines) if _CELL.fullmatch(line)]
    starts = [0, *(number for number in starts if number)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield Block(start, end)


def _compiled(lines: Sequence[str], block: Block, file_name: str) -> Iterator[tuple[Block, SyntaxError | None]]:
    """The smallest pieces of a block, each with what is wrong with it."""
    error = _error(lines, block, file_name)
    if error is None:
        yield block, None
        return
    for piece in _split(lines, block, strings=True):
        error = _error(lines, piece, file_name)
        smaller = [piece] if error is None else [*_split(lines, piece, strings=False)]
        for each in smaller:
            yield each, error if len(smaller) == 1 else _error(lines, each, file_name)


def _error(lines: Sequence[str], block: Block, file_name: str) -> SyntaxError | None:
    """What keeps some lines from being Python, with the line numbers of the whole text."""
    try:
        compile("\n" * block.start + "\n".join(lines[block.start : block.end]) + "\n", file_name, "exec")
    except SyntaxError as error:
        return error
    return None


def _split(lines: Sequence[str], block: Block, *, strings: bool) -> Iterator[Block]:
    """The statements at module level of some lines.

    Args:
        lines: The whole text.
        block: Which lines of it.
        strings: Respect strings and brackets. If one of them is not closed, this joins what does not belong together.
    """
    part = "\n".join(lines[block.start : block.end])
    code = _STRING_OR_COMMENT.sub(_blank if strings else _blank_comment, part).split("\n")
    only_headers = not strings and ('"""' in part or "'''" in part)
    start, depth, decorated, conflict = block.start, 0, False, False
    for number, line in enumerate(code, block.start):
        raw, inside = lines[number], conflict
        conflict = (conflict or bool(_CONFLICT.match(raw))) and not _CONFLICT_END.match(raw)
        if inside:  # both sides and the last marker are one piece
            continue
        header, at_left = bool(_HEADER.match(line)), bool(line[:1].strip() and raw[:1].strip())
        whole = header or (not strings and bool(_IMPORT.match(line))) or not (depth > 0 or only_headers)
        begins = at_left and whole and not _CONTINUES.match(line)
        if (begins and not decorated) or _CONFLICT.match(raw):
            if number > start:
                yield Block(start, number)
            start, depth = number, 0
        if line.strip():
            decorated = bool(_DECORATOR.match(line)) or (decorated and line[:1].isspace())
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}")) if strings else 0
    yield Block(start, block.end)


def _blank(match: re.Match[str]) -> str:
    """A string as a name on the same lines, so that a line that begins with one still begins a statement."""
    return ("" if match[0].startswith("#") else "_") + "\n" * match[0].count("\n")


def _blank_comment(match: re.Match[str]) -> str:
    return "" if match[0].startswith("#") else match[0]


def _code(lines: Sequence[str], block: Block) -> list[str]:
    """The lines of a block that are not empty and no comments."""
    return [line for line in lines[block.start : block.end] if line.strip() and not line.lstrip().startswith("#")]


def _cuts(lines: Sequence[str], before: Block, piece: Block) -> bool:
    """Whether a piece that does not compile may be the rest of the function above it."""
    above, code = _code(lines, before), _code(lines, piece)
    if not above or not _HEADER.match(above[0]) or not code:
        return False
    if _CONFLICT.match(code[0]):  # it is whole if the first side begins with something else
        return len(code) > 1 and code[1][:1].isspace()
    if _HEADER.match(code[0]):
        return False
    indented = any(line[:1].isspace() for line in code)
    return (indented and not _OPENS.match(code[0])) or bool(_ENDS_A_FUNCTION.search("\n".join(code)))
