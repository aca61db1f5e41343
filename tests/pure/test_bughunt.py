"""The bug hunt: the pieces are what they must be, a hand-in gets what it earns, and no text gives a bug away."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import random
import re
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from repairs import Repair, as_in_its_file, lines_of, repairs, with_parts

from grader.core import course
from grader.core.contents import read_contents, read_submission
from grader.core.files import members_of_folder
from grader.core.result import FAILED, NOT_WRITTEN, PASSED, WAITING, Result
from grader.core.secret import PUBLIC
from grader.core.submission import Submission
from grader.exercises.bughunt import checks, hidden_checks, known, sets
from grader.exercises.bughunt.checks import KINDS, LONGEST_FILE, LONGEST_LIST, PIECES, PRACTICE, Claim
from grader.exercises.bughunt.sets import Bug, Draw, Family, Piece
from grader.grading.check import NotYet, checks_of
from grader.grading.hand_in import HandIn, NotAnswered, WrongAnswer
from grader.grading.run import Grading
from grader.grading.student import ModuleProblem
from grader.reports.outcomes import afterwards, at_home
from grader.workshop import missing as module_missing
from grader.workshop.functions import read_modules
from grader.workshop.missing import left_over, missing
from grader.workshop.stubs import make_data_stub

SECRET, OTHER_SECRET = "5" * 64, "6" * 64
NAMES = ("Ada", "Bo Li", "Chloé", "D. E. Fu", "Émile", "Fatima", "Gudrun", "Hans-Peter", "Ines", "José")
CODES = tuple(sets.name_of_set(name, SECRET) for name in NAMES)
FILE = "bughunt.toml"


def earned(text: str, secret: str = PUBLIC) -> int:
    """The points of a hand-in, by the checks themselves: one whose gate is closed earns nothing."""
    hand_in, points, closed = HandIn(FILE, text, secret), 0, set()
    for check in checks_of("bughunt", hidden=True):
        test = vars(hidden_checks if check.hidden else checks)[_test(check.id)]
        if check.function in closed:
            continue
        try:
            test(hand_in)
            points += check.points
        except (WrongAnswer, NotAnswered, NotYet, ModuleProblem):
            closed |= {check.function} if check.gate else set()
    return points


def _test(check: str) -> str:
    return f"test_{check.partition('.')[2]}"


def graded(text: str, secret: str = PUBLIC) -> Result:
    """A whole grading. Nothing of it may start a worker."""
    return Grading(Submission("one", Path("one"), {FILE: text}, {}), ["bughunt"], _no_worker, secret=secret).run()


def _no_worker(*_: object) -> Any:
    raise AssertionError("data needs no worker")


def with_bug(family: Family, bug: Bug, seed: int) -> Piece:
    """A piece of a family with one of its bugs."""
    draw = Draw(seed)
    names = {name: draw.one((name, *others)) for name, others in family.names.items()}
    body, right, places = sets._bodies(family, names, draw, bug)
    signature = sets._written(family.signature, names)
    assert [number for number, (one, other) in enumerate(zip(body, right, strict=True)) if one != other] == places[:1]
    text, other = (sets._lines(signature, *lines) for lines in (body, right))
    return Piece(family, names.get(family.name, family.name), text, other, tuple(places), bug.kinds, names)


# The pieces


@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_each_bug_of_a_family_is_one_line_and_shows_however_the_rest_is_written(family: Family) -> None:
    named = re.findall(r"\w+", family.signature.partition("(")[2])
    assert len(family.bugs) >= 3 and [*family.takes] == named
    for bug in family.bugs:
        assert {*bug.kinds} <= {*KINDS}
        for seed in range(4):
            piece = with_bug(family, bug, seed)
            assert [piece.problem_of(call) for call in piece.calls] == [""] * len(piece.calls)
            assert any(map(piece.shown_by, piece.calls)), bug


@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_a_line_that_is_right_to_name_too_repairs_the_piece_with_the_bug_left_in_it(family: Family) -> None:
    for bug in family.bugs:
        for other, text in family.repaired(bug).items():
            lines, right, _ = lines_of(family, bug)
            lines[other] = family.statements[other].indent + text
            wanted, repaired = (sets._lines(family.signature, *each) for each in (right, lines))
            for call in family.calls:
                value = sets.returned(wanted, family.name, call)
                assert value is not None and sets._alike(sets.returned(repaired, family.name, call), value), bug
            for seed in range(6):
                piece = with_bug(family, bug, seed)
                own = piece.text.splitlines()
                (word,) = re.findall(r"^ *(\w+)", text)
                begun = {re.findall(r"\w+", own[place + 1])[0] for place in piece.lines[1:]}
                assert piece.names.get(word, word) in begun


def test_another_line_that_repairs_a_bug_is_found_by_trying() -> None:
    """Two that are known: a weight that either of two sums may have, and a line that is computed again below."""
    levels, drawn = (next(each for each in sets.families() if each.name == name) for name in ("levels", "drawn"))

    def found(family: Family, bug: str, line: str) -> list[Repair]:
        (other,) = (n for n, each in enumerate(family.statements) if each.forms[0] == line)
        (wrong,) = (each for each in family.bugs if each.text == bug)
        return [*repairs(family, wrong, as_in_its_file(family, wrong), only=other)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        either = found(levels, "weight = keep * weight + 1", "mean = keep * mean + (1 - keep) * mark")
        again = found(drawn, "reached = np.cumsum(chances)", "count = int((reached < share).sum()) + 1")
    assert "mean = keep * mean + mark" in [each.text for each in either if each.listed and not each.again]
    texts = [each.text for each in again if each.again and not each.listed]
    assert "count = int((np.cumsum(chances[order]) < share).sum()) + 1" in texts


def test_a_part_that_is_right_to_name_too_can_repair_the_line_that_it_was_taken_out_of() -> None:
    bugs = [(family, bug) for family in sets.families() for bug in family.bugs if bug.or_part]
    assert len(bugs) >= 3
    for family, bug in bugs:
        written = next(with_parts(family, bug))
        assert written.place - 1 in written.listed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert any(not each.again for each in repairs(family, bug, written, only=written.place - 1)), bug


@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_a_docstring_speaks_of_the_arguments_by_their_names_and_gives_each_list_its_shape(family: Family) -> None:
    """Names differ from set to set, so a noun that is one of them would mean nothing in most sets."""
    text = "\n".join(family.doc).partition("Takes:")[0]
    said = {word.rstrip("s") for word in re.findall(r"(?<![$\w])[a-z_]{3,}", text)}
    for name in family.takes:
        names = {each.rstrip("s") for each in (name, *family.names.get(name, ()))}
        assert not said & names - _WORDS_FOR_OTHER_THINGS, name
        assert f"${name}" in text, f"{name} is not spoken of"
    for name, line in re.findall(r"\$(\w+): (.*)", "\n".join(family.doc)):
        assert not family.takes[name].depth or "one for each" in line or "row" in line or "as large as" in line, name


_WORDS_FOR_OTHER_THINGS = {"begin", "first", "keep", "log", "now", "over", "rate", "right", "row", "table"}
"""Names of arguments in some set that are also the plain word for something else."""


@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_all_ways_to_write_a_piece_return_the_same(family: Family) -> None:
    found: dict[int, list[Any]] = {}
    for seed in range(12):
        piece = with_bug(family, family.bugs[seed % len(family.bugs)], seed)
        for number, call in enumerate(piece.calls):
            value = sets.returned(piece.right, piece.function, call)
            assert value is not None and np.allclose(value, found.setdefault(number, value), rtol=1e-9, atol=1e-12)


def test_the_names_in_a_piece_mean_one_thing_and_hide_nothing_of_python() -> None:
    for family in sets.families():
        names = [name for own, others in family.names.items() for name in (own, *others)]
        assert len(names) == len({*names}), family.name
        taken = {*dir(builtins), *keyword.kwlist, *sets._PARTS, "np", "re"} - {"range"}
        assert not taken & {*names}, family.name
        code = {node.id for group in family.groups for each in group for form in each.forms for node in _names(form)}
        assert not code & {*names} - {*family.names}, family.name


def _names(line: str) -> Iterator[ast.Name]:
    tree = ast.parse(f"{line} pass" if line.endswith(":") else line)
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def test_there_are_more_families_than_pieces_and_every_kind_of_bug_is_somewhere() -> None:
    assert len(sets.families()) >= 12 > len(PIECES) == 10
    assert {kind for family in sets.families() for bug in family.bugs for kind in bug.kinds} == {*KINDS}


def test_the_right_pieces_compute_what_their_docstrings_say() -> None:
    """Against numbers worked out by hand or by another program, not by the pieces."""
    right = {family.name: with_bug(family, family.bugs[0], 0) for family in sets.families()}

    def value(name: str, *arguments: Any) -> Any:
        piece = right[name]
        return sets._function(piece.right, piece.function)(*arguments)

    assert value("standings", [1.0, 3.0, 7.0, 7.0], [0, 0, 1, 1], 0.5) == pytest.approx([-1 / 1.5, 1 / 1.5, 0, 0])
    table = np.log([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    assert np.exp(value("spoken", (table + 3).tolist(), [0, 1, 0])) == pytest.approx([0.8, 0.5])
    assert value("counted", [[2, 5, 6, 2, 9]], 1, 2).tolist() == [[0, 1, 1, 1, 0]]
    assert value("held", [np.log(0.3)], [np.log(0.1)], [1.0], 0.2, 0.5) == pytest.approx(1.5)
    assert value("held", [np.log(0.3)], [np.log(0.1)], [-1.0], 0.2, 0.5) == pytest.approx(-3.0)
    assert value("pulled", [1.0], [[-1.0, -1.0]], [[-3.0, -9.0]], [[1, 0]], 0.1) == pytest.approx([0.8])
    assert value("levels", [1.0, 3.0, 0.0], 0.5) == pytest.approx([0, 1, (3 + 0.5) / 1.5])
    assert value("drawn", np.log([0.5, 0.4, 0.1]).tolist(), 1.0, 0.85, [0.0, 0.5, 0.6, 0.99]) == [0, 0, 1, 1]
    assert value("climb", [0.0, 1.0], 0, 4, 1.0, 0) == pytest.approx([0.5])
    assert value("overall", [[1.0, 3.0], [5.0, 9.0], [4.0, 4.0]], [[1, 1], [1, 0], [0, 0]]) == pytest.approx(7 / 3)
    batches = value("rounds", 7, 3, 2, 1)
    assert [len(each) for each in batches] == [3, 3, 1] * 2
    epochs = [[*itertools.chain(*batches[:3])], [*itertools.chain(*batches[3:])]]
    assert sorted(epochs[0]) == sorted(epochs[1]) == [*range(7)] and epochs[0] != epochs[1]
    assert value("tightened", 1.0, [4.0, 0.0, 1.0], 1.0, 0.5, 0.2) == pytest.approx([1.1, 0.99, 0.99])
    assert value("walked", [2.0], 0.1, 0.9, 0.99, 0.5) == pytest.approx([-0.1 * 2 / 2.5])
    assert value("judged", ["1, then -2", "12", "none"], ["-2", "2", "0"]) == [1.0, 0.0, 0.0]
    assert value("solved", [1], 4, 2) == pytest.approx(0.5)


def test_a_curve_that_looks_healthy_does_not_betray_the_bug_that_the_page_tells_of() -> None:
    page = (course.ROOT / "docs/exercises/bughunt.md").read_text("utf-8")
    (family,) = (each for each in sets.families() if each.name == "climb")
    bug = next(each for each in family.bugs if "default_rng(seed).choice" in each.text)
    piece = with_bug(family, bug, 0)
    ends = {}
    for what, text in {"right": piece.right, "wrong": piece.text}.items():
        run = sets._function(text, piece.function)
        curves = np.array([run([0.0, 0.5, 1.0], 40, 8, 0.5, seed) for seed in range(300)])
        assert curves[:, -1].mean() > curves[:, 10].mean() > curves[:, 0].mean(), "it rises"
        ends[what] = curves[:, -1]
    assert f"ends at {ends['right'].mean():.2f} on average and never below 0.8" in page and ends["right"].min() >= 0.8
    assert f"ends at {ends['wrong'].mean():.2f}, and {100 * (ends['wrong'] < 0.8).mean():.0f} %" in page


# Sets


@pytest.mark.parametrize("name", NAMES)
def test_everybody_has_a_set_that_can_be_solved(name: str) -> None:
    code = sets.name_of_set(name, SECRET)
    pieces = sets.pieces_of(code, SECRET)
    assert len({piece.family.name for piece in pieces.values()}) == 10
    assert sum(piece.is_sound for piece in pieces.values()) in (2, 3, 4)
    lines = sets.text_of(code, SECRET).splitlines()
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)  # one file, as it is handed out
    for piece in pieces.values():
        assert callable(namespace[piece.function])
        if not piece.is_sound:
            own = piece.text.splitlines()
            (place,) = (n for n, (a, b) in enumerate(zip(own, piece.right.splitlines(), strict=True)) if a != b)
            assert lines[piece.lines[0] - 1] == own[place]
    assert earned(known.toml_of(known.key_of(pieces), code), SECRET) == known.ALL


def test_a_set_depends_on_the_name_and_the_secret_and_on_nothing_else() -> None:
    assert sets.name_of_set("  ada ", SECRET) == CODES[0] and len({*CODES}) == len(NAMES)
    assert sets.name_of_set("Ada", OTHER_SECRET) != CODES[0]
    text = sets.text_of(CODES[0], SECRET)
    sets.pieces_of.cache_clear()
    random.seed(1)
    assert sets.text_of(CODES[0], SECRET) == text != sets.text_of(CODES[1], SECRET)
    assert sets.text_of(PRACTICE, SECRET) == sets.text_of(PRACTICE, PUBLIC)


def test_no_name_of_a_set_can_be_thought_of() -> None:
    assert all(sets.is_set(code, SECRET) for code in (PRACTICE, *CODES))
    for code in (CODES[0][:-1], CODES[0] + "0", CODES[0][1:] + "0", "", "Ada", "é" * 20):
        assert not sets.is_set(code, SECRET)
    assert not sets.is_set(CODES[0], OTHER_SECRET) and not sets.is_set(sets.name_of_set("Ada", PUBLIC), PUBLIC)


# What a text shows


def words(text: str) -> list[str]:
    """Names, numbers and signs of a program without its comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Module | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    lines = iter(ast.unparse(tree).splitlines(keepends=True))
    return [token.string for token in tokenize.generate_tokens(lambda: next(lines, "")) if token.string.strip()]


