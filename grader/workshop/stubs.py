"""Write the stubs in `starter/` from `reference/`: the same files with the marked solution regions taken out.

    ### BEGIN SOLUTION: what to do (about 5 lines)         # TODO(advantages): what to do (about 5 lines)
    ...                                            becomes raise NotImplementedError("advantages.f is not written yet")
    ### END SOLUTION

The tokenizer finds the markers, so the same words in a string are just words. A region is a run of whole statements in
one function body, below the docstring: signatures, docstrings and given code stay as they are. A comment that is nearly
a marker is refused, because a misspelt marker would hand out the solution.

Left out on purpose: tags and text for the student only (one marker is the whole language), subfolders, a guard against
overwriting edited stubs (students hold no `reference/`, so the command stops before it writes into their folder).
"""

import ast
import functools
import io
import os
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

from ..core.refusal import FileRefused

BANNER = '# Written by "course dev stubs" from the model answer; replace each TODO.\n'

_KEPT = 64
"""Texts whose regions and stubs are remembered: every handout reads the same model answers several times."""
_MARKER = re.compile(r"### (BEGIN SOLUTION: *(?P<todo>\S.*)|END SOLUTION)")
# Wider than the markers on purpose: `## BEGIN SOLUTION`, `# end_solution 2`, `### SOLUTION`, `### BEGIN SOLUTON: x`.
_ATTEMPT = re.compile(r"###.*(solution|\b(begin|end)\b)|.*(?<![a-z])(begin|end)[\W_]*solution", re.IGNORECASE)


class StubError(FileRefused):
    """A model answer that no stub can be made from; its text is "FILE:LINE: what to do"."""

    def __init__(self, path: Path, line: int, sentence: str) -> None:
        super().__init__(path, line, sentence)
        self.path, self.line, self.sentence = path, line, sentence

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


@dataclass(frozen=True)
class _Region:
    begin: int  # lines are counted from 1
    first: int  # first line with code
    end: int
    indent: str
    todo: str


@functools.lru_cache(_KEPT)
def make_stub(source: str, *, path: Path) -> str:
    r"""Take the solution regions out of one model answer.

    Args:
        source: Text of the model answer.
        path: Its file. The stem names the module in the stub's messages; errors name the path as given.

    Returns:
        The stub, with line ends "\n". Text without a region comes back without a banner.

    Raises:
        StubError: the source does not parse, or a marker or a region breaks a rule.
    """
    source, tree, regions = _read(source, path)
    lines = source.split("\n")
    for region in reversed(regions):  # from the bottom up, so that the line numbers above stay true
        name = _function(tree, region, path)
        solution = lines[region.begin : region.end - 1]
        lines[region.begin - 1 : region.end] = [
            f"{region.indent}# TODO({path.stem}): {region.todo}",
            f'{region.indent}raise NotImplementedError("{path.stem}.{name} is not written yet")',
        ]
        try:
            # Whole statements of one body are valid on their own, and so is the rest without them.
            whole = len(ast.parse("\n".join(["def f():", f"{region.indent}0", *solution])).body) == 1
            _compiled("\n".join(lines))
        except SyntaxError:
            whole = False
        if not whole:
            raise StubError(path, region.begin, "mark whole statements of one function body that the rest can spare")
    return (BANNER if regions else "") + "\n".join(lines)


def functions_to_write(source: str, *, path: Path) -> list[str]:
    """Names of the functions of a model answer that have a solution region, in order.

    Args:
        source: Text of the model answer.
        path: Its file, as errors name it.

    Raises:
        StubError: the source does not parse, or a marker breaks a rule.
    """
    _, tree, regions = _read(source, path)
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        if any(node.lineno < region.begin and region.first <= (node.end_lineno or 0) for region in regions)
    ]


def make_stubs(reference: Path) -> dict[str, str]:
    """Make the stub of every model answer.

    Args:
        reference: Folder of the model answers; its *.py files but `__init__.py` are read, subfolders are not.

    Returns:
        File name to text, sorted by name.

    Raises:
        StubError: a file is not UTF-8, breaks a rule, or has no solution region, so that it is given code.
        OSError: the folder is missing, holds no *.py file or cannot be read.
    """
    paths = [path for path in sorted(reference.glob("*.py")) if path.name != "__init__.py"]
    if not paths:
        raise FileNotFoundError(f"{reference}: name a folder that holds model answers (*.py)")
    stubs = {}
    for path in paths:
        try:
            source = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise StubError(path, error.object[: error.start].count(b"\n") + 1, "save this file as UTF-8") from error
        stubs[path.name] = make_stub(source, path=path)
        if not stubs[path.name].startswith(BANNER):
            raise StubError(path, 1, "mark the solution of a function, or move given code to starter/given/")
    return stubs


