"""Checks of `completion_mask`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Transposed
from grader.grading.check import check
from grader.grading.compare import same, untouched
from grader.grading.strategies import rollouts
from grader.oracles import charlm_oracle as oracle

from . import TABLE, TOKENS


@check(
    "completion_mask",
    points=3,
    gate=True,
    hints=(
        "Entry t of the mask belongs to token t + 1. Which is the first token that the policy sampled?",
        "Where does the completion end: before its end token, or with it?",
        "Look up: cumsum.",
    ),
    examples=[
        Example(np.array([[5, 6, 7, 0, 0, 0]]), 2, 0),
        Example(np.array([[5, 6, 7, 8, 0, 4], [5, 6, 0, 3, 3, 0], [5, 6, 7, 8, 9, 4]]), 2, 0),
    ],
)
def test_the_mask_of_a_completion_with_an_end(student, worked, fresh):
    """Prompt 5, 6 and completion 7, 0 with end token 0, then padding: the mask is F, T, T, F, F.

    The first entry belongs to the 6 of the prompt. The end token counts: stopping was the policy's choice, and it must
    learn from it. The zeros after it are padding.
    """
    for case, vector in worked:
        same(student.completion_mask(*case.arguments), vector.expected_array, dtype="bool")
    for letters, size in ((3, (6, 8)), (3, (300, 4)), (200, (3, 400)), (2, (2, 700))):  # the last one has many ends
        tokens = fresh.integers(0, letters, size=size)
        expected = oracle.completion_mask(tokens, 3, 1)
        same(student.completion_mask(tokens, 3, 1), expected, dtype="bool")
    expected = oracle.completion_mask(TOKENS, 2, 0)
    same(student.completion_mask(Transposed(TOKENS), 2, 0), expected, dtype="bool", why="wrong for tokens.T of others")


@check(
    "completion_mask",
    points=2,
    hints=(
        "Does an end token in the prompt end the completion?",
        "What is left of a completion whose first token is the end? And of one that never ends?",
    ),
    examples=[
        Example(np.array([[0, 5, 0, 6, 7, 0, 0]]), 3, 0),
        Example(np.array([[5, 6, 0, 0], [5, 6, 7, 8]]), 2, 0),
        Example(np.array([[5, 6, 7, 8]]), 4, 0),
        Example(np.array([[5, 0, 7, 0]]), 1, 0),
        Example(np.array([[0, 2, 0, 3, 4, 0, 5, 0]]), 3, 0),
        Example(np.array([[2, 1, 3, 0, 2, 1, 0, 3]]), 3, 0),
        Example(np.array([[1, 0, 2, 4, 3, 2, 1, 5]]), 3, 0),
        Example(np.array([[2, 3, 1, 1, 0, 0, 0, 0]]), 3, 0),
    ],
)
@example(batch=(TABLE, TOKENS, 1), eos_id=2)
@given(batch=rollouts(), eos_id=st.integers(0, 2))
def test_only_the_first_end_of_the_completion_counts(student, batch, eos_id):
    """An end token in the prompt is ignored; one right after it is the whole completion; without one, all tokens count.

    These batches have end tokens in the prompt, at its last position, twice in a row, and not at all.
    """
    _, tokens, prompt_length = batch
    expected = oracle.completion_mask(tokens, prompt_length, eos_id)
    same(student.completion_mask(tokens, prompt_length, eos_id), expected, dtype="bool")


@check(
    "completion_mask",
    points=2,
    dtype=True,
    hints=(
        "The padding is the end token itself. Can you tell the two apart by their number?",
        "Anything may come after the first end token, including more end tokens and letters.",
    ),
    examples=[
        Example(np.array([[4, 5, 0, 7, 0, 7]]), 1, 0),
        Example(np.array([[4, 5, 0, 0, 0, 0]]), 1, 0),
        Example(np.array([[4, 5, 3, 0, 3, 0]]), 1, 3),
    ],
    refuses=[
        Example(TOKENS[0], 2, 0),
        Example(TOKENS[:, :1], 1, 0),
        Example(TOKENS, 0, 0),
        Example(TOKENS, 7, 0),
    ],
)
@given(batch=rollouts(length=8), seed=st.integers(0, 1000))
def test_what_stands_behind_the_end_changes_nothing(student, batch, seed):
    """The mask does not depend on the padding after the end token, and the end token itself always counts.

    A mask that excludes every token equal to the padding also excludes the end token, so the policy never learns to
    stop. Its dtype is bool. The given code in the stub rejects tokens of the wrong shape and an impossible prompt
    length with a ValueError.
    """
    _, tokens, prompt_length = batch
    expected = oracle.completion_mask(tokens, prompt_length, 0)
    other = tokens.copy()
    written = np.zeros(tokens.shape, dtype=bool)
    written[:, 1:] = expected
    behind = ~written & (np.arange(tokens.shape[1]) >= prompt_length)
    other[behind] = np.random.default_rng(seed).integers(0, 3, size=behind.sum())
    first, second = student.each(
        "completion_mask", Example(tokens, prompt_length, 0), Example(other, prompt_length, 0, return_arguments=True)
    )
    same(first, expected, dtype="bool")
    same(second, expected, dtype="bool", why="the mask depends on what comes after the end")
    untouched(second)