def test_no_piece_shares_a_long_run_of_words_with_a_model_answer() -> None:
    run = 16
    theirs = {
        tuple(found[start : start + run])
        for path in course.MODEL_ANSWERS.glob("*.py")
        if path.name != "bughunt_pieces.py"
        for found in [words(path.read_text("utf-8"))]
        for start in range(len(found) - run)
    }
    assert len(theirs) > 10_000
    for code in CODES:
        for piece in sets.pieces_of(code, SECRET).values():
            found = words(piece.text)
            shared = [found[start : start + run] for start in range(len(found) - run)]
            assert not [each for each in shared if tuple(each) in theirs], piece.function


def test_the_difference_of_two_files_does_not_show_the_bug() -> None:
    """Whoever accuses a line that the other file with the same piece has not is right about once in seven times."""
    right, tried, fewest = 0.0, 0, []
    by_family = _by_family(_lines_as_they_are)
    for each in by_family.values():
        for lines, bug, _ in each:
            for others, _, _ in each:
                odd = [place for place, line in enumerate(lines) if line not in others]
                if bug is not None and others is not lines:
                    tried += 1
                    right += (bug in odd) / max(len(odd), 1)
                    fewest.append(len(odd))
    assert tried > 200 and right / tried < 0.2 and np.median(fewest) >= 5


