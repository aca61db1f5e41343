"""What is odd about answers to the bug hunt, before they are handed in: `python -m starter.run_bughunt check`.

Given code. It reads `bughunt.toml` beside the pieces and says everything that the grader would refuse, each thing with
its line. It knows the shape of an answer, what each piece takes, and what a call returns.

Left out on purpose: the right pieces, and so whether an answer is right.
"""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = ("axis", "shift", "sign", "mask", "scale", "stale", "limit", "random")
LONGEST = 100
"""Entries of a list in a call, as the grader takes it."""
_PARTS = ("bug", "line", "kind", "call")
_HEADING = re.compile(r"^\s*\[\s*([A-Za-z][\w-]*)(\.[\w.-]+)?\s*\]\s*(?:#.*)?$")
_TAKES = re.compile(r"(table of )?(whole )?(numbers?|texts)(?: from (\S+) to ([^\s,]+))?")

Piece = Callable[..., Any]


@dataclass(frozen=True)
class Section:
    """What is in the file below one heading.

    Attributes:
        first: Line of the heading, from 1; of what comes before all headings 0.
        text: The lines below it.
    """

    first: int
    text: str

    def place(self, entry: str) -> int:
        """The line of an entry, or of the heading if there is none."""
        lines = self.text.splitlines()
        found = (n for n, line in enumerate(lines, 1) if re.match(rf"\s*{re.escape(entry)}\s*[=.]", line))
        return self.first + next(found, 0)


@dataclass(frozen=True)
class Odd:
    """Something to look at.

    Attributes:
        line: Of the file.
        sentence: What is the matter there.
    """

    line: int
    sentence: str


@dataclass(frozen=True)
class Looked:
    """What one answer says, and what is odd about it."""

    said: str
    odd: Sequence[Odd] = ()


def sections(text: str) -> dict[str, list[Section]]:
    """The parts of the file by their headings, "" for what comes before them, so that one cannot hide the others."""
    found: dict[str, list[Section]] = {}
    name, first, lines = "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        heading = _HEADING.match(line)
        if heading and heading[2] and heading[1] == name:
            lines.append(f"[{heading[2][1:]}]")  # a table of its own for the call
        elif heading:
            found.setdefault(name, []).append(Section(first, "\n".join(lines)))
            name, first, lines = heading[1], number, []
        else:
            lines.append(line)
    found.setdefault(name, []).append(Section(first, "\n".join(lines)))
    return found


def odd_as_a_whole(parts: Mapping[str, Sequence[Section]], pieces: Mapping[str, Piece], set_name: str) -> list[Odd]:
    """What is odd about the file and belongs to no piece."""
    head, found = parts[""][0], list[Odd]()
    entries, problem = _entries(head)
    if problem:
        found.append(problem)
    elif entries.get("set") != set_name:
        said = f'begin the file with set = "{set_name}", which is the set of your bughunt_pieces.py'
        found.append(Odd(max(head.place("set"), 1), said))
    for name in entries.keys() - {"set"}:
        found.append(Odd(head.place(name), f"{name} belongs below the heading of a piece"))
    for name, several in parts.items():
        if name and name not in pieces:
            found.append(Odd(several[0].first, f"there is no piece {name}; there are {', '.join(pieces)}"))
        elif len(several) > 1:
            found.append(Odd(several[1].first, f"[{name}] is there twice; leave one"))
    return found


def looked_at(piece: Piece, section: Section | None, lines: Sequence[str], show: Callable[[Any], str]) -> Looked:
    """What an answer says, and all that is odd about it.

    Args:
        piece: That it is about.
        section: What is below its heading; None if there is no such heading.
        lines: Of the file of the pieces.
        show: Makes a text of what a piece returned.
    """
    if section is None:
        return Looked("no answer yet")
    answer, problem = _entries(section)
    if problem:
        return Looked("an answer that cannot be read", [problem])
    if not answer:
        return Looked("no answer yet")
    odd = [*_odd_entries(answer, section)]
    if answer.get("bug") is False:
        return Looked("no bug", odd)
    odd += [*_odd_line(piece, answer, section), *_odd_kind(answer, section)]
    said = f"a bug of kind {answer.get('kind', '(none)')} in line {answer.get('line', '(none)')}"
    if type(answer.get("line")) is int and 0 < answer["line"] <= len(lines):
        said += f": {lines[answer['line'] - 1].strip()}"
    returned, of_call = _looked_at_call(piece, answer.get("call", {}), section, show)
    return Looked(f"{said}\n{returned}" if returned else said, [*odd, *of_call])


