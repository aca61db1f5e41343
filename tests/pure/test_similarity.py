"""Similarity: what a disguise does not hide, what is not counted, and how alike independent answers are."""

from __future__ import annotations

import ast
import functools
import itertools
import json
import random
import re

import pytest
from hostile_texts import BENIGN, HOSTILE, html_inventory
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.side_by_side import Kind, Piece, pairs_page, side, side_by_side
from grader.classroom.similarity import RUN, SMALLEST, THRESHOLD, Ground, compare, tokens
from grader.core import course

Files = dict[str, str]
NAMES = [exercise.file_name for exercise in course.EXERCISES]
GIVEN = frozenset({"f", "g", "torch"})


STARTER = {name: (course.STARTER / name).read_text("utf-8") for name in NAMES}
MODEL = {name: (course.MODEL_ANSWERS / name).read_text("utf-8") for name in NAMES}
GROUND = Ground(STARTER)


def functions(text: str) -> dict[str, str]:
    """Name to text of every function at the top of a module."""
    lines = text.splitlines(keepends=True)
    nodes = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return {node.name: "".join(lines[node.lineno - 1 : node.end_lineno]) for node in nodes}


@functools.cache
def choices() -> dict[tuple[str, str], list[str]]:
    """Every function of the course with the model answer and all fair variants, helpers included."""
    found = {}
    for exercise in course.EXERCISES:
        own = functions(MODEL[exercise.file_name])
        for function in exercise.function_names:
            found[exercise.name, function] = [own[function]]
            path = exercise.folder / "variants" / f"{function}.py"
            known = functions(path.read_text("utf-8")) if path.exists() else {}
            helpers = {name: text for name, text in known.items() if name.startswith("_")}
            for name, text in known.items():
                if name not in helpers:
                    used = (helper for other, helper in helpers.items() if other in text)
                    answer = re.sub(rf"^def {name}\b", f"def {function}", text)
                    found[exercise.name, function].append("\n\n".join([*used, answer]))
    return found


def student(seed: int) -> Files:
    """Someone who decides for each function independently how to write it."""
    draw = random.Random(seed)
    files = dict(MODEL)
    for exercise in course.EXERCISES:
        own = functions(MODEL[exercise.file_name])
        for function in exercise.function_names:
            chosen = draw.choice(choices()[exercise.name, function])
            files[exercise.file_name] = files[exercise.file_name].replace(own[function], chosen)
    return files


def share(first: Files, second: Files) -> float:
    """How alike two submissions are."""
    (pair,) = compare({"a": first, "b": second}, GROUND, threshold=1e-9).pairs
    return pair.share


def test_independent_answers_stay_below_the_threshold() -> None:
    found = compare({f"{seed:02}": student(seed) for seed in range(20)}, GROUND, threshold=1e-9)
    assert found.compared == 20 and found.found > 0.9 * 20 * 19 / 2  # they do have something in common
    assert max(pair.share for pair in found.pairs) < THRESHOLD


def renamed(text: str) -> str:
    """Every variable with another name."""
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in names:
        node.id = f"my_{node.id}" if node.id in stored else node.id
    return ast.unparse(tree)


def reordered(text: str) -> str:
    for first, second in itertools.pairwise(functions(text).values()):
        text = text.replace(first, "<first>").replace(second, first).replace("<first>", second)
    return text