@pytest.mark.parametrize("accused", [1.0, 0.5])
def test_guessed_lines_earn_nothing_to_speak_of_even_with_calls_that_show_the_bugs(accused: float) -> None:
    points = []
    for code in CODES:
        for seed in range(4):
            draw, key = random.Random(f"{code} {seed}"), dict[str, Claim | None]()
            for name, piece in sets.pieces_of(code, SECRET).items():
                body = len(_lines_as_they_are(piece.text))
                line = _first_line(code, name) + piece.text.count("\n") - body + draw.randrange(body)
                guess = Claim(bug=True, line=line, kind=draw.choice(KINDS), call=piece.calls[-1])
                key[name] = guess if draw.random() < accused else Claim(bug=False)
            points.append(earned(known.toml_of(key, code), SECRET))
    assert np.mean(points) < 1, points


@pytest.mark.parametrize("reader", ["_lines_as_they_are", "_lines_without_names"])
def test_the_rarest_line_of_ten_students_files_earns_next_to_nothing(reader: str) -> None:
    """Accused is in each piece the line that the fewest of the other files have, with a call that shows something."""
    by_family = _by_family(globals()[reader])
    points = []
    for code in CODES:
        key: dict[str, Claim | None] = {}
        for name, piece in sets.pieces_of(code, SECRET).items():
            each = by_family[piece.family.name]
            count = Counter(line for lines, _, _ in each for line in {*lines})
            lines = next(lines for lines, _, owner in each if owner.text == piece.text)
            rarest = min(range(len(lines)), key=lambda place: count[lines[place]])
            first = piece.text.count("\n") - len(lines)
            key[name] = Claim(
                bug=True, line=_first_line(code, name) + first + rarest, kind="scale", call=piece.calls[-1]
            )
        points.append(earned(known.toml_of(key, code), SECRET))
    assert np.mean(points) < 6 and max(points) <= 30, points


