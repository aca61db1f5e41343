"""Every text that a person reads is free of the words in tests/helpers/words.txt, which read translated."""

import ast
import functools
import re

import pytest

from grader.core import course

LIST = course.ROOT / "tests/helpers/words.txt"
LATER = {
    "grader/sandbox/": "a recording of hours depends on the digest of these files",
    "grader/attacks/": "the same",
    "docs/instructors/attacks.md": "its sentences are those of grader/attacks",
}
"""Texts that are left as they are for now, and why. Take a line away to see what is left to do there."""
KINDS = {".md", ".py", ".mjs"}
READ = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs", "starter", "reference", "grader")

UNREAD = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|https?://\S+|\]\([^)\s]*\)|\{[^{}\n]*\}|^    attrs:[^\n]*",
    re.S | re.M,
)
"""What is no prose in Markdown: code, formulas, addresses, attributes."""


@functools.cache
def patterns():
    """The expressions of the list, each with its advice."""
    lines = [line for line in LIST.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(re.compile(pattern, re.I), advice) for pattern, advice in (line.split("\t") for line in lines)]


def blanked(match):
    """As many lines as the match had, so that line numbers stay right."""
    return " " + "\n" * match[0].count("\n")


def prose(path):
    """What a person reads of a file: pieces of (line, text). Of code these are docstrings and strings, not comments."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return [(1, UNREAD.sub(blanked, text))]
    if path.suffix == ".py":
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
        return [(node.lineno, UNREAD.sub(blanked, node.value)) for node in nodes if isinstance(node.value, str)]
    code = re.sub(r"^\s*(//|\*|/\*).*$", "", text, flags=re.M)
    strings = re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code)
    return [(code.count("\n", 0, each.start()) + 1, each[1] or each[2] or "") for each in strings]


def found(pieces):
    """What the list finds in pieces of text: (line, words, advice)."""
    together = "\n\0\n".join(text for _, text in pieces)  # to search it once is much faster than each piece
    likely = [(pattern, advice) for pattern, advice in patterns() if pattern.search(together)]
    for line, text in pieces:
        for pattern, advice in likely:
            for match in pattern.finditer(text):
                yield line + text.count("\n", 0, match.start()), match[0], advice


def files():
    """The files of the course that hold texts for people."""
    found = [path for name in READ for path in [course.ROOT / name, *(course.ROOT / name).rglob("*")]]
    names = sorted(path.relative_to(course.ROOT).as_posix() for path in found if path.suffix in KINDS)
    return [name for name in names if not name.startswith(tuple(LATER)) and "/vendor/" not in name]


@pytest.mark.parametrize("name", files())
def test_a_text_has_no_words_that_read_translated(name):
    problems = [f"{name}:{line}: {words!r}: say {advice}" for line, words, advice in found(prose(course.ROOT / name))]
    assert problems == []


SENTENCES = {
    "A second model forecasts the reward.": "predict",
    "It is weighed by the policy.": "weighted",
    "Each reward less the mean of its group.": "minus",
    "The curves stand in exercise 5.": "is, are",
    "With scripts on you can drag it.": "with JavaScript, without JavaScript",
    "Good. Who teaches finds it there.": "If you ..., whoever ...",
    "It has less samples.": "fewer",
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_list_finds_a_planted_sentence_where_a_person_reads_it(sentence, tmp_path):
    advice = SENTENCES[sentence]
    for name, around in {"a.md": "# Title\n\n{}\n", "a.py": '"""Title.\n\n{}\n"""\n', "a.mjs": 'say("{}");\n'}.items():
        (tmp_path / name).write_text(around.format(sentence), "utf-8")
        assert advice in [each[2] for each in found(prose(tmp_path / name))], name


def test_code_formulas_addresses_and_comments_are_not_read(tmp_path):
    texts = {
        "a.md": "`forecast` [x](forecast.md) $forecast$\n\n```python\nforecast = 1\n```\n\n# T { #forecast }\n",
        "a.py": "forecast = 1  # forecast\n",
        "a.mjs": "// forecast\nconst forecast = 1;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        assert [*found(prose(tmp_path / name))] == [], name


def test_the_list_is_short_enough_to_read_and_each_line_has_its_advice():
    assert 40 <= len(patterns()) <= 60
    assert all(advice for _, advice in patterns())
