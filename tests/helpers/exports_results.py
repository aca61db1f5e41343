"""Results for the tests of the exports: one by hand that has everything, and any that a grading could leave."""

from dataclasses import replace

from hypothesis import strategies as st

from grader.core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    Frame,
    NamedMistake,
    Outcome,
    Result,
    WrittenAnswer,
)

OUTCOMES = (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR)
SECRET = "group_advantages([41.25, 17.5])"
"""An input of a hidden check."""

ATTACKS = (
    "::error file=grader/commands/grade.py,line=1::injected",
    'a\n::notice title=Autograding report::{"totalPoints":999,"maxPoints":1}', "a\n  ##[error]injected",
    "in the middle ##[warning]injected", "a:::error::injected",
    "</pre></td></table><script>alert(1)</script><img src=x onerror=alert(1)>", "]]><failure/>&amp;&#0;",
    "[click](https://example.com) ![x](https://example.com/x.png) `code` **bold** | cell | \\",
    "\x1b[31mred\x1b[0m\x07\x00\x9b31m", "\u202etxt.exe\u2066 \u200b\ufeff \u2028 \u2029",
    "\ud800 \udfff \ufffe \uffff", "line 1\r\nline 2\rline 3\x85line 4\x0bline 5",
    "a title,file=grader/commands/grade.py,line=1", "=HYPERLINK(1)", "{0} {{1}} %0A %0D %25", "", " ", "\n\n",
    "x" * 5_000, "\U0001f600" * 700,
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]), max_size=30),
    st.lists(st.sampled_from(ATTACKS[:-2]), min_size=2, max_size=4).map("\n".join),
)
_file_names = st.one_of(st.sampled_from(["kl.py", "advantages.py", "../../etc/passwd", "/etc/x.py", "a b.py"]), texts)
_frames = st.builds(Frame, _file_names, st.integers(0, 10_000), texts, texts)


@st.composite
def _exercises(draw: st.DrawFn, name: str) -> ExerciseResult:
    size = draw(st.integers(1, 4))
    checks = [
        CheckResult(
            id=f"{name}.check_{index}",
            function="f",
            title=draw(texts),
            points=draw(st.integers(0, 4)),
            hidden=draw(st.booleans()),
            gate=index == 0,
            outcome=draw(st.sampled_from(OUTCOMES)),
            message=draw(texts),
            call=draw(texts),
            rows=draw(st.lists(st.tuples(st.sampled_from(["yours", "expected", "step"]), texts), max_size=2)),
            frames=draw(st.lists(_frames, max_size=2)),
            printed=draw(texts),
            waits_for=draw(st.lists(texts, max_size=1)),
            may_come_from=draw(st.lists(texts, max_size=1)),
            seconds=draw(st.floats(0, 100)),
        )
        for index in range(size)
    ]
    everywhere, page = draw(st.booleans()), "docs/exercises/kl/mistakes.md#wrong"
    found = NamedMistake(checks[0].id, everywhere, page, "f", "wrong", draw(texts), draw(texts))
    answers = [WrittenAnswer(question, draw(texts)) for question in ("1D.2", "1F.1") if name == "worksheet"]
    mistakes = draw(st.sampled_from([[], [found]]))
    return ExerciseResult(name, draw(texts), f"docs/exercises/{name}.md", checks, mistakes, answers)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Any result that counts, complete or not."""
    names = draw(st.lists(st.sampled_from(["advantages", "kl", "bandit", "worksheet"]), min_size=1, unique=True))
    return Result(
        submission=draw(texts),
        sha256="ab" * 32,
        seed=draw(st.integers(0, 9)),
        device="cpu",
        exercises=[draw(_exercises(name)) for name in names],
        course_version="0.1.0",
        isolation_level=draw(st.sampled_from([0, 1])),
        complete=draw(st.booleans()),
        problem=draw(st.sampled_from(["", "", "the disk is full\n::error::injected"])),
    )


def check(identity: str, outcome: Outcome, *, points: int = 2, **more: object) -> CheckResult:
    """One check with what the schema asks of its outcome."""
    said = {"message": "the sign is wrong"} if outcome not in (PASSED, WAITING, NOT_RUN) else {}
    waits = {"waits_for": ["the worked example"]} if outcome == WAITING else {}
    plain = CheckResult(identity, "group_advantages", f"rule {identity}", points, False, False, outcome)
    return replace(plain, **{**said, **waits, **more})  # type: ignore[arg-type]


def example(**more: object) -> Result:
    """One result with every outcome, a known mistake, a place, a print and a hidden check."""
    frame = Frame("advantages.py", 27, "group_advantages", "return rewards")
    rows = [("yours", "[1.0, 2.0]"), ("expected", "[-1.0, 1.0]")]
    call = "group_advantages([1.0, 2.0], std_eps=0.0, divide_by_std=True)"
    first = check("advantages.gate", FAILED, points=3, gate=True, frames=[frame], rows=rows, call=call)
    first.printed = "debugging\n" * 200
    words = ("group_advantages", "no_mean", "the mean is not subtracted", "So it drifts.")
    found = NamedMistake(first.id, True, "docs/exercises/x/mistakes.md", *words)
    outcomes = {"broken": BROKEN, "unwritten": NOT_WRITTEN, "waits": WAITING, "good": PASSED}
    checks = [first, *(check(f"advantages.{name}", outcome) for name, outcome in outcomes.items())]
    hidden = check("kl.hidden", FAILED, points=1, hidden=True, call=SECRET, rows=[("expected", SECRET)])
    hidden.message, hidden.printed = f"wrong at {SECRET}", SECRET
    others = [check("kl.good", PASSED, points=4), hidden]
    exercises = [
        ExerciseResult("advantages", "Group-relative advantages", "docs/exercises/advantages.md", checks, [found]),
        ExerciseResult("kl", "KL divergence", "docs/exercises/kl.md", others),
    ]
    result = Result("homework", "ab" * 32, 0, "cpu", exercises, "0.1.0", isolation_level=1, complete=True)
    return replace(result, **more)  # type: ignore[arg-type]