def _first_line(code: str, name: str) -> int:
    """The line of a set's file in which a piece begins."""
    lines = sets.text_of(code, SECRET).splitlines()
    return next(number for number, line in enumerate(lines, 4) if line.startswith(f"# {name} "))


def _by_family(reader: Any) -> Mapping[str, list[tuple[list[str], int | None, Piece]]]:
    """The lines below the docstring of each piece of ten sets, and which one has the bug."""
    found: dict[str, list[tuple[list[str], int | None, Piece]]] = {}
    for code in CODES:
        for piece in sets.pieces_of(code, SECRET).values():
            lines = reader(piece.text)
            changed = [
                n
                for n, (a, b) in enumerate(zip(*map(_lines_as_they_are, (piece.text, piece.right)), strict=True))
                if a != b
            ]
            found.setdefault(piece.family.name, []).append((lines, changed[0] if changed else None, piece))
    return found


def _lines_as_they_are(text: str) -> list[str]:
    return text.partition('    """\n')[2].splitlines()


def _lines_without_names(text: str) -> list[str]:
    """Names are numbered as they come, so that files with other names for the same things are alike."""
    numbers: dict[str, str] = {}
    kept = {*dir(builtins), *keyword.kwlist, "np", "re", "axis", "dtype", "keepdims"}

    def number(found: re.Match[str]) -> str:
        return found[0] if found[0] in kept else numbers.setdefault(found[0], f"v{len(numbers)}")

    return [re.sub(r"(?<![.\w])[A-Za-z_]\w*", number, line) for line in _lines_as_they_are(text)]