def write_stubs(reference: Path, starter: Path) -> list[Path]:
    """Write the stubs whose text changed, each one whole or not at all.

    Args:
        reference: Folder of the model answers.
        starter: Folder of the stubs, made when missing. Edited stubs are overwritten, other files are left alone.

    Returns:
        The files written, sorted. When a model answer is refused, nothing is written.

    Raises:
        StubError: as for `make_stubs`.
        OSError: as for `make_stubs`, or a file cannot be written.
    """
    files = _contents(reference)
    starter.mkdir(parents=True, exist_ok=True)
    changed = [starter / name for name, text in files.items() if not _holds(starter / name, text)]
    for path in changed:
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_bytes(files[path.name])
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return changed


def stale_files(reference: Path, starter: Path) -> list[str]:
    """Say which stubs are not what `write_stubs` would write.

    Args:
        reference: Folder of the model answers.
        starter: Folder of the stubs.

    Returns:
        One sentence per stub that differs, is missing or has no model answer. Line ends do not count: git may
        change them on checkout.

    Raises:
        StubError: as for `make_stubs`.
        OSError: as for `make_stubs`, or there is no starter folder.
    """
    files = _contents(reference)
    if not starter.is_dir():
        raise NotADirectoryError(f"{starter}: name a folder that holds the stubs")
    found = {path.name for path in starter.glob("*.py") if path.read_bytes().startswith(BANNER.encode())}
    reasons = [why_stale(starter / name, content) for name, content in files.items()]
    reasons += [f"{_shown(starter / name)} has no model answer: delete it" for name in found - files.keys()]
    return sorted(filter(None, reasons))


def why_stale(path: Path, content: bytes) -> str:
    """Why a file of the starter folder is not what `write_stubs` would write, as a sentence; "" if it is."""
    if not path.is_file():
        return f"{_shown(path)} is missing: `course dev stubs` writes it"
    return "" if _holds(path, content) else f"{_shown(path)} differs from what `course dev stubs` writes"


def _shown(path: Path) -> str:
    return f"{path.parent.absolute().name}/{path.name}"


@functools.lru_cache(_KEPT)
def _read(source: str, path: Path) -> tuple[str, ast.Module, list[_Region]]:
    """A model answer with line ends "\\n", as a tree, and its regions from top to bottom."""
    source = io.StringIO(source, newline=None).read()  # tokenizer and parser do not agree on what "\r" is
    try:
        return source, _compiled(source), _regions(source, path)
    except (SyntaxError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None) or 1
        raise StubError(path, line, f"make this file valid Python: {error.args[0]}") from error


def _compiled(source: str) -> ast.Module:
    """Parse, and compile too: only the compiler misses the variable of a `nonlocal` that went away with a region."""
    try:
        tree = ast.parse(source)
        compile(tree, "<stub>", "exec", dont_inherit=True)
    except ValueError as error:  # a lone surrogate, in some versions a null byte
        raise SyntaxError(str(error)) from error
    return tree


def _regions(source: str, path: Path) -> list[_Region]:
    """The regions of a file from top to bottom."""
    regions: list[_Region] = []
    begin: tuple[int, str, str] | None = None  # line, indentation and sentence of the open region
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or not _ATTEMPT.match(token.string):
            continue
        line, column = token.start
        marker, indent = _MARKER.fullmatch(token.string.rstrip()), lines[line - 1][:column]
        if not marker or indent.strip():
            sentence = "write `### BEGIN SOLUTION: what to do` or `### END SOLUTION` alone on its line, or reword this"
            raise StubError(path, line, sentence)
        if marker["todo"]:
            if begin:
                raise StubError(path, line, f"end the region of line {begin[0]} before you begin another")
            begin = line, indent, marker["todo"]
        elif not begin:
            raise StubError(path, line, "begin a region before you end it, or delete this marker")
        elif indent != begin[1]:
            raise StubError(path, line, f"indent this marker exactly like the one in line {begin[0]}")
        else:
            code = [n for n in range(begin[0] + 1, line) if re.match(r"\s*[^\s#]", lines[n - 1])]
            if not code:
                raise StubError(path, begin[0], "put the solution into this region: it holds no statement")
            regions.append(_Region(begin[0], code[0], line, indent, begin[2]))
            begin = None
    if begin:
        raise StubError(path, begin[0], "end this region with `### END SOLUTION`")
    return regions


def _function(tree: ast.Module, region: _Region, path: Path) -> str:
    """Name of the innermost function around a region, with its class if it is a method."""
    scopes = [
        node
        for node in ast.walk(tree)  # goes from the outside in
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if node.lineno < region.begin and region.first <= (node.end_lineno or 0)
    ]
    if not scopes or isinstance(scopes[-1], ast.ClassDef):
        raise StubError(path, region.begin, "move this region inside the body of one function")
    *outer, function = scopes
    if ast.get_docstring(function) is not None and function.body[0].lineno > region.begin:
        raise StubError(path, region.begin, "move this marker below the docstring: a stub keeps it")
    is_method = outer and isinstance(outer[-1], ast.ClassDef)
    return f"{outer[-1].name}.{function.name}" if is_method else function.name


def _contents(reference: Path) -> dict[str, bytes]:
    return {name: text.encode() for name, text in make_stubs(reference).items()}


def _holds(path: Path, content: bytes) -> bool:
    if not path.is_file():
        return False
    return path.read_bytes().replace(b"\r\n", b"\n") == content
