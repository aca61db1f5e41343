"""The schema of the result file: it describes what a result has, and refuses everything else; so does the reader."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from exports_results import check

import grader
from grader.core.note import Note
from grader.core.result import (
    PASSED,
    CheckResult,
    Curve,
    ExerciseResult,
    Frame,
    NamedMistake,
    Result,
    WrittenAnswer,
    from_json,
)

Document = dict[str, Any]

SCHEMA: Document = json.loads((Path(grader.__file__).parent / "core" / "result.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def a_document() -> Document:
    """A result in which everything passed."""
    checks = [
        check("clip.gate", PASSED, gate=True),
        check("clip.law", PASSED),
        check("clip.hidden", PASSED, hidden=True),
    ]
    exercise = ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", checks)
    result = Result("me", "0" * 64, 0, "cpu", [exercise], "0.1.0", isolation_level=1, complete=True)
    document: Document = json.loads(result.as_json())
    return document


def test_the_schema_is_itself_valid_and_describes_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert len(SCHEMA["$defs"]) + 1 >= len(MODELS)
    for schema, _ in MODELS.values():
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])
        assert all(len(field["description"]) > 10 for field in schema["properties"].values())


DEFINITIONS = SCHEMA["$defs"]
MODELS = {
    Result: (SCHEMA, {"schema", "points", "earned", "owed"}),
    ExerciseResult: (DEFINITIONS["exercise"], {"points", "earned", "owed"}),
    CheckResult: (DEFINITIONS["check"], {"earned"}),
    Frame: (DEFINITIONS["frame"], set()),
    Curve: (DEFINITIONS["curve"], set()),
    NamedMistake: (DEFINITIONS["known_mistake"], set()),
    WrittenAnswer: (DEFINITIONS["answer"], set()),
    Note: (DEFINITIONS["note"], set()),
}
"""The schema of each class of a result, and the sums in it that are no fields."""


@pytest.mark.parametrize("model", MODELS)
def test_the_schema_has_the_fields_of_the_result_with_their_types_and_no_others(model: type) -> None:
    schema, sums = MODELS[model]
    _, generated = msgspec.json.schema_components([Result])
    fields = generated[model.__name__]["properties"]
    assert {*fields} | sums == {*schema["properties"]}
    for name, field in fields.items():
        written = schema["properties"][name]
        if "$ref" in field:
            assert sorted(written["enum"]) == sorted(generated[field["$ref"].rpartition("/")[2]]["enum"])
        else:
            assert written["type"] == field["type"], name


def _set(document: Document, path: str, value: Any) -> None:
    *way, last = path.split(".")
    place: Any = document
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", "grpo-course/result/2"), ("points", KeyError), ("points", -1), ("earned", 1.5), ("sha256", "abc"),
        ("device", "tpu"), ("isolation_level", 7), ("isolation_level", -1), ("grade", "yes"), ("exercises", []),
        ("note", "one more field"), ("exercises.0.checks", []), ("exercises.0.page", "https://elsewhere"),
        ("exercises.0.note", ""), ("exercises.0.checks.0.outcome", "success"),
        ("exercises.0.checks.0.outcome", "not run"), ("exercises.0.checks.0.outcome", "failed"),
        ("exercises.0.checks.0.points", "3"), ("exercises.0.checks.0.message", "passed, and yet"),
        ("exercises.0.checks.0.rows", [["yours"]]), ("exercises.0.checks.0.id", "no exercise"),
        ("exercises.0.checks.0.frames", [{"file": "clip.py", "line": "3", "function": "", "source": ""}]),
        ("exercises.0.checks.0.seconds", None), ("exercises.0.known_mistakes", [{"name": "x"}]),
        ("exercises.0.answers", [{"question": "1A.1", "text": None}]),
    ],
)  # fmt: skip
def test_the_schema_refuses(path: str, value: Any) -> None:
    document = a_document()
    VALIDATOR.validate(document)
    _set(document, path, value)
    assert not VALIDATOR.is_valid(document)


def test_a_result_is_read_back_and_its_sums_are_recomputed() -> None:
    document = a_document()
    assert json.loads(from_json(json.dumps(document)).as_json()) == document
    wanted, document["earned"] = document["earned"], 10_000
    assert from_json(json.dumps(document)).earned == wanted


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", "another/1"), ("seed", "0"), ("exercises", None), ("exercises.0.known_mistakes", [1]),
        ("exercises.0.answers", [{"question": "1A.1\n", "text": ""}]), ("exercises.0.checks", []),
        ("exercises.0.checks.0.outcome", "excellent"), ("exercises.0.checks.0.points", "5"),
        ("exercises.0.checks.0.points", 10**400), ("exercises.0.checks.0.frames", 5),
        ("exercises.0.checks.0.frames", [{"file": "kl.py"}]), ("exercises.0.checks.0.seconds", 1e999),
        ("exercises.0.checks.0.seconds", float("nan")), ("exercises.0.checks.0.waits_for", [["x"]]),
        ("exercises.0.checks.0.id", "\ud800"),
    ],
)  # fmt: skip
def test_a_damaged_result_is_refused(path: str, value: Any) -> None:
    document = a_document()
    _set(document, path, value)
    with pytest.raises(ValueError):
        from_json(json.dumps(document))


def test_a_result_of_last_term_is_read_although_fields_had_other_names() -> None:
    document = a_document()
    document["notes"] = ["the grader used Clip.py as clip.py"]
    exercise = document["exercises"][0]
    exercise["misconceptions"] = [asdict(NamedMistake("clip.gate", True, "docs", "ratio", "twice", "you", "It is."))]
    exercise["checks"][0]["story"] = "it is twice as large"
    del exercise["known_mistakes"], exercise["checks"][0]["message"], exercise["checks"][0]["withheld"]
    result = from_json(json.dumps(document))
    assert result.notes == [Note("the grader used Clip.py as clip.py")]
    assert result.exercises[0].known_mistakes[0].name == "twice"
    assert result.checks[0].message == "it is twice as large"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 1}', "[" * 100_000])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)