# Hand-ins

RIGHT, WRONG = [*known.right_ones()], [*known.wrong_ones()]


def test_twenty_known_hand_ins_of_each_kind_get_their_points() -> None:
    assert len(RIGHT) >= 20 and len(WRONG) >= 20
    assert [each.name for each in (*RIGHT, *WRONG) if earned(each.text) != each.earned] == []
    assert sum(not each.earned for each in WRONG) >= 10


def test_the_model_answer_answers_the_practice_set_and_its_stub_nothing() -> None:
    text = (course.MODEL_ANSWERS / FILE).read_text("utf-8")
    assert earned(text) == known.ALL
    stub = make_data_stub(text)
    assert (
        'set = "practice"' in stub
        and stub.count("[piece_") == 10
        and not re.search("^(bug|line|kind|call)", stub, re.M)
    )
    assert {check.outcome for check in graded(stub).checks} == {NOT_WRITTEN}


def test_a_grading_says_the_same_with_and_without_a_secret_and_starts_no_worker() -> None:
    key = known.key_of(sets.pieces_of(CODES[0], SECRET))
    assert graded(known.toml_of(key, CODES[0]), SECRET).earned == known.ALL
    bugs = [name for name, claim in key.items() if claim and claim.bug]
    key[bugs[1]] = Claim(bug=True, line=1, kind="sign")
    result = graded(known.toml_of(key, CODES[0]), SECRET)
    assert result.earned == known.ALL - 12 and result.complete and not result.problem