DISGUISES = {
    "other comments": lambda text: re.sub(r"(?m)^(    .*[^\\(\[{,])$", r"\1  # mine", text.replace("#", "# #")),
    "other docstrings": lambda text: re.sub(r'"""[^"]*"""', '"""Mine."""', text),
    "other names": renamed,
    "other layout": lambda text: ast.unparse(ast.parse(text)),
    "other order": reordered,
    "a line between lines": lambda text: re.sub(r"(?m)^(    return .*)$", r"    print('here')\n\1", text),
    "added code": lambda text: text + "\n\ndef more(x):\n    " + "; ".join(f"y{n} = x * {n}" for n in range(200)),
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_copy_is_above_the_threshold(disguise: str) -> None:
    original = student(3)
    copy = {name: DISGUISES[disguise](text) for name, text in original.items()}
    assert copy != original and share(original, copy) > THRESHOLD


def test_the_starter_does_not_count() -> None:
    found = compare({"a": STARTER, "b": STARTER}, GROUND, threshold=1e-9)
    assert found.compared == 0 and found.too_small == ("a", "b") and found.pairs == ()


def test_model_answers_and_variants_do_not_count() -> None:
    official = [{f"{exercise}.py": text} for (exercise, _), texts in choices().items() for text in texts]
    known = Ground(STARTER, [MODEL, *official])
    everybody = {str(seed): student(seed) for seed in range(4)}  # official answers, in any mixture
    own = "".join(f"\n\ndef f{n}(x):\n    return [x.m{n}(x, y) * {n} for y in range({n}) if y]\n" for n in range(9))
    for name in ("8", "9"):
        everybody[name] = {**student(int(name)), "kl.py": MODEL["kl.py"] + own}
    found = compare(everybody, known, threshold=1e-9, top=5)
    assert found.compared == 2 and set(found.too_small) == {"0", "1", "2", "3"}
    assert all(found.ground[name] > 0.97 for name in found.too_small) and 0.5 < found.ground["8"] < 1
    assert [(pair.first, pair.second, pair.files["kl.py"]) for pair in found.pairs] == [("8", "9", 1.0)]


def test_the_most_similar_pairs_of_all_and_of_each_file_are_listed_and_the_rest_is_counted() -> None:
    everybody = {str(seed): student(seed) for seed in range(5)}
    everybody["6"] = {**everybody["0"], "kl.py": everybody["1"]["kl.py"]}
    found = compare(everybody, GROUND, threshold=0.8, top=4)
    assert found.found == 1 and len(found.pairs) == 4 and found.pairs[0].share > 0.8 > found.pairs[1].share > 0
    assert (found.pairs[0].first, found.pairs[0].second) == ("0", "6")
    every = compare(everybody, GROUND, threshold=1e-9).pairs
    assert found.pairs == every[:4]
    for file in NAMES:
        best = sorted((pair.files[file] for pair in every), reverse=True)[:4]
        assert [pair.share for pair in found.by_file[file]] == pytest.approx(best)
        assert all(set(pair.files) == {file} and pair.common > 0 for pair in found.by_file[file])
    few = compare(everybody, GROUND, threshold=1e-9, most=2)
    assert few.found == len(every) and few.pairs == every[:2]


def test_others_are_compared_with_the_class_and_not_with_each_other() -> None:
    one, other = student(6), student(7)
    found = compare({"a": one, "b": other}, GROUND, also={"2025/x": dict(one), "2025/y": dict(one)}, threshold=0.9)
    assert (found.compared, found.others, found.found) == (2, 2, 2)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "2025/x"), ("a", "2025/y")]


def shown(first: str, second: str, known: str = "") -> tuple[list[Piece], list[Piece]]:
    """Two texts side by side, where a third does not count."""
    floor = Ground({"x.py": ""}, [{"x.py": known}])
    one, other = (side(text, floor.parts_of("x.py", text)) for text in (first, second))
    return side_by_side(one, other, floor.known("x.py"))


SAME = "def f(x):  # {0}\n    {1} = x.a(1) + x.b(2) - x.c(3)\n    return {1}.d(4)\n"


