"""Messages on syntax errors and unknown names say which Python reads the file, and what was probably meant."""

import sys

import pytest

from grader.core.python_errors import unknown_name, version_note

OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.mark.parametrize(
    ("line", "since"),
    [
        ("type RecordedAnswer = list[float]", (3, 12)),
        ("def first[T](items: list[T]) -> T:", (3, 12)),
        ("""    print(f"{config["kl"]}")""", (3, 12)),
        ("    except ValueError, TypeError:", (3, 14)),
    ],
)
def test_syntax_of_a_later_python_is_called_by_its_version(line: str, since: tuple[int, int]) -> None:
    note = version_note(line)
    assert OURS in note
    assert (f"Python {since[0]}.{since[1]}," in note) == (since > sys.version_info[:2])


@pytest.mark.parametrize("line", ["def f(x)", "    return (x", '    print(f"{x}" + "{y}")', "match = 3 +"])
def test_an_ordinary_slip_is_no_later_syntax(line: str) -> None:
    assert version_note(line) == f" (read as Python {OURS})"


def test_an_unknown_name_is_compared_with_the_names_of_the_module() -> None:
    text = "def f(rewards):\n    no_signal = 1\n    return no_signals\n"
    assert "`no_signal`" in unknown_name("name 'no_signals' is not defined", text)
    assert "import torch.nn.functional as F" in unknown_name("name 'F' is not defined", text)
    assert unknown_name("name 'zzz' is not defined", text) == ""