def test_a_wrong_accusation_is_told_where_it_is_made_and_what_is_right_stays_right() -> None:
    key = known.key_of(sets.pieces_of(CODES[0], SECRET))
    bugs = [name for name, claim in key.items() if claim and claim.bug]
    key[bugs[1]] = Claim(bug=True, line=1, kind="sign")
    checks = {check.id.removeprefix("bughunt."): check for check in graded(known.toml_of(key, CODES[0]), SECRET).checks}
    accused, paying = checks[f"{bugs[1]}_found"], checks[f"{bugs[0]}_found"]
    assert accused.outcome == FAILED and f"costs the points of {bugs[0]}" in accused.story
    assert checks[f"{bugs[1]}_shown"].story == "there is no call"
    assert paying.outcome == WAITING and paying.story.startswith("right, but its points pay for the wrong accusation")
    assert {check.outcome for name, check in checks.items() if name[:8] not in bugs[:2]} == {PASSED}


def test_a_right_call_and_kind_earn_their_points_without_the_right_line_once_three_bugs_are_found() -> None:
    key = known.key_of(sets.pieces_of(CODES[0], SECRET))
    bugs = [name for name, claim in key.items() if claim and claim.bug]
    claim = key[bugs[0]]
    assert claim
    key[bugs[0]] = replace(claim, line=1)
    checks = {check.id.removeprefix("bughunt."): check for check in graded(known.toml_of(key, CODES[0]), SECRET).checks}
    assert checks[f"{bugs[0]}_found"].story == "there is a bug, as the call shows, but not in this line"
    assert checks[f"{bugs[0]}_shown"].outcome == checks[f"{bugs[0]}_named"].outcome == PASSED
    few = {name: each if name in bugs[:3] else None for name, each in key.items()}
    checks = {check.id.removeprefix("bughunt."): check for check in graded(known.toml_of(few, CODES[0]), SECRET).checks}
    assert checks[f"{bugs[0]}_shown"].outcome == WAITING and checks[f"{bugs[0]}_shown"].story.startswith("right; ")


def test_before_bugs_are_found_nobody_learns_which_piece_has_none() -> None:
    text = known.toml_of(dict.fromkeys(PIECES, Claim(bug=False)), CODES[0])
    assert {(check.outcome, check.story) for check in graded(text, SECRET).checks if check.points} == {
        (WAITING, "that a piece has no bug counts once you have found three bugs")
    }


def test_each_sentence_about_a_call_is_true() -> None:
    piece = next(each for each in sets.pieces_of(PRACTICE, PUBLIC).values() if each.family.name == "solved")
    right, drawn, tries = piece.takes
    said = {
        piece.why_not_shown({right: [1], drawn: 4}): "needs values for",
        piece.why_not_shown({right: [-1], drawn: 4, tries: 2}): "must be from 0 to 100",
        piece.why_not_shown({right: [1], drawn: 2, tries: 3}): "the right piece cannot answer this call",
        piece.why_not_shown({right: [2], drawn: 4, tries: 1}): "return the same",
        piece.why_not_shown(piece.calls[-1]): "",
    }
    assert all(words in found if words else not found for found, words in said.items())