def test_side_by_side_both_texts_are_whole_and_the_common_part_of_each_leads_to_the_other() -> None:
    alone = "def alone(y):\n    return {y: [y.u, y.v, y.w], 'q': (y ** 2) / 3 @ y if y else ~y}\n"
    common = "def g(z):\n    return [z.k(7), z.l(8), z.m(9), not z.n(10), z % 2]\n"
    texts = (SAME.format("mine", "a") + alone + common, common + "\n\n" + SAME.format("theirs", "b"))
    for text, pieces in zip(texts, shown(*texts), strict=True):
        assert "".join(piece.text for piece in pieces) == text
    one, other = ([piece for piece in pieces if piece.kind == Kind.COMMON] for pieces in shown(*texts))
    assert [(piece.number, piece.other) for piece in one] == [(1, 2), (2, 1)]
    assert [(piece.number, piece.other) for piece in other] == [(1, 2), (2, 1)]
    assert one[0].text == SAME.format("mine", "a").strip() and one[1].text == common.strip()
    assert not any("alone" in piece.text for piece in one + other)


def test_side_by_side_known_text_is_faint_and_not_common() -> None:
    text = SAME.format("mine", "a")
    for pieces in shown(text, SAME.format("theirs", "b"), known=SAME.format("official", "c")):
        assert [piece.kind for piece in pieces] == [Kind.GROUND, Kind.OWN]  # a newline comes last
    assert [piece.kind for piece in shown(text, "x = 1\n")[0]] == [Kind.OWN]


@given(
    st.lists(st.sampled_from(["x + ", "(", ")", "y\n", "def f():\n  ", "'s' ", "# c\n", "\N{SNOWMAN}"]), max_size=60)
)
def test_side_by_side_no_character_is_lost_or_added(words: list[str]) -> None:
    text = "".join(words)
    for first, second in ((text, text + "z"), (text * 2, text), ("q\n" + text, text)):
        for whole, pieces in zip((first, second), shown(first, second), strict=True):
            assert "".join(piece.text for piece in pieces) == whole


def test_side_by_side_hostile_text_stays_text() -> None:
    def page(text: str) -> str:
        line = json.dumps(text.encode("utf-8", "replace").decode()[:2_000], ensure_ascii=False).replace("\0", "")
        files = {"kl.py": f"def f(x):\n    return [{', '.join(f'x.a{n}({n}) + {line}' for n in range(40))}]\n"}
        both = {f"{text}1": files, f"{text}2": files}
        return pairs_page(compare(both, GROUND, threshold=0.5, top=3), both, GROUND, "1.0")

    harmless = html_inventory(page(BENIGN))
    for name in [*HOSTILE][::6]:
        assert html_inventory(page(HOSTILE[name])) == harmless, name


WORDS = st.lists(st.sampled_from("abc"), min_size=SMALLEST, max_size=SMALLEST + 60).map(" ".join)


@given(st.lists(WORDS, min_size=2, max_size=6))
def test_all_pairs_are_counted_like_intersections_of_sets(texts: list[str]) -> None:
    # Letters between keywords, so that no name is replaced; the oracle intersects Python's sets.
    texts = [text.replace("a", "if").replace("b", "or").replace("c", "is") for text in texts]
    runs = [{tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)} for words in map(str.split, texts)]
    found = compare({str(n): {"x.py": text} for n, text in enumerate(texts)}, Ground({"x.py": ""}), threshold=1e-9)
    big = [n for n, each in enumerate(runs) if len(each) >= SMALLEST]
    assert found.compared == len(big)
    expected = {
        (str(a), str(b)): len(runs[a] & runs[b]) / min(len(runs[a]), len(runs[b]))
        for a, b in itertools.combinations(big, 2)
        if runs[a] & runs[b]
    }
    assert {(pair.first, pair.second): pair.share for pair in found.pairs} == expected


@pytest.mark.parametrize(
    "text", ["", "def f(:\n", "x = (\n" * 5_000, "  if\n x", '"""', "\\", "\N{SNOWMAN}", "(" * 30_000, "\0"]
)
def test_invalid_python_is_read_up_to_the_error(text: str) -> None:
    good = "x = 1 + 2\n"
    assert tokens(good + text, names=GIVEN)[:5] == ["V", "=", "1", "+", "2"]
    assert compare({"a": {"kl.py": text}, "b": MODEL}, GROUND).pairs == ()
