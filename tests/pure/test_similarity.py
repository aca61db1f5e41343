"""Similarity: what a disguise does not hide, what is not counted, and how alike independent answers are."""

from __future__ import annotations

import ast
import functools
import itertools
import random
import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.similarity import RUN, SMALLEST, THRESHOLD, compare, passages, tokens
from grader.core import course

Files = dict[str, str]
NAMES = [exercise.file_name for exercise in course.EXERCISES]
GIVEN = frozenset({"f", "g", "torch"})


@functools.cache
def starter() -> Files:
    return {name: (course.STARTER / name).read_text("utf-8") for name in NAMES}


@functools.cache
def model() -> Files:
    return {name: (course.MODEL_ANSWERS / name).read_text("utf-8") for name in NAMES}


def functions(text: str) -> dict[str, str]:
    """Name to text of every function at the top of a module."""
    lines = text.splitlines(keepends=True)
    nodes = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return {node.name: "".join(lines[node.lineno - 1 : node.end_lineno]) for node in nodes}


@functools.cache
def choices() -> Mapping[tuple[str, str], list[str]]:
    """Every function of the course with the model answer and all fair variants, helpers included."""
    found = {}
    for exercise in course.EXERCISES:
        own = functions(model()[exercise.file_name])
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


def student(draw: random.Random) -> Files:
    """Someone who decides for each function independently how to write it."""
    files = {}
    for exercise in course.EXERCISES:
        text = model()[exercise.file_name]
        own = functions(text)
        for function in exercise.function_names:
            text = text.replace(own[function], draw.choice(choices()[exercise.name, function]))
        files[exercise.file_name] = text
    return files


def share(first: Files, second: Files) -> float:
    """How alike two submissions are."""
    (pair,) = compare({"a": first, "b": second}, starter(), threshold=1e-9).pairs
    return pair.share


def test_independent_answers_stay_below_the_threshold() -> None:
    draw = random.Random(0)
    assert sum(map(len, choices().values())) > 120
    found = compare({f"{number:02}": student(draw) for number in range(60)}, starter(), threshold=1e-9)
    pairs = 60 * 59 // 2
    assert found.compared == 60 and found.found > 0.9 * pairs  # they do have something in common
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
    original = student(random.Random(3))
    copy = {name: DISGUISES[disguise](text) for name, text in original.items()}
    assert copy != original and share(original, copy) > THRESHOLD


def test_names_that_a_student_chose_do_not_count() -> None:
    first = tokens("def f(x):\n    a = x.mean()\n    return torch.exp(a) - 1", names=GIVEN)
    second = tokens("def f(rewards):\n    b_2 = rewards.mean()\n    return torch.exp(b_2) - 1", names=GIVEN)
    other = tokens("def f(x):\n    a = x.std()\n    return torch.exp(a) - 1", names=GIVEN)
    assert first == second != other


def test_comments_docstrings_layout_and_quotes_do_not_count() -> None:
    first = tokens('def f(x):\n    """What it does."""\n    return g("a", x)  # why\n', names=GIVEN)
    second = tokens("def f(\n    x,\n):\n\treturn g('b', x)\n".replace("    x,\n", "    x\n"), names=GIVEN)
    assert first == second == ["def", "f", "(", "V", ")", ":", "return", "g", "(", "S", ",", "V", ")"]


def test_what_the_starter_gives_does_not_count() -> None:
    found = compare({"a": starter(), "b": starter()}, starter(), threshold=1e-9)
    assert found.compared == 0 and found.too_small == ("a", "b") and found.pairs == ()


def test_the_share_is_that_of_the_smaller_submission_and_told_for_each_file() -> None:
    whole = student(random.Random(5))
    part = {"charlm.py": whole["charlm.py"]}
    (pair,) = compare({"part": part, "whole": whole}, starter(), threshold=0.5).pairs
    assert (pair.first, pair.second, pair.share, pair.files) == ("part", "whole", 1.0, {"charlm.py": 1.0})


WORDS = st.lists(st.sampled_from("abc"), min_size=SMALLEST, max_size=SMALLEST + 60).map(" ".join)


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=2, max_size=6))
def test_all_pairs_are_counted_as_two_sets_are_compared(texts: list[str]) -> None:
    # Letters between keywords, so that no name is replaced; the oracle intersects Python's sets.
    texts = [text.replace("a", "if").replace("b", "or").replace("c", "is") for text in texts]
    runs = [{tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)} for words in map(str.split, texts)]
    found = compare({str(n): {"x.py": text} for n, text in enumerate(texts)}, {"x.py": ""}, threshold=1e-9)
    big = [n for n, each in enumerate(runs) if len(each) >= SMALLEST]
    assert found.compared == len(big)
    expected = {
        (str(a), str(b)): len(runs[a] & runs[b]) / min(len(runs[a]), len(runs[b]))
        for a, b in itertools.combinations(big, 2)
        if runs[a] & runs[b]
    }
    assert {(pair.first, pair.second): pair.share for pair in found.pairs} == expected


def test_the_most_similar_pairs_come_first_and_the_rest_is_counted() -> None:
    draw = random.Random(1)
    one, other = student(draw), student(draw)
    mixed = {**one, "charlm.py": other["charlm.py"]}
    everybody = {"d": one, "c": dict(one), "b": mixed, "a": other}
    found = compare(everybody, starter(), threshold=1e-9, most=2)
    assert found.found == 6 and len(found.pairs) == 2
    assert (found.pairs[0].first, found.pairs[0].second, found.pairs[0].share) == ("c", "d", 1.0)
    assert compare(dict(sorted(everybody.items())), starter(), threshold=1e-9, most=2) == found


@pytest.mark.parametrize(
    "text",
    ["", "def f(:\n", "x = (\n" * 5_000, "  if\n x", '"""', "\\", "\N{SNOWMAN}", "(" * 90_000, "a." * 40_000, "\0"],
)
def test_a_text_that_is_no_python_is_read_as_far_as_it_goes(text: str) -> None:
    good = "x = 1 + 2\n"
    assert tokens(good + text, names=GIVEN)[:5] == ["V", "=", "1", "+", "2"]
    assert compare({"a": {"kl.py": text}, "b": model()}, starter()).pairs == ()


def test_passages_are_as_many_as_there_are_different_runs() -> None:
    assert len(passages(["a"] * (RUN + 5))) == 1
    assert len(passages([str(n) for n in range(RUN + 5)])) == 6
    assert len(passages(["a"] * (RUN - 1))) == 0