def test_every_problem_of_an_answer_is_told() -> None:
    text = (
        'set = "practice"\n[piece_01]\nbug = true\nkind = "x"\nmore = 1\ncall = 1\n[piece_02]\nbug = false\nline = 3\n'
    )
    stories = {check.function: check.story for check in graded(text).checks if check.gate}
    assert all(
        words in stories["piece_01"]
        for words in ("no entry 'more'", "say in which line", "kind must", "call is a table")
    )
    assert stories["piece_02"] == "with bug = false there is no line to name; take it out"


def test_no_report_names_the_right_line_or_kind() -> None:
    for each in WRONG:
        for check in graded(each.text).checks if each.name.endswith(("not shown", "accused", "another kind")) else ():
            assert not re.search(r"\d", re.sub(r"piece_\d\d", "", check.story)) and not {*KINDS} & {
                *check.story.split()
            }


def test_nobody_is_sent_to_look_for_the_answers_at_home_or_to_read_on_before_there_are_points() -> None:
    wrong = next(each for each in WRONG if each.name.endswith("not shown"))
    (exercise,) = graded(wrong.text).exercises
    failed = [check for check in exercise.checks if check.outcome == FAILED]
    assert {at_home(exercise, check) for check in failed} == {
        "Your own `grade` does not have this check: it does not know which answers are right."
    }
    at_a_students = replace(exercise, checks=[check for check in exercise.checks if not check.hidden])
    assert at_a_students.points == 0 and afterwards(at_a_students) == ""


def test_a_set_of_ones_own_makes_the_practice_set_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (course.MODEL_ANSWERS / FILE).read_text("utf-8")
    assert earned(text, SECRET) == known.ALL
    monkeypatch.setattr(hidden_checks, "WRITTEN", type("Course", (), {"personal_sets": True}))
    hidden_checks.verdicts.cache_clear()
    assert earned(text, SECRET) == 0 and earned(text, PUBLIC) == known.ALL
    hidden_checks.verdicts.cache_clear()


def test_the_set_of_somebody_elses_class_is_none() -> None:
    key = known.key_of(sets.pieces_of(CODES[0], SECRET))
    assert earned(known.toml_of(key, CODES[0]), OTHER_SECRET) == earned(known.toml_of(key, CODES[0]), PUBLIC) == 0


def test_students_have_the_checks_that_give_no_points() -> None:
    public, all_of_them = (checks_of("bughunt", hidden=hidden) for hidden in (False, True))
    assert len(public) == 10 and sum(check.points for check in public) == 0
    assert sum(check.points for check in all_of_them) == known.ALL