def _entries(section: Section) -> tuple[dict[str, Any], Odd | None]:
    """What a section says, or why it cannot be read."""
    try:
        return tomllib.loads(section.text), None
    except (ValueError, RecursionError) as error:
        where = re.search(r"at line (\d+)", str(error))
        line = section.first + (int(where[1]) if where else len(section.text.splitlines()))
        what = str(error).partition(" (at ")[0]
        example = 'write NAME = VALUE in each line, such as line = 42, kind = "sign" or call = { scores = [1, 0] }'
        return {}, Odd(line, f"this cannot be read ({what[:1].lower()}{what[1:]}); {example}")


def _odd_entries(answer: Mapping[str, Any], section: Section) -> Iterator[Odd]:
    for name in answer:
        if name not in _PARTS:
            yield Odd(section.place(name), f"there is no entry {name}; an answer has {', '.join(_PARTS)}")
    if not isinstance(answer.get("bug"), bool):
        yield Odd(section.place("bug"), "say bug = true or bug = false, without quotes")
    elif not answer["bug"] and (more := [name for name in _PARTS[1:] if name in answer]):
        yield Odd(section.place(more[0]), f"with bug = false there is no {' or '.join(more)} to name; take it out")


def _odd_line(piece: Piece, answer: Mapping[str, Any], section: Section) -> Iterator[Odd]:
    code, first = inspect.getsourcelines(piece)
    line, place = answer.get("line"), section.place("line")
    last = first + len(code) - 1
    if type(line) is not int:
        yield Odd(place, "say in which line the bug is: line = 42, a number of the file of the pieces")
    elif not first <= line <= last:
        yield Odd(place, f"line {line} is not in this piece, which has lines {first} to {last}")


def _odd_kind(answer: Mapping[str, Any], section: Section) -> Iterator[Odd]:
    if "kind" not in answer:
        yield Odd(section.first, f"there is no kind; it is one of {', '.join(KINDS)}")
    elif answer["kind"] not in KINDS:
        yield Odd(section.place("kind"), f"kind must be one of {', '.join(KINDS)}, not {ascii(answer['kind'])[:60]}")


def _looked_at_call(piece: Piece, call: Any, section: Section, show: Callable[[Any], str]) -> tuple[str, Sequence[Odd]]:
    """What the call of an answer returns, and what is odd about it."""
    place = section.place("call")
    if not isinstance(call, dict):
        return "", [Odd(place, "a call is a table with a value for each argument: call = { scores = [1, 0] }")]
    if not call:
        return "", [Odd(section.first, "there is no call that shows the bug")]
    if problems := problems_of(piece, call):
        return "", [Odd(place, problem) for problem in problems]
    try:
        return f"its call returns {show(piece(**call))}", []
    except Exception as error:  # the pieces check nothing
        return "", [Odd(place, f"the call raises {type(error).__name__}: {error}")]


def takes(piece: Piece) -> dict[str, str]:
    """What is said below `Takes:` of each argument of a piece."""
    text = inspect.cleandoc(piece.__doc__ or "").partition("Takes:\n")[2].partition("\n\n")[0]
    return dict(re.findall(r"^ +(\w+): (.*)$", text, re.M))


def problems_of(piece: Piece, call: Mapping[str, Any]) -> list[str]:
    """Why the grader would not take a call, a sentence for each argument; empty if it would."""
    wanted = takes(piece)
    found = [f"the call needs a value for {name}: {said}" for name, said in wanted.items() if name not in call]
    found += [f"{piece.__name__} has no {name}; it has {', '.join(wanted)}" for name in call if name not in wanted]
    for name, said in wanted.items():
        if name in call and (problem := _problem(said, call[name])):
            found.append(f"{name} {problem}")
    return found


def _problem(said: str, value: Any) -> str:
    """What is wrong with a value for an argument; empty if nothing is."""
    table, whole, kind, low, high = _TAKES.match(said).groups()  # type: ignore[union-attr]
    rows = value if table else [value]
    if kind != "number" or table:
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            return (
                "must be a table, a list of rows such as [[1, 0], [2, 3]]" if table else "must be a list, in brackets"
            )
        if not all(0 < len(each) <= LONGEST for each in (rows, *rows)):
            return f"must have 1 to {LONGEST} entries"
        if len({*map(len, rows)}) > 1:
            return "must have rows of equal length"
    entries = [value] if kind == "number" and not table else [each for row in rows for each in row]
    for each in entries:
        if kind == "texts":
            if not isinstance(each, str):
                return "must hold texts, in quotes"
        elif isinstance(each, bool) or not isinstance(each, int if whole else int | float):
            return f"must hold {'whole numbers' if whole else 'numbers'}, not {ascii(each)[:40]}"
        elif low and not float(low) <= each <= float(high):
            return f"must be from {low} to {high}, not {each}"
        elif not -1e6 <= each <= 1e6:
            return f"must be from -1000000 to 1000000, not {each}"
    return ""