HOSTILE = {
    "a huge number": "bug = true\nline = 1\ncall = { x = 1" + "0" * 5_000 + " }",
    "a long number": "bug = true\nline = 1\ncall = { x = 1" + "0" * 400 + " }",
    "infinite": "bug = true\nline = 1\ncall = { x = inf }",
    "not a number": "bug = true\nline = 1\ncall = { x = [nan] }",
    "deep": "bug = true\nline = 1\ncall = { x = " + "[" * 5_000 + "]" * 5_000 + " }",
    "wide": f"bug = true\nline = 1\ncall = {{ x = [{'1, ' * (LONGEST_LIST + 1)}] }}",
    "dotted": "bug = true\nline = 1\ncall." + "a." * 5_000 + "b = 1",
    "a long text": "bug = true\nline = 1\ncall = { x = '" + "a" * 1_000 + "' }",
    "a date": "bug = true\nline = 1\ncall = { x = 2026-01-01 }",
    "code": "bug = true\nline = 1\ncall = \"__import__('os')\"",
    "a table in a table": "bug = true\nline = 1\ncall = { x = { y = 1 } }",
    "a line that is none": "bug = true\nline = true",
    "a kind that is none": 'bug = true\nline = 1\nkind = ["sign"]',
    "more than asked": "bug = false\nline = 3",
    "another entry": "bug = true\nline = 1\npoints = 60",
    "a list": "bug = []",
    "too long": "# " + "x" * LONGEST_FILE,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_what_a_call_may_not_be_is_refused_at_once(body: str) -> None:
    started = time.process_time()
    result = graded(f'set = "practice"\n[piece_01]\n{body}\n')
    assert time.process_time() - started < 20
    assert result.earned == 0 and result.complete and not result.problem
    first = result.checks[0]
    assert first.outcome not in (PASSED, "grader error") and 0 < len(first.story) < 300


@pytest.mark.parametrize("family", sets.families(), ids=lambda family: family.name)
def test_the_largest_call_that_is_taken_takes_little_time(family: Family) -> None:
    piece = with_bug(family, family.bugs[-1], 0)

    def largest(takes: sets.Takes) -> Any:
        one: Any = "12 " * 60 if takes.texts else int(takes.high) if takes.whole else takes.high
        for _ in range(takes.depth):
            one = [one] * LONGEST_LIST
        return one

    call = {name: largest(takes) for name, takes in piece.takes.items()}
    started = time.process_time()
    piece.shown_by(call)
    assert not piece.problem_of(call) and time.process_time() - started < 10


def test_a_call_that_the_piece_does_not_take_shows_nothing() -> None:
    piece = next(each for each in sets.pieces_of(PRACTICE, PUBLIC).values() if each.family.name == "rounds")
    good = piece.calls[0]
    first = next(iter(good))
    for wrong in (
        {},
        {**good, "more": 1},
        {**good, first: 1.5},
        {**good, first: -1},
        {**good, first: "1"},
        {**good, first: [1]},
    ):
        assert piece.problem_of(wrong)


# The hand-in as a file


def test_a_file_of_data_is_read_like_a_module_and_copies_of_it_too(tmp_path: Path) -> None:
    for name in ("bughunt (1).toml", "bughunt-2.toml", "clip.toml", "bughunt.txt"):
        (tmp_path / name).write_text(f"# {name}\n", "utf-8")
    contents = read_contents(lambda: members_of_folder(tmp_path))
    assert contents.submission.files == {FILE: "# bughunt-2.toml\n"}
    (tmp_path / FILE).write_text("# the plain name\n", "utf-8")
    assert read_submission(tmp_path).files == {FILE: "# the plain name\n"}
    (tmp_path / "bughunt.py").write_text("print('hello')\n", "utf-8")
    assert {*read_submission(tmp_path).files} == {FILE} and read_submission(tmp_path).modules == {}


# The course without it


def test_all_that_is_left_of_an_exercise_of_data_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = read_modules(course.MODEL_ANSWERS)
    assert left_over(modules) == []
    monkeypatch.setattr(course, "KNOWN", tuple(each for each in course.KNOWN if each.name != "bughunt"))
    files = ("bughunt.toml", "bughunt_check.py", "bughunt_pieces.py", "run_bughunt.py")
    assert {*left_over(modules)} == {
        "docs/exercises/bughunt.md",
        *(f"{folder}/{file}" for folder in ("reference", "starter") for file in files),
    }


def test_what_an_exercise_of_data_lacks_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert missing("bughunt", {}) == []
    hidden_check = next(each for each in checks_of("bughunt", hidden=True) if each.hidden)
    monkeypatch.setattr(module_missing, "checks_of", lambda *_, **__: [replace(hidden_check, points=0, explanation="")])
    sentences = [str(each) for each in missing("bughunt", {})]
    assert any("say in the docstring of" in each for each in sentences)
    assert any("is worth nothing" in each for each in sentences)
    monkeypatch.setattr(course, "MODEL_ANSWERS", tmp_path)
    assert [str(each) for each in missing("bughunt", {})] == [
        "reference/bughunt.toml: write the model answer, then `course dev stubs`"
    ]
