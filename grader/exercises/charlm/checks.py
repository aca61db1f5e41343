"""Checks for `charlm.py`: log-probabilities, completion mask, masked mean, loss, one update, and the training loop.

The policies here are tables of three or four letters, so you can compute every number by hand; the oracle does it in
numpy. A run passes its completions to the reward function, so the oracle replays it exactly, update by update. Only
checks of sampling use statistics, and every threshold says how often it fails a right answer.
"""

import contextlib
import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import (
    Mismatch,
    close,
    entries,
    gradient,
    mode_kept,
    no_global_randomness,
    no_gradient,
    number,
    pair,
    parameters,
    require,
    same,
    same_gradient,
    show,
    tensor,
    untouched,
)
from grader.grading.strategies import rollouts
from grader.grading.student import MODE, Example, Half, Record, Same, Tensor, Transposed
from grader.oracles import charlm_oracle as oracle
from grader.oracles.pretrained import pretrained_weights
from grader.oracles.recorded import NoRecord, records
from grader.oracles.simulation import log_softmax

TABLE = np.array([[0.0, 0.5, -0.5], [0.5, 0.0, 1.0], [-1.0, 0.25, 0.0]])
REF_TABLE = np.array([[0.25, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, -0.5, 0.25]])
# Prompt of two tokens; completions end in the middle, at once, never, and with the padding token.
TOKENS = np.array([[1, 2, 1, 2, 0, 0], [2, 1, 0, 0, 0, 0], [1, 1, 2, 2, 1, 2], [2, 2, 2, 1, 1, 0]])
MASK = oracle.completion_mask(TOKENS, 2, oracle.EOS_ID)
ADVANTAGES = np.array([1.5, -0.5, -1.0, 0.75])
VALUES = np.array([[1.0, 2.0, 9.0, 9.0], [3.0, 9.0, 9.0, 9.0], [4.0, 5.0, 6.0, 7.0]])
KEPT = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
METRICS = ("policy_loss", "kl", "clip_fraction")
# Absolute tolerance of losses, gradients and policies: `mask / count` may give float32 weights.
NEAR = 1e-6
# Rounded, because students read and paste failing calls.
LOGP = oracle.bigram_logp(TABLE, TOKENS).round(2)
REF_LOGP = oracle.bigram_logp(REF_TABLE, TOKENS).round(2)
# So far from the current policy that the clip binds above and below the band, but not everywhere.
OLD_LOGP = (LOGP + np.array([[0.1, -0.5, 0.4, 0.3, 1.0], [0.3, 0.6, -0.2, 0.1, 0.0],
                             [-0.4, 0.5, -0.1, 0.35, -0.6], [0.2, -0.3, 0.05, -0.5, 0.1]])).round(2)  # fmt: skip
# In the first row, two log-ratios are beyond the clamp, but their mean is not.
FAR_OLD_LOGP = np.vstack([LOGP[0] + np.array([0.0, -30.0, 29.5, 0.2, 0.0]), OLD_LOGP[1:]]).round(2)
# In the first row, the mean is beyond the clamp; with a negative advantage, no clip hides it.
BEYOND_OLD_LOGP = np.vstack([LOGP[0] - 25.0, OLD_LOGP[1:]]).round(2)


def config(**fields):
    """A CharLMConfig for the submission, with the fields that differ from the given code's defaults."""
    return Record("CharLMConfig", fields)


def settings(record):
    """The same for the oracle."""
    return oracle.Settings(**record.fields)


def bigram(table, *, training=True):
    return Record("BigramLM", {"table": table} | ({} if training else {MODE: False}))


def loss_of(*batch):
    """Of log-probabilities under three policies, advantages, mask and config."""
    logp, old_logp, ref_logp, advantages, mask, wanted = batch
    return oracle.grpo_loss(logp, old_logp, ref_logp, advantages, mask, settings(wanted))


# token_logp


@check(
    "token_logp",
    points=2,
    gate=True,
    hints=(
        "Which position of the logits predicts the second token?",
        "T tokens are T - 1 predictions: the first token is not predicted, and the last prediction has nothing to be "
        "compared with.",
        "Look up: log_softmax, gather.",
    ),
    examples=[
        Example(bigram(np.log([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])), np.array([[0, 1, 2, 1]])),
        Example(bigram(TABLE), TOKENS),
    ],
)
def test_four_tokens_have_three_log_probabilities(student, worked, fresh):
    """Tokens 0, 1, 2, 1 get ln 0.25, ln 0.6 and ln 0.8 from a model that sees only the previous token.

    Row c of the model's table holds the logits of the token after c: 0 is followed by 1 with probability 0.25, 1 by 2
    with 0.6, 2 by 1 with 0.8. The second example has unnormalized logits.
    """
    for case, vector in worked:
        same(student.token_logp(*case.arguments), vector.expected_array)
    why = "the examples are right, but another batch is not"
    for letters, size in ((5, (3, 6)), (4, (300, 3)), (40, (2, 400))):
        table, tokens = fresh.uniform(-1, 1, size=(letters, letters)).round(2), fresh.integers(0, letters, size=size)
        same(student.token_logp(bigram(table), tokens), oracle.bigram_logp(table, tokens), why=why)


@check(
    "token_logp",
    points=2,
    hints=(
        "Is your result right when there are as many rows as tokens, or as many tokens as letters?",
        "The softmax runs over the vocabulary, the last axis of the logits.",
    ),
    examples=[
        Example(bigram(TABLE), TOKENS[:3, :3]),
        Example(bigram(TABLE), TOKENS[:1, :2]),
        Example(bigram(TABLE[:2, :2]), np.array([[0, 1, 1], [1, 0, 0]])),
    ],
)
@example(batch=(TABLE, TOKENS[:3, :3], 1))
@given(batch=rollouts())
def test_log_probabilities_of_any_batch(student, batch):
    """Rows and tokens are not mixed up in a batch of any size, square ones included.

    Entry [b, t] belongs to row b and to token t + 1.
    """
    table, tokens, _ = batch
    same(student.token_logp(bigram(table), tokens), oracle.bigram_logp(table, tokens))


def small_gpt(seed=0):
    """A GPT with random weights: vocabulary of 4, context of 6 tokens."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"tokens.weight": (4, 4), "positions.weight": (6, 4)}
    for layer in (
        ("attention_norm", (4,), (4,)), ("queries_keys_values", (12, 4), (12,)), ("attention_out", (4, 4), (4,)),
        ("mlp_norm", (4,), (4,)), ("mlp_in", (16, 4), (16,)), ("mlp_out", (4, 16), (4,)),
    ):  # fmt: skip
        name, weight, bias = layer
        shapes |= {f"blocks.0.{name}.weight": weight, f"blocks.0.{name}.bias": bias}
    shapes |= {"norm.weight": (4,), "norm.bias": (4,), "head.weight": (4, 4), "head.bias": (4,)}
    weights = {name: random.uniform(-1, 1, size=shape).round(2) for name, shape in shapes.items()}
    size = Record("TinyLMConfig", {"vocabulary": 4, "context": 6, "width": 4, "layers": 1, "heads": 2})
    typed = f"seeded_model(TinyLMConfig(vocabulary=4, context=6, width=4, layers=1, heads=2), seed={seed})"
    return Record("TinyLM", {"config": size, "weights": weights}, typed=typed)


@check(
    "token_logp",
    points=1,
    hints=("A GPT uses a token's position and all earlier tokens. Does yours see the row from its first token on?",),
    examples=[Example(small_gpt(), np.array([[3, 1, 2, 2, 0, 0], [1, 2, 3, 0, 1, 1]]))],
)
def test_log_probabilities_of_a_gpt(student, fresh):
    """A small GPT, whose predictions depend on all earlier tokens, gives the same numbers here and in plain numpy.

    The models in the other checks see only the previous token; a real one sees all of them.
    """
    model = small_gpt(int(fresh.integers(1000)))
    for size in (
        (3, 6),
        (3, 6),
        (2, 2),
    ):  # the same shape twice: code that caches answers by shape is wrong the second time
        tokens = fresh.integers(0, 4, size=size)
        logits = oracle.tiny_lm_logits(model.fields["weights"], tokens, heads=2)
        logp = log_softmax(logits)[:, :-1]
        expected = np.take_along_axis(logp, tokens[:, 1:, None], axis=-1)[..., 0]
        same(student.token_logp(model, tokens), expected)


# Row c gives the token after c a probability of 0.2, 0.997, 1e-5, 1e-15, e^-120 or e^-800.
RARE = np.array(
    [
        [0.0, 0.0, 0.5, 0.0, 0.0, -0.5],
        [0.0, 0.0, 8.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, -10.5, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, -33.5, 0.0],
        [0.5, 0.0, 0.0, 0.0, 0.0, -120.0],
        [-800.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    ]
)
# Each letter comes before another one exactly once, so each row of the table gets the gradient of one token.
IN_TURN = np.array([[0, 1, 2, 3], [3, 4, 5, 0]])  # fmt: skip


@check(
    "token_logp",
    points=2,
    hints=(
        "Each log-probability is a logit minus the logarithm of a sum. Which of the two depends on the model?",
        "Both do. Does your code detach, clamp or recompute a part of either?",
        "The gradient of log pi(a) with respect to the logits is 1 at a, minus pi everywhere.",
    ),
    examples=[
        Example(bigram(RARE), IN_TURN, gradients_of=["model"]),
        Example(bigram(TABLE), TOKENS[:, :3], gradients_of=["model"]),
    ],
)
@example(batch=(np.zeros((3, 3)), np.array([[1, 2, 0, 1], [0, 0, 1, 2]]), 1))
@given(batch=rollouts())
def test_the_gradient_of_each_log_probability_is_1_minus_pi(student, batch):
    """The gradient with respect to a prediction's logits is 1 for the token that came, minus pi for every token.

    It holds for every token of every row, for certain ones and for those whose probability rounds to 0. The values do
    not show a wrong gradient, and every update is made from it: if the sum under the softmax is detached, a token's
    logit rises and none of the others falls.
    """
    why = "the log-probabilities are right, their gradient is not: it must be 1 for the token that came, minus pi"
    table, tokens, _ = batch
    answer = student.token_logp(bigram(table), tokens, gradients_of=["model"])
    expected = oracle.bigram_gradient(table, tokens, np.ones(tokens[:, 1:].shape))
    same_gradient(answer, "model.table", expected, why=why, rtol=1e-5, atol=1e-7)
    answer = student.token_logp(bigram(RARE), IN_TURN, gradients_of=["model"])
    expected = oracle.bigram_gradient(RARE, IN_TURN, np.ones((2, 3)))
    same_gradient(answer, "model.table", expected, why=why, rtol=1e-5, atol=1e-7)
    long = np.arange(44).reshape(4, 11) ** 2 % 7 % 3  # more tokens than the other batches have
    answer = student.token_logp(bigram(table), long, gradients_of=["model"])
    expected = oracle.bigram_gradient(table, long, np.ones((4, 10)))
    same_gradient(answer, "model.table", expected, why=why, rtol=1e-5, atol=1e-7)


@check(
    "token_logp",
    points=1,
    dtype=True,
    hints=(
        "What is the logarithm of a probability that rounded to 0? Look up: log_softmax.",
        "Does your code name a dtype, or change the mode of the model?",
    ),
    examples=[
        Example(bigram(np.array([[0.0, -200.0], [300.0, 0.0]], dtype=np.float32)), np.array([[0, 1, 1, 0]])),
        Example(bigram(TABLE.astype(np.float32)), TOKENS),
        Example(bigram(TABLE + 1000.0), TOKENS),
        Example(bigram(Half(TABLE.astype(np.float32))), TOKENS),
        Example(bigram(TABLE.astype(np.float16)), Transposed(TOKENS)),
    ],
    refuses=[Example(bigram(TABLE), TOKENS[0]), Example(bigram(TABLE), TOKENS[:, :1])],
)
def test_improbable_tokens_are_finite_and_the_dtype_is_kept(student):
    """A token with probability e^-300 has log-probability -300; float32 stays float32; the model keeps its mode.

    A trained policy is nearly certain, so such tokens are common. The given code in the stub rejects tokens of the
    wrong shape with a ValueError.
    """
    table, tokens = np.array([[0.0, -200.0], [300.0, 0.0]], dtype=np.float32), np.array([[0, 1, 1, 0]])
    answer = student.call("token_logp", bigram(table), tokens, return_arguments=True)
    same(answer, np.array([[-200.0, -300.0, 0.0]]), dtype="float32", atol=1e-4)
    untouched(answer)
    mode_kept(answer, "model")
    mode_kept(student.call("token_logp", bigram(table, training=False), tokens, return_arguments=True), "model")
    shifted = student.token_logp(bigram(TABLE + 1000.0), TOKENS)
    expected, why = oracle.bigram_logp(TABLE, TOKENS), "adding 1000 to all logits must change nothing"
    same(shifted, expected, why=why, rtol=1e-9, atol=1e-9)


# completion_mask


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
    why = "the examples are right, but another batch is not"
    for letters, size in ((3, (6, 8)), (3, (300, 4)), (200, (3, 400)), (2, (2, 700))):  # the last one has many ends
        tokens = fresh.integers(0, letters, size=size)
        expected = oracle.completion_mask(tokens, 3, 1)
        same(student.completion_mask(tokens, 3, 1), expected, dtype="bool", why=why)
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


# masked_mean


@check(
    "masked_mean",
    points=3,
    gate=True,
    hints=(
        "Work the example on paper: what are the means of the three rows, each over its own unmasked positions?",
        "Divide by the number of unmasked positions, not by the length of the row.",
        "Which level is the default?",
    ),
    examples=[Example(VALUES, KEPT), Example(VALUES, KEPT, level="token"), Example(VALUES, KEPT, level="sequence")],
)
def test_a_mean_of_three_rows_with_1_2_and_4_values(student, worked, fresh):
    """Rows 1, 2 and 3 and 4, 5, 6, 7 have a mean of 3.3333 by sequence and 4.0 by token.

    By sequence it is the mean of the row means 1.5, 3 and 5.5. By token all seven values have equal weight, so the long
    row counts more.
    """
    for case, vector in worked:
        same(student.masked_mean(*case.arguments, **case.options), vector.expected_array)
    why = "the examples are right, but other values are not"
    for size, largest in (((4, 5), 1), ((300, 3), 1_000), ((2, 400), 50)):
        values = fresh.uniform(-largest, largest, size=size).round(2)
        mask = fresh.integers(0, 2, size=size).astype(bool)
        for level in ("sequence", "token"):
            expected = (oracle.position_weights(mask, level) * values).sum()
            same(student.masked_mean(values, mask, level=level), expected, why=why, rtol=1e-5, atol=NEAR)


@check(
    "masked_mean",
    points=2,
    hints=(
        "What is NaN * 0?",
        "If masked values are multiplied by 0, an infinity among them becomes a NaN. Look up: where.",
    ),
    examples=[
        Example(np.array([[1.0, math.nan, 2.0], [math.inf, 3.0, -math.inf]]), np.array([[1, 0, 1], [0, 1, 0]], bool)),
        Example(np.where(KEPT, VALUES, 1e30), KEPT, level="token"),
        Example(VALUES.astype(np.float32), KEPT, gradients_of=["values"]),
        Example(np.where(KEPT, VALUES, math.nan), KEPT, gradients_of=["values"]),
    ],
)
@example(level="sequence", mask=[[True] * 9, [True, False, True] * 3, [True] * 2 + [False] * 7], junk=math.nan)
@example(level="token", mask=[[True] * 9, [True, False, True] * 3, [True] * 2 + [False] * 7], junk=math.inf)
@given(
    level=st.sampled_from(["sequence", "token"]),
    mask=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=4),
    junk=st.sampled_from([1e6, math.inf, -math.inf, math.nan]),
)
def test_masked_positions_change_neither_the_mean_nor_its_gradient(student, level, mask, junk):
    """Masked values change neither mean nor gradient; the gradient of an unmasked value is its weight.

    By sequence the weight is 1 / (B * length of the row), by token 1 / (number of all tokens). A NaN or an infinity at
    an unmasked position shows in the mean, where it will be noticed.
    """
    mask = np.array(mask)
    mask[:, 0] = True  # another check covers empty rows
    places = np.arange(mask.size).reshape(mask.shape)
    values = np.where(mask, (places / 4 - 1) * 20.0 ** (places % 3 - 1), junk)  # small and large ones
    answer = student.masked_mean(values, mask, level=level, gradients_of=["values"])
    weights = oracle.position_weights(mask, level)
    same(answer, (weights * np.where(mask, values, 0)).sum())
    same_gradient(answer, "values", weights, why="the weights of the values differ", rtol=1e-7, atol=NEAR)
    loud = np.where(mask, values, 0.0)
    loud[0, 0] = junk
    answer, expected = student.masked_mean(loud, mask, level=level), (weights * loud).sum()
    if math.isfinite(junk):
        same(answer, expected)
        return
    found = tensor(answer, shape=(), finite=False)
    rows = [("yours", found), ("expected", expected)]
    story = "a NaN or an infinity at an unmasked position must show in the mean"
    require(np.array_equal(found, expected, equal_nan=True), answer, rows, story)


@check(
    "masked_mean",
    points=2,
    dtype=True,
    hints=(
        "What is 0 / 0?",
        "A row without tokens has mean 0, and it still counts as one of the B rows.",
    ),
    examples=[
        Example(VALUES, np.zeros((3, 4), dtype=bool)),
        Example(VALUES, np.zeros((3, 4), dtype=bool), level="token"),
        Example(VALUES, np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)),
        Example(VALUES.astype(np.float32), KEPT),
        Example(Transposed(VALUES), Transposed(KEPT), level="token"),
    ],
    refuses=[
        Example(VALUES, KEPT[:1]),
        Example(VALUES[0], KEPT[0]),
        Example(VALUES, KEPT, level="row"),
    ],
)
def test_an_empty_row_is_0_and_counts(student):
    """A row without unmasked positions has mean 0 and counts as a row; an empty mask has mean 0; nothing is NaN.

    One NaN in a loss ruins a run. The dtype of the values is kept. The given code in the stub rejects wrong shapes and
    an unknown level with a ValueError.
    """
    none, half = np.zeros((3, 4), dtype=bool), KEPT.copy()
    half[1] = False
    single_token = none.copy()
    single_token[1, 2] = True
    same(student.masked_mean(VALUES, single_token, level="token"), VALUES[1, 2])
    digits = student.masked_mean(np.array([[1.0, 1.0 + 1e-8]]), np.ones((1, 2), dtype=bool))
    same(digits, 1.0 + 5e-9, rtol=1e-12, atol=0.0)
    for level in ("sequence", "token"):
        empty = student.masked_mean(VALUES, none, level=level, gradients_of=["values"])
        same(empty, 0.0, why="the mean of an empty mask must be 0")
        if empty.gradients["values"] is not None:
            zeros, why = np.zeros(VALUES.shape), "the gradient of an empty mask is not 0"
            same_gradient(empty, "values", zeros, why=why, atol=0.0)
        expected = (oracle.position_weights(half, level) * VALUES).sum()
        same(student.masked_mean(VALUES, half, level=level), expected)
        single = VALUES.astype(np.float32)
        answer = student.call("masked_mean", single, half, level=level, return_arguments=True)
        same(answer, expected, dtype="float32")
        untouched(answer)


# grpo_loss


@check(
    "grpo_loss",
    points=3,
    gate=True,
    hints=(
        "Work the example on paper: what is the ratio, and where does the clip bind?",
        "The surrogate is an objective, the loss is minimized. The KL penalty makes the loss larger.",
        "A completion has one advantage, and all of its tokens have it.",
    ),
    examples=[
        Example(np.array([[-1.0, -1.0], [-2.0, -9.0]]), np.array([[-1.5, -1.5], [-2.5, -9.5]]),
                np.array([[-1.0, -1.0], [-2.0, -9.0]]), np.array([1.0, -1.0]),
                np.array([[True, True], [True, False]]), config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.5)),
    ],
)  # fmt: skip
def test_the_loss_of_two_completions(student, worked, fresh):
    """Two tokens with A = 1, one with A = -1, all ratios e^0.5, no KL: the loss is (-1.2 + 1.6487) / 2 = 0.2244.

    The clip binds for the good completion, where the surrogate is 1.2, but not for the bad one. The last position is
    masked. The second example adds a KL term.
    """
    for case, vector in worked:
        _require_loss(student.grpo_loss(*case.arguments), vector.expected)
    wanted, why = config(kl_coef=0.25), "the examples are right, but another batch is not"
    for rows, length, largest in ((3, 5, 2), (300, 3, 2), (2, 400, 50)):
        logp, old_logp, ref_logp = fresh.uniform(-2, 0, size=(3, rows, length)).round(2)
        mask = fresh.integers(0, 2, size=(rows, length)).astype(bool)
        advantages = fresh.uniform(-largest, largest, size=rows).round(2)
        loss, _ = pair(student.grpo_loss(logp, old_logp, ref_logp, advantages, mask, wanted))
        expected = loss_of(logp, old_logp, ref_logp, advantages, mask, wanted)
        same(loss, expected.loss, why=why, rtol=1e-5, atol=NEAR)


def _require_loss(answer, expected):
    """The loss of a vector's observation; another check covers the metrics."""
    loss, _ = pair(answer)
    same(loss, expected["fields"]["0"]["values"][0], atol=NEAR)


def _batch(random, *, rows=4, length=5, distance=0.6):
    """Log-probabilities under three similar policies, advantages and a mask."""
    logp = random.uniform(-3, -0.1, size=(rows, length)).round(2)
    old_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    ref_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    first = random.integers(0, min(2, length))  # everything before it is the prompt, in every row
    places = np.arange(length)
    mask = (places >= first) & (places < random.integers(first + 1, length + 1, size=(rows, 1)))
    return logp, old_logp, ref_logp, random.uniform(-2, 2, size=rows).round(2), mask


def _settings_of_any_kind():
    return st.builds(
        lambda **fields: config(**fields),
        clip_eps=st.sampled_from([0.1, 0.2, 0.5]),
        kl_coef=st.sampled_from([0.0, 0.25, 2.0]),
        loss_level=st.sampled_from(["sequence", "token"]),
    )


@check(
    "grpo_loss",
    points=3,
    hints=(
        "A loss with the right value can have the wrong gradient: which of your terms are constants?",
        "Where the clip binds, the surrogate has no gradient; everywhere else it has ratio * A.",
        "Nothing in a loss may go through .item(), .detach() or numpy on its way from logp.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=2.0), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(clip_eps=0.5), gradients_of=["logp"]),
        Example(LOGP, LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0), gradients_of=["logp"]),
        Example(LOGP[:, :4], OLD_LOGP[:, :4], REF_LOGP[:, :4], ADVANTAGES, MASK[:, :4], config()),  # square
        Example(LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(), gradients_of=["logp"]),
    ],
)
@example(seed=0, wanted=config(), rows=5, length=5, far=0)
@example(seed=1, wanted=config(), rows=5, length=4, far=1)
@example(seed=2, wanted=config(clip_eps=0.5), rows=8, length=6, far=2)
@example(seed=3, wanted=config(kl_coef=0.0, loss_level="token"), rows=6, length=6, far=2)
@example(seed=4, wanted=config(kl_coef=2.0, loss_level="token"), rows=4, length=5, far=0)
@example(seed=5, wanted=config(kl_coef=0.5), rows=4, length=12, far=3)
@example(seed=6, wanted=config(kl_coef=0.5, loss_level="token"), rows=13, length=7, far=3)
@given(
    seed=st.integers(0, 10_000),
    wanted=_settings_of_any_kind(),
    rows=st.integers(1, 5),
    length=st.integers(1, 5),
    far=st.integers(0, 1),
)
def test_value_and_gradient_of_the_loss(student, seed, wanted, rows, length, far):
    """The loss and its gradient with respect to every log-probability match the formula, for batches of any shape.

    That includes square batches, with as many completions as tokens: there, one advantage per *position* would not
    cause a shape error.
    """
    # Large enough to reach a student's own bounds: log-ratios to 3 and advantages to 4, or to 30 and 50.
    distance, scale = ((0.6, 1), (3.0, 2), (30.0, 25), (0.6, 1))[far]
    *policies, advantages, mask = _batch(np.random.default_rng(seed), rows=rows, length=length, distance=distance)
    if far == 3:  # improbable tokens and nearly certain ones
        places = np.arange(length)
        policies = [each + np.where(places % 3, 0.0, -15.0) - (places % 3 == 1) * policies[0] for each in policies]
    batch = (*policies, advantages * scale, mask)
    expected = loss_of(*batch, wanted)
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    loss, _ = pair(answer)
    same(loss, expected.loss, rtol=1e-5, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)
    strided = [Transposed(each) if each.ndim == 2 else each for each in batch]
    loss, _ = pair(student.grpo_loss(*strided, wanted))
    same(loss, expected.loss, why="right for contiguous tensors and wrong for others", rtol=1e-5, atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "With the old policy equal to the current one all ratios are 1. What is the loss then, and what its gradient?",
        "The gradient of exp(logp - old) at logp = old is 1, if old is a constant.",
    ),
    examples=[
        Example(LOGP, LOGP, LOGP, np.array([1.0, -1.0, 1.0, -1.0]), MASK, config(), gradients_of=["logp"]),
        Example(LOGP, LOGP, REF_LOGP, np.zeros(4), MASK, config(kl_coef=1.0), gradients_of=["logp"]),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_a_loss_of_0_still_has_a_gradient(student, seed):
    """On samples of the current policy the loss is 0, but its gradient is -A / (B * length).

    So the loss does not show whether the policy learns. This is expected: the advantages of a group sum to 0, and the
    ratio is 1 for any policy.
    """
    logp, *_, mask = _batch(np.random.default_rng(seed))
    advantages = np.array([1.0, -1.0, 0.5, -0.5])
    answer = student.grpo_loss(logp, logp, logp, advantages, mask, config(), gradients_of=["logp"])
    loss, _ = pair(answer)
    expected = loss_of(logp, logp, logp, advantages, mask, config())
    same(loss, expected.loss, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "exp(200) is infinite in float32, and an infinity times 0 is NaN: in the gradient even if not in the value.",
        "Mask before exp, not after it. That holds for the ratio and for the KL.",
    ),
    examples=[
        Example(LOGP, np.where(MASK, OLD_LOGP, LOGP - 200.0), np.where(MASK, REF_LOGP, LOGP + 200.0), ADVANTAGES, MASK,
                config(), gradients_of=["logp"]),
        Example(LOGP.astype(np.float32), np.where(MASK, OLD_LOGP, -200.0).astype(np.float32),
                np.where(MASK, REF_LOGP, 200.0).astype(np.float32), ADVANTAGES.astype(np.float32), MASK,
                config(kl_coef=1.0), gradients_of=["logp"]),
        Example(LOGP, np.where(MASK, OLD_LOGP, LOGP - 200.0), np.where(MASK, REF_LOGP, LOGP + 200.0), ADVANTAGES, MASK,
                config(ratio_level="sequence"), gradients_of=["logp"]),
        Example(LOGP, np.where(MASK, OLD_LOGP, math.nan), np.where(MASK, REF_LOGP, -math.inf), ADVANTAGES, MASK,
                config(kl_coef=1.0), gradients_of=["logp"]),
    ],
)  # fmt: skip
@given(
    seed=st.integers(0, 10_000),
    junk=st.sampled_from([200.0, -200.0, 1e6, -math.inf, math.nan]),
    ratio_level=st.sampled_from(["token", "sequence"]),
    single=st.booleans(),
)
def test_junk_at_masked_positions_changes_nothing(student, seed, junk, ratio_level, single):
    """Log-ratios of 200, infinities and NaN at masked positions change neither the loss nor its gradient.

    After the end of a completion the policies may differ by any amount.
    """
    dtype = np.float32 if single else np.float64
    *policies, advantages, mask = _batch(np.random.default_rng(seed), length=4)
    logp, old_logp, ref_logp = (each.astype(dtype) for each in policies)
    wanted = config(kl_coef=0.5, ratio_level=ratio_level)
    expected = loss_of(logp, old_logp, ref_logp, advantages.astype(dtype), mask, wanted)
    clean = student.grpo_loss(logp, old_logp, ref_logp, advantages.astype(dtype), mask, wanted, gradients_of=["logp"])
    loss, _ = pair(clean)
    same(loss, expected.loss, dtype="float32" if single else "float64", why="wrong without any junk", atol=NEAR)
    other = np.full_like(logp, junk)
    for arrays in (
        (logp, np.where(mask, old_logp, other), np.where(mask, ref_logp, -other)),
        (np.where(mask, logp, other), np.where(mask, old_logp, -other), ref_logp),
    ):
        answer = student.grpo_loss(*arrays, advantages.astype(dtype), mask, wanted, gradients_of=["logp"])
        loss, _ = pair(answer)
        same(
            loss,
            expected.loss,
            dtype="float32" if single else "float64",
            why="junk at masked positions got in",
            atol=NEAR,
        )
        rtol, atol = (1e-3, 1e-5) if single else (1e-5, NEAR)
        why = "junk at masked positions got into the gradient"
        same_gradient(answer, "logp", expected.gradient, why=why, rtol=rtol, atol=atol)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "One ratio for the whole completion: which mean over its tokens keeps it independent of the length?",
        "exp of the mean log-ratio, not the mean of the ratios, and not exp of the sum.",
        "Masked positions are not part of the mean.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence")),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence", clip_eps=0.01),
                gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(ratio_level="sequence", loss_level="token"),
                gradients_of=["logp"]),
        # The mean is clamped, not each token.
        Example(LOGP, FAR_OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence"), gradients_of=["logp"]),
        Example(LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(ratio_level="sequence")),
    ],
)  # fmt: skip
@given(seed=st.integers(0, 10_000), wanted=_settings_of_any_kind())
def test_the_ratio_of_a_whole_completion(student, seed, wanted):
    """At ratio level "sequence" a completion has one ratio: exp of the mean over its tokens of logp - old_logp.

    Without the mean, the ratio of a completion of 1,000 tokens would be a product of 1,000 ratios and always be
    clipped.
    """
    batch = _batch(np.random.default_rng(seed))
    wanted = config(**{**wanted.fields, "ratio_level": "sequence"})
    expected = loss_of(*batch, wanted)
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    loss, metrics = pair(answer)
    same(loss, expected.loss, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)
    same(entries(metrics, METRICS)["clip_fraction"], expected.clip_fraction, dtype=None)
    beyond = LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(ratio_level="sequence")
    answer = student.grpo_loss(*beyond, gradients_of=["logp"])
    why = "a mean log-ratio beyond 20 has no gradient; the other completions and the KL keep theirs"
    same_gradient(answer, "logp", loss_of(*beyond).gradient, why=why, atol=NEAR)


@check(
    "grpo_loss",
    points=1,
    hints=(
        "Which of the config's two levels is for the ratio, and which for the mean?",
        "The level of the mean applies to the surrogate and to the KL.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(loss_level="token")),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(loss_level="token", kl_coef=2.0)),
        Example(LOGP, LOGP, LOGP, np.array([1.0, -1.0, 1.0, -1.0]), MASK, config(loss_level="token")),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_both_means_are_at_the_level_of_the_config(student, seed):
    """At loss level "token" long completions weigh more, so the loss on samples of the current policy is not 0.

    One completion of a single token with A = 1 and one of three tokens with A = -1: by token the loss is -(1 - 3) / 4 =
    0.5, by sequence 0. Both are correct.
    """
    mask = np.array([[True, False, False], [True, True, True]])
    logp, advantages = np.full((2, 3), -1.0), np.array([1.0, -1.0])
    uneven = logp, logp, logp, advantages, mask, config(loss_level="token")
    loss, _ = pair(student.grpo_loss(*uneven))
    same(loss, loss_of(*uneven).loss, atol=NEAR)
    batch, wanted = _batch(np.random.default_rng(seed)), config(loss_level="token", kl_coef=0.5)
    loss, metrics = pair(student.grpo_loss(*batch, wanted))
    expected = loss_of(*batch, wanted)
    same(loss, expected.loss, atol=NEAR)
    same(entries(metrics, METRICS)["kl"], expected.kl, dtype=None, atol=NEAR)


@check(
    "grpo_loss",
    points=1,
    hints=("The loss is a straight line in kl_coef. What are its value at 0 and its slope?",),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0)),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=3.0)),
        Example(LOGP, OLD_LOGP, LOGP, ADVANTAGES, MASK, config(kl_coef=3.0)),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_the_loss_is_linear_in_kl_coef(student, seed):
    """loss = policy_loss + kl_coef * kl, with both as in the metrics; with kl_coef = 0 there is no KL term.

    The KL is a separate term: it is not clipped, not weighted by advantages, and not part of the surrogate.
    """
    batch = _batch(np.random.default_rng(seed))
    for kl_coef in (0.0, 1.0, 3.0):
        answer = student.grpo_loss(*batch, config(kl_coef=kl_coef))
        loss, metrics = pair(answer)
        shown = entries(metrics, METRICS)
        parts = [float(tensor(shown[name], shape=(), dtype=None)) for name in ("policy_loss", "kl")]
        why = f"the loss is not policy_loss + {kl_coef:g} * kl of your own metrics"
        same(loss, parts[0] + kl_coef * parts[1], why=why, label="policy_loss + kl_coef * kl", atol=NEAR)
        same(loss, loss_of(*batch, config(kl_coef=kl_coef)).loss, atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "Which of the arguments are constants? Does a gradient reach one of them through your ratio, KL or surrogate?",
        "Look up: detach.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(),
                gradients_of=["logp", "old_logp", "ref_logp", "advantages"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence"),
                gradients_of=["logp", "old_logp", "ref_logp", "advantages"]),
    ],
)  # fmt: skip
def test_old_policy_reference_and_advantages_are_constants(student):
    """No gradient reaches old_logp, ref_logp or the advantages, and no argument is modified.

    The old policy and the reference policy are constants. If a gradient flowed into the old policy, the gradient of the
    ratio would be exactly 0 on fresh samples, and the policy would never learn.
    """
    names = ("old_logp", "ref_logp", "advantages")
    for ratio_level in ("token", "sequence"):
        wanted = config(ratio_level=ratio_level, kl_coef=1.0)
        answer = student.grpo_loss(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, wanted, gradients_of=["logp", *names])
        pair(answer)
        gradient(answer, "logp", shape=LOGP.shape)
        for name in names:
            no_gradient(answer, name)
    answer = student.call("grpo_loss", LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(), return_arguments=True)
    untouched(answer)


@check(
    "grpo_loss",
    points=2,
    dtype=True,
    hints=(
        "The three metrics are policy_loss, kl and clip_fraction: of this batch, over unmasked positions.",
        "The clip binds where it removes the gradient, which is not everywhere outside the band.",
        "An attached metric keeps the whole batch's graph in memory.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(clip_eps=0.3)),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, np.array([1.0, 0.0, 0.0, -1.0]), MASK, config()),
    ],
)
@given(seed=st.integers(0, 10_000), wanted=_settings_of_any_kind())
def test_the_metrics_are_those_of_this_batch(student, seed, wanted):
    """policy_loss, kl and clip_fraction match numpy's values for the batch and are detached.

    You will look at them when a run goes wrong, so they have to be right. The loss has the dtype of the
    log-probabilities; a metric may be float32 or float64.
    """
    batch = _batch(np.random.default_rng(seed))
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    _, metrics = pair(answer)
    shown, expected = entries(metrics, METRICS), loss_of(*batch, wanted)
    for name in METRICS:
        why = f"{name} is not that of this batch"
        same(shown[name], getattr(expected, name), dtype=None, why=why, atol=NEAR)
    dragging = [place for place in answer.graph if place != "0"]
    rows = [("with a graph", ", ".join(dragging)), ("expected", "none: detach them")]
    require(not dragging, answer, rows, "a metric drags the graph of the loss along", shows="value[1]")


@check(
    "grpo_loss",
    points=1,
    hints=("What is the mean of no tokens? And what is its gradient?",),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, np.zeros_like(MASK), config(), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK & np.array([[True], [False], [True], [True]]),
                config(ratio_level="sequence", kl_coef=1.0), gradients_of=["logp"]),
    ],
    refuses=[
        Example(LOGP, OLD_LOGP[:1], REF_LOGP, ADVANTAGES, MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP[:1], ADVANTAGES, MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES[:1], MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES[:, None], MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK[:1], config()),
    ],
)  # fmt: skip
def test_completions_without_tokens_add_nothing(student):
    """A completion with an empty mask contributes 0 and still counts; a batch with an empty mask has loss 0, never NaN.

    One NaN in a loss turns every parameter into NaN for good. The given code in the stub rejects shapes that do not
    match with a ValueError.
    """
    some = MASK & np.array([[True], [False], [True], [True]])
    for mask in (some, np.zeros_like(MASK)):
        for level in ("token", "sequence"):
            wanted = config(ratio_level=level, kl_coef=1.0)
            answer = student.grpo_loss(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, mask, wanted, gradients_of=["logp"])
            loss, metrics = pair(answer)
            expected = loss_of(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, mask, wanted)
            same(loss, expected.loss, atol=NEAR)
            same(entries(metrics, METRICS)["clip_fraction"], expected.clip_fraction, dtype=None)
            if mask.any():
                why = "the loss is right, its gradient is not"
                same_gradient(answer, "logp", expected.gradient, why=why, atol=NEAR)
            else:
                no_gradient(answer, "logp")


# train_step


def _table(answer, name="policy"):
    """The logits of a bigram model among the arguments, after the call."""
    return parameters(answer, name, {"table": answer.call.arguments[name].fields["table"]})["table"]


def _require_table(answer, expected, *, why, rtol, atol):
    """Require these logits of the policy after the call."""
    yours, label = _table(answer), "policy, yours"
    close(answer, yours, expected, yours_label=label, why=why, shows="policy.table", rtol=rtol, atol=atol)


def _require_reference(answer, before):
    """Require that the reference policy has not changed by a single bit."""
    after = _table(answer, "ref_policy")
    rows = [("reference logits before", before), ("after", after)]
    require((after == before).all(), answer, rows, "the reference policy was changed", shows="ref_policy.table")


def rollout(tokens=TOKENS, prompt_length=2, old_logp=LOGP, advantages=ADVANTAGES):
    fields = {"tokens": tokens, "prompt_length": prompt_length, "old_logp": old_logp, "advantages": advantages}
    return Record("Rollout", fields)


def step_example(table, ref_table, batch, wanted, *, lr=None, training=True, **options):
    """A call of train_step; the optimizer has the config's learning rate, unless it has already changed."""
    own = config(**(wanted.fields | ({} if lr is None else {"lr": lr})))
    optimizer = Record("make_optimizer", {"policy": Same("policy"), "config": own})
    policy = bigram(table, training=training)
    return Example(policy, bigram(ref_table), optimizer, batch, wanted, **options)


def _with_completions(batch):
    """The same batch with a prompt that leaves one token, because every sampled batch has completion tokens."""
    table, tokens, prompt_length = batch
    return table, tokens, min(prompt_length, tokens.shape[1] - 1)


SGD = {"optimizer": "sgd", "lr": 0.5}
# Fresh samples of an untrained policy: all ratios are 1, and the advantages cancel.
UNDECIDED = (
    np.zeros((3, 3)),
    np.zeros((3, 3)),
    rollout(np.array([[1, 2, 1, 0], [1, 1, 2, 0]]), 1, np.full((2, 3), -math.log(3)), np.array([1.0, -1.0])),
)
STEP_METRICS = ("loss", *METRICS)


def _stepped(table, ref_table, batch, wanted, *, repeat=1, lr=None):
    """The logits after some updates with one batch, and the metrics of the last update, from the oracle."""
    return oracle.updates(table, ref_table, batch.fields, settings(wanted), repeat=repeat, lr=lr)


def _require_step(answer, *, repeat=1, lr=None, why=""):
    """Require the oracle's policy after some updates with the batch of the call."""
    asked = answer.call.arguments
    table, ref_table = (asked[name].fields["table"] for name in ("policy", "ref_policy"))
    expected, _ = _stepped(table, ref_table, asked["rollout"], asked["config"], repeat=repeat, lr=lr)
    times = "" if repeat == 1 else f"this call was made {repeat} times with the same objects, and after that "
    story = why or f"{times}the updated policy is not the expected one"
    _require_table(answer, expected, why=story, rtol=1e-4, atol=1e-5)


@check(
    "train_step",
    points=3,
    gate=True,
    hints=(
        "Three things make an update: a loss, its gradient, a step of the optimizer. Are all three there?",
        "Does the policy move at all? And in the direction in which the loss falls?",
        "Which tokens of a row count? You have written a function for that.",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, kl_coef=1.0)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, inner_steps=3)),  # still one update
        step_example(*UNDECIDED, config(**SGD)),  # the loss is 0, but its gradient is not
    ],
)
def test_one_update_of_a_table_of_logits(student, worked, fresh):
    """One step of plain gradient descent gives a small model the logits that numpy computes.

    Policy and reference are tables of three letters. There are four completions; one ends at once and one never.
    """
    for case, _ in worked:
        _require_step(student.call("train_step", *case.arguments, return_arguments=True))
    table, ref_table = fresh.uniform(-1, 1, size=(2, 4, 4)).round(2)
    # Also a gradient with norm 40, which must not be clipped.
    usual, far = fresh.uniform(-1, 1, size=5).round(2), np.array([200.0, -200.0, 100.0, -100.0, 0.0])
    for length, advantages in ((7, usual), (7, far), (4, 50 * np.eye(64)[9])):
        tokens = fresh.integers(0, 4, size=(len(advantages), length))
        batch = rollout(tokens, 2, (oracle.bigram_logp(table, tokens) + 0.1).round(2), advantages)
        answer = _step(student, table, ref_table, batch, config(**SGD))
        _require_step(answer, why="the examples are right, but another is not")


def _step(student, *arguments, **options):
    return student.each("train_step", step_example(*arguments, return_arguments=True, **options))[0]


@check(
    "train_step",
    points=3,
    hints=(
        "In the first update all ratios are 1. What are they in the second one, and against which policy?",
        "Gradients add up until you clear them.",
        "The optimizer that you were given has state from earlier steps; a new one does not.",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD), repeat=2),
        step_example(TABLE, REF_TABLE, rollout(), config(optimizer="sgd", lr=4.0), repeat=4),
        step_example(TABLE, REF_TABLE, rollout(), config(lr=0.1, kl_coef=1.0), repeat=3),
        step_example(TABLE, REF_TABLE, rollout(advantages=-ADVANTAGES), config(optimizer="sgd", lr=4.0, clip_eps=0.1),
                     repeat=5),
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD), lr=0.125, repeat=2),
    ],
)  # fmt: skip
@example(batch=(TABLE, TOKENS, 2), repeat=5, lr=16, adam=False, clip=1, share=1.0)
@given(
    batch=rollouts(),
    repeat=st.integers(2, 5),
    lr=st.integers(1, 8),
    adam=st.booleans(),
    clip=st.integers(1, 4),
    share=st.sampled_from([1.0, 0.5]),
)
def test_several_updates_with_one_batch(student, batch, repeat, lr, adam, clip, share):
    """In all updates with one batch, the old policy stays the same, the clip limits the ratio, gradients are cleared.

    A single update per batch hides most mistakes with the old policy, the clip or left-over gradients. Both optimizers
    are tried: Adam keeps state from earlier steps. In the middle of a run, the optimizer's learning rate differs from
    the config's.
    """
    table, tokens, prompt_length = _with_completions(batch)
    advantages = np.linspace(-1, 1.5, len(tokens)).round(2)
    optimizer, first_lr = ("adam", 0.05 * lr) if adam else ("sgd", 0.25 * lr)
    wanted = config(optimizer=optimizer, lr=first_lr, clip_eps=clip / 10, kl_coef=0.25)
    moved = rollout(tokens, prompt_length, oracle.bigram_logp(table, tokens).round(2), advantages)
    updates = {"repeat": repeat, "lr": first_lr * share}
    answer = _step(student, table, table.T.copy(), moved, wanted, **updates)
    _require_step(answer, **updates)


def unequal_rows(count=21):
    """A batch whose completions have from one token, in its first rows, to eight, in its last ones."""
    rows, places = np.arange(count)[:, None], np.arange(10)
    tokens = np.where(places < 2 + rows * 8 // count, 1 + (5 * places + 3 * rows) % 7 % 2, oracle.EOS_ID)
    advantages = (np.arange(count) * 7 % 11 - 4) / 4
    # Not from the oracle: the examples need it at import, where a handout has no record.
    logp = (TABLE - np.log(np.exp(TABLE).sum(axis=1, keepdims=True)))[tokens[:, :-1], tokens[:, 1:]]
    old_logp = (logp + (places[:-1] + rows) % 5 / 10 - 0.2).round(2)
    return rollout(tokens, 2, old_logp, advantages)


@check(
    "train_step",
    points=2,
    hints=(
        "Does your code cut the batch into parts? Which part has how many tokens?",
        "The mean of the means of two parts is the mean of all only if the parts have equal weight. What is the weight "
        "of a part at loss_level 'token'?",
        "Which levels does your call of grpo_loss get: those of the config?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, unequal_rows(), config(**SGD, loss_level="token")),
        step_example(TABLE, REF_TABLE, unequal_rows(13), config(**SGD)),
        step_example(TABLE, REF_TABLE, unequal_rows(13), config(**SGD, ratio_level="sequence", kl_coef=1.0)),
    ],
)
def test_a_batch_is_one_mean_however_long_its_completions_are(student):
    """21 completions of one to eight tokens give one update, from one mean over the batch, at the levels of the config.

    Many trainers cut a batch into micro-batches and average their losses. At loss level "token" that gives the tokens
    of a micro-batch of short completions more weight than those of a long one: Transformers had this mistake until
    October 2024. Split the sum, not the mean.
    """
    for count, fields in (
        (21, {"loss_level": "token"}),
        (21, {"loss_level": "token", "ratio_level": "sequence", "kl_coef": 0.5}),
        (33, {"loss_level": "token", "kl_coef": 1.0}),
        (13, {}),
        (21, {"ratio_level": "sequence"}),
    ):
        answer = _step(student, TABLE, REF_TABLE, unequal_rows(count), config(**SGD, **fields))
        _require_step(answer, why="the update of a large batch with completions of unequal length is wrong")


@check(
    "train_step",
    points=2,
    hints=(
        "Whose parameters may change in a training step?",
        "Is the reference policy called with or without gradients? Do its parameters stay without gradients?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=4.0)),
        step_example(TABLE, TABLE, rollout(), config(**SGD, kl_coef=4.0), repeat=2),
    ],
)
def test_the_reference_policy_stays(student):
    """The update leaves the reference policy bit for bit unchanged and without gradients.

    The KL is measured against it in every step of the run.
    """
    answer = _step(student, TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=4.0), repeat=2)
    _require_reference(answer, REF_TABLE)
    mode_kept(answer, "policy")
    untouched(answer)
    mode_kept(_step(student, TABLE, REF_TABLE, rollout(), config(**SGD), training=False), "policy")
    gradients = answer.arguments["ref_policy"].fields.get("gradients")
    left = gradients.get("table") if isinstance(gradients, dict) else None
    rows = [("gradient left in the reference policy", show(left)), ("expected", "none")]
    none = left is None or (isinstance(left, Tensor) and not left.array.any())
    require(none, answer, rows, "a gradient reaches the reference policy", shows="ref_policy.table.grad")
    silent, story = (
        rollout(advantages=np.zeros(4)),
        "with advantages of 0 the KL still pulls, far from the reference and near it",
    )
    for ref_table in (REF_TABLE, TABLE + 0.01 * np.eye(3)):
        _require_step(_step(student, TABLE, ref_table, silent, config(**SGD, kl_coef=4.0)), why=story)
    answer = _step(student, TABLE, REF_TABLE, rollout(), config(**SGD), left_gradients=["policy"])
    why = "the policy had gradients of an earlier step, and they count: clear them before the backward pass"
    _require_step(answer, why=why)


@check(
    "train_step",
    points=2,
    hints=(
        "The policy did not sample the prompt, and everything after the end token is padding.",
        "Change the last token of a row that has ended: does anything change?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(tokens=np.array([[1, 2, 0, 0, 0, 0]] * 4)), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(prompt_length=5), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=np.where(MASK, LOGP, -300.0)), config(**SGD)),
    ],
)
@example(batch=(np.array([[0.0, 0, 0], [0, -4, 0], [0, 0, 0]]), np.ones((1, 6), np.int64), 1))  # a gradient of norm 1.2
@given(batch=rollouts(length=6))
def test_prompt_and_filling_teach_nothing(student, batch):
    """Only the policy's own tokens move logits: rows of the table that no completion used do not change.

    Here the first letter of the table is the end token, and everything after it is padding.
    """
    table, tokens, prompt_length = _with_completions(batch)
    mask = oracle.completion_mask(tokens, prompt_length, 0)
    advantages = np.linspace(-1, 1, len(tokens)).round(2)
    old_logp = np.where(mask, oracle.bigram_logp(table, tokens).round(2), 50.0)
    batch = rollout(tokens, prompt_length, old_logp, advantages)
    answer = _step(student, table, table, batch, config(**SGD))
    used = np.isin(np.arange(len(table)), tokens[:, :-1][mask])
    found = _table(answer)
    rows = [("logits before", table), ("after", found)]
    still = np.abs(found - table)[~used].max(initial=0.0) < 1e-9
    story = "a token that no completion used for a prediction has moved its row of logits"
    require(still, answer, rows, story, shows="policy.table")
    _require_step(answer)


@check(
    "train_step",
    points=1,
    hints=(
        "Before or after the update: which policy do the metrics belong to?",
        "A float has no graph and no device: .item()",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, clip_eps=0.3)),
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=0.5), repeat=3),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_the_metrics_of_a_step_are_floats_of_its_batch(student, seed):
    """loss, policy_loss, kl and clip_fraction are floats, computed from the batch before the update.

    Nothing is sampled, so global random state does not change.
    """
    random = np.random.default_rng(seed)
    table, ref_table = random.uniform(-1, 1, size=(2, 3, 3)).round(2)
    tokens = random.integers(0, 3, size=(4, 5))
    old_logp = (oracle.bigram_logp(table, tokens) + random.uniform(-0.5, 0.5, size=(4, 4))).round(2)
    batch, wanted = rollout(tokens, 2, old_logp, random.uniform(-1, 1, size=4).round(2)), config(**SGD, kl_coef=0.5)
    answer = _step(student, table, ref_table, batch, wanted, watch_random=True)
    no_global_randomness(answer, "a training step samples nothing")
    without = config(**SGD, kl_coef=0.0)  # the KL is still measured
    for each, chosen in ((answer, wanted), (_step(student, table, ref_table, batch, without), without)):
        _, expected = _stepped(table, ref_table, batch, chosen)
        shown = entries(each, STEP_METRICS)
        for name in STEP_METRICS:
            number(shown[name], expected[name], what=name, why=f"{name} is not that of this batch before the update")


# train


ALPHABET = ".ab"
FOODS = ("apples", "ice cream", "lettuce", "cookies", "pizza", "donuts", "soda", "salad")
RUN = {"alphabet": ALPHABET, "optimizer": "sgd", "lr": 1.0, "final_lr": 1.0, "max_new_tokens": 4, "steps": 3}
_SEEN = "reward_fn.seen"
LATE = 20_000  # the seed of the example with a long run as well, for what changes late
ROWS = ("mean_reward", "mean_advantage", "completion_length", "loss", *METRICS)


def run_example(table, ref_table, prompt, wanted, *, seed, letter="b", worth=1.0, training=True, **options):
    generator = Record("make_generator", {"seed": seed})
    reward = Record("LetterReward", {"letter": letter} | ({} if worth == 1.0 else {"worth": worth}))
    policy = bigram(table, training=training)
    return Example(policy, bigram(ref_table), prompt, reward, wanted, generator=generator, **options)


def _run(student, table, ref_table, prompt, wanted, **options):
    """Train. A handout also checks a run of the first step, because later samples of a wrong run are not recorded."""
    arguments = table, ref_table, prompt
    if records().answers and wanted.fields["steps"] > 1 and not {"repeat", "watch_random"} & options.keys():
        first = run_example(*arguments, config(**{**wanted.fields, "steps": 1}), return_arguments=True, **options)
        with contextlib.suppress(NoRecord):
            _require_run(student.each("train", first)[0])
    return student.each("train", run_example(*arguments, wanted, return_arguments=True, **options))[0]


def _is_text(each):
    """Whether it is a pair of lists of strings, as `LetterReward` keeps them."""
    if not isinstance(each, tuple) or len(each) != 2 or not all(isinstance(texts, list) for texts in each):
        return False
    return all(isinstance(text, str) for texts in each for text in texts)


def _batches(answer):
    """The arguments of the reward function in each step, (prompts, completions), after checking their shape."""
    prompt, chosen = answer.call.arguments["prompt"], settings(answer.call.arguments["config"])
    reward = answer.arguments["reward_fn"]
    seen = reward.fields.get("seen") if isinstance(reward, Record) else None
    seen = [each for each in seen if _is_text(each)] if isinstance(seen, list) else []
    steps = chosen.steps * answer.call.repeat
    rows = [("calls of reward_fn", str(len(seen))), ("expected", f"{steps}, one for each step")]
    story = "reward_fn must be called once for each step, with its whole batch"
    require(len(seen) == steps, answer, rows, story, shows=_SEEN)
    size = chosen.group_size * chosen.prompts_per_step
    for prompts, texts in seen:
        rows = [("prompts, completions", f"{len(prompts)}, {len(texts)}"), ("expected", f"{size} of each")]
        story = "reward_fn must get all completions of the step"
        require(len(prompts) == len(texts) == size, answer, rows, story, shows=_SEEN)
        groups = [prompts[start : start + chosen.group_size] for start in range(0, size, chosen.group_size)]
        allowed = {prompt} if isinstance(prompt, str) else set(prompt)
        good = all(len(set(group)) == 1 and group[0] in allowed for group in groups)
        rows = [("prompts, yours", ", ".join(prompts)), ("expected", f"each {chosen.group_size} times in a row")]
        require(good, answer, rows, "the rows of a group must have one prompt", shows=_SEEN)
        asked = [group[0] for group in groups]
        least, most = len(groups) // len(allowed), -(-len(groups) // len(allowed))
        even = all(least <= asked.count(each) <= most for each in allowed)
        rows = [("prompts of the groups", ", ".join(asked)), ("expected", "each equally often")]
        story = "the groups of a step must have all of the prompts, each equally often"
        require(even, answer, rows, story, shows=_SEEN)
        written = all(0 < len(text) <= chosen.max_new_tokens for text in texts)
        ends = all(text.find(chosen.alphabet[0]) in (-1, len(text) - 1) for text in texts)
        ends = ends and set("".join(texts)) <= set(chosen.alphabet)
        rows = [("completions, yours", " ".join(map(repr, texts))), ("expected", "letters, then one end or none")]
        story = "reward_fn must get the completions as they were drawn, without prompts"
        require(written and ends, answer, rows, story, shows=_SEEN)
    return seen


def _require_run(answer):
    """Require the rows and the final policy that numpy computes from the completions. Returns the replay."""
    asked = answer.call.arguments
    table, ref_table = (asked[name].fields["table"] for name in ("policy", "ref_policy"))
    chosen = settings(asked["config"])
    expected = oracle.replay(table, ref_table, _batches(answer), chosen, **asked["reward_fn"].fields)
    mode_kept(answer, "policy")
    _table(answer)  # check that it is finite before checking its metrics
    rows = _rows(answer, chosen.steps, ROWS)
    for step, (row, wanted_row) in enumerate(zip(rows, expected.rows, strict=True)):
        for name in ROWS:
            story = f"{name} of step {step + 1} does not follow from the completions that were drawn"
            # Rounding of the group's mean decides whether the clip binds for a reward at that mean.
            slack = 1e-6 + (wanted_row["doubtful"] if name == "clip_fraction" else 0.0)
            number(row[name], wanted_row[name], what=f"history[{step}][{name!r}]", why=story, atol=slack)
    story = "the trained policy does not follow from its own completions: is every update made with its own batch?"
    _require_table(answer, expected.tables[-1], why=story, rtol=1e-5, atol=NEAR)
    _require_reference(answer, ref_table)
    return expected


@check(
    "train",
    points=4,
    gate=True,
    hints=(
        "Write the five steps down: sample, score, advantages, old log-probabilities, update. In which order?",
        "The advantages compare completions of one prompt. Where does one group end and the next begin?",
        "Print the rewards of a step and its advantages: do they belong together?",
    ),
    examples=[
        run_example(TABLE, REF_TABLE, "a", config(**RUN), seed=1),
        run_example(TABLE, TABLE, "ab", config(**{**RUN, "group_size": 3, "prompts_per_step": 2}), seed=2),
    ],
)
def test_a_run_follows_from_the_completions_that_it_draws(student, fresh):
    """The completions of each step determine every update and every metric of the run, as computed in numpy.

    The reward is the number of b's. Three steps with a table of three letters, each with 4 groups of 8 completions.
    """
    table, ref_table = fresh.uniform(-1, 1, size=(2, 3, 3)).round(2)
    table[:, 0] -= 1.0  # few completions end at once: a step without signal would decide by luck
    wanted = config(**{**RUN, "group_size": 8, "prompts_per_step": 2})
    for worth in (1.0, -2.5, 512.0):  # a reward is any finite number
        answer = _run(student, table, ref_table, "ab", wanted, seed=int(fresh.integers(1 << 31)), worth=worth)
        _require_run(answer)


@check(
    "train",
    points=3,
    hints=(
        "Which policy gives the old log-probabilities in the third update with a batch?",
        "Is a new batch drawn between the updates of one step?",
        "The row of metrics belongs to the last update of the step.",
    ),
    examples=[
        run_example(TABLE, REF_TABLE, "a", config(**{**RUN, "inner_steps": 4, "lr": 4.0}), seed=3),
        run_example(TABLE, REF_TABLE, "a", config(**{**RUN, "inner_steps": 2, "lr": 0.2, "optimizer": "adam"}), seed=4),
        run_example(TABLE, REF_TABLE, "a", config(**{**RUN, "inner_steps": 2, "final_lr": 0.1}), seed=14),
    ],
)
@example(seed=LATE, inner_steps=3, adam=False, decay=False)
@given(
    seed=st.integers(0, 10_000),
    inner_steps=st.integers(2, 5),
    adam=st.booleans(),
    decay=st.booleans(),
)
def test_several_updates_with_each_batch(student, seed, inner_steps, adam, decay):
    """Each batch gets inner_steps updates, all with the old policy that drew it, from the first step to the last.

    If old log-probabilities are recomputed for each update, every ratio is 1 and the clip never binds.
    """
    fields = {"optimizer": "adam", "lr": 0.25} if adam else {"lr": 4.0}
    wanted = config(**{**RUN, **fields, "inner_steps": inner_steps, "final_lr": 0.1 if decay else 1.0})
    answer = _run(student, TABLE, REF_TABLE, "a", wanted, seed=seed)
    _require_run(answer)
    if seed == LATE:
        levels = {"loss_level": "token", "ratio_level": "sequence", "prompts_per_step": 1, "kl_coef": 0.3}
        last = config(**{**RUN, **levels, "lr": 2.0, "clip_eps": 0.1, "steps": 45, "inner_steps": inner_steps})
        _require_run(_run(student, TABLE, REF_TABLE, "a", last, seed=seed))


@check(
    "train",
    points=3,
    hints=(
        "With two prompts in a step, whose mean is subtracted from whose reward?",
        "The rows of a group are consecutive: B = P * G rows are P groups of G.",
        "Is your code right when there are as many groups as completions in a group?",
    ),
    examples=[
        run_example(TABLE, REF_TABLE, ["a", "b"], config(**{**RUN, "group_size": 4, "prompts_per_step": 2}), seed=5),
        run_example(TABLE, REF_TABLE, ["aa", "ab", "bb"], config(**{**RUN, "group_size": 3, "prompts_per_step": 3}),
                    seed=6),
        run_example(TABLE, REF_TABLE, "b", config(**{**RUN, "group_size": 2, "prompts_per_step": 5}), seed=7),
    ],
)  # fmt: skip
@given(seed=st.integers(0, 10_000), groups=st.integers(1, 4), size=st.integers(1, 4))
def test_each_prompt_has_its_own_group(student, seed, groups, size):
    """Advantages are computed within each group, whatever the rewards of other groups.

    One prompt may be easier than another, which says nothing about its completions.
    """
    table = np.array([[0.0, 0.0, 0.0], [0.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])  # b after b earns far more reward
    wanted = config(**{**RUN, "group_size": size, "prompts_per_step": groups})
    answer = _run(student, table, REF_TABLE, ["a", "b"], wanted, seed=seed)
    _require_run(answer)


@check(
    "train",
    points=1,
    hints=("What are the advantages of equal rewards, and of a group of one? And what is left of the loss then?",),
    examples=[
        run_example(TABLE, TABLE, "a", config(**{**RUN, "group_size": 1}), seed=8),
        run_example(TABLE, REF_TABLE, "a", config(**RUN), seed=9, letter="z"),
        run_example(TABLE, REF_TABLE, "a", config(**{**RUN, "group_size": 2, "prompts_per_step": 1}), seed=23),
    ],
)
@given(seed=st.integers(0, 10_000), single=st.booleans())
def test_a_run_without_signal_stays_at_the_reference(student, seed, single):
    """With groups of one, or equal rewards, a policy that starts at the reference stays there: there is no signal.

    At the reference itself, the gradient of the KL is 0. All samples cost time, and the policy learns nothing.
    """
    wanted = config(**{**RUN, "group_size": 1 if single else 4, "kl_coef": 1.0})
    letter = "b" if single else "z"
    answer = _run(student, TABLE, TABLE, "a", wanted, seed=seed, letter=letter)
    _require_table(answer, TABLE, why="a run without signal moved", rtol=1e-7, atol=NEAR)
    _require_run(answer)
    pulled = config(**{**RUN, "steps": 8, "kl_coef": 1.0})
    _require_run(_run(student, TABLE, REF_TABLE, "a", pulled, seed=seed, letter="z"))  # the KL moves it in every step
    eager = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [0.0, 0.0, 2.0]])
    leaves = config(**{**RUN, "steps": 6, "kl_coef": 3.0})  # then the rewards disappear: the last policy must stay
    _require_run(_run(student, eager, REF_TABLE, "a", leaves, seed=seed))


@check(
    "train",
    points=2,
    needs=("a_run_follows_from_the_completions_that_it_draws",),
    seconds=60.0,
    call_seconds=25.0,  # the longest run: right answers with slow loops took more than 5 s on a busy machine
    hints=(
        "Which policy draws the batch of the last step: the trained one, or the reference?",
        "Use one generator for the whole run: the argument.",
    ),
    examples=[
        run_example(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), TABLE, "a",
                    config(**{**RUN, "lr": 20.0}), seed=10),
        run_example(TABLE, REF_TABLE, ["a", "b"], config(**{**RUN, "steps": 2, "lr": 0.0}), seed=11),
    ],
)  # fmt: skip
def test_batches_come_from_the_current_policy(student, fresh):
    """Each batch is sampled from the policy of its own step, new and independent; all prompts are used.

    These statistical tests have thresholds at 6 standard deviations: a correct run fails one of them less than once in
    100,000. Of 200 correct runs, the farthest reached 3.3; samples at a temperature of 0.9 reach 12.1 on average, and
    the nearest of 40 such runs was at 9.2.
    """
    seed = int(fresh.integers(1 << 31))
    adam = {"optimizer": "adam", "lr": 0.05, "kl_coef": 0.5}
    wanted = config(**{**RUN, **adam, "steps": 60, "group_size": 32})
    answer = _run(student, TABLE, REF_TABLE, "a", wanted, seed=seed)
    expected = _require_run(answer)
    batches = _batches(answer)
    surprise = spread = 0.0
    for table, (prompts, texts) in zip(expected.tables[:-1], batches, strict=True):
        tokens = oracle.encode(prompts, texts, ALPHABET)
        mask = oracle.completion_mask(tokens, 1, oracle.EOS_ID)
        logp = log_softmax(table)
        entropy = -(np.exp(logp) * logp).sum(axis=-1)
        variance = (np.exp(logp) * logp**2).sum(axis=-1) - entropy**2
        before = tokens[:, :-1][mask]
        surprise += (-oracle.bigram_logp(table, tokens)[mask] - entropy[before]).sum()
        spread += variance[before].sum()
    z = surprise / math.sqrt(spread)
    rows = [("surprise at the tokens drawn, in standard deviations", f"{z:.1f}"), ("must be", "between -6 and 6")]
    story = "the completions were not drawn from the policy of their own step"
    require(abs(z) < 6, answer, rows, story, shows="reward_fn.seen[-3:]")
    still = config(**{**RUN, "steps": 6, "group_size": 16, "lr": 0.0})
    answer = _run(student, TABLE, REF_TABLE, ["a", "b"], still, seed=seed)
    batches = _batches(answer)
    asked = sorted({prompt for prompts, _ in batches for prompt in prompts})
    rows = [("prompts asked in 6 steps", ", ".join(asked)), ("expected", "a, b")]
    require(asked == ["a", "b"], answer, rows, "the batches must be drawn from all of the prompts", shows=_SEEN)
    texts = [tuple(texts) for _, texts in batches]
    rows = [("first batch", " ".join(texts[0][:8])), ("second batch", " ".join(texts[1][:8]))]
    require(len(set(texts)) == len(texts), answer, rows, "every step must draw a new batch", shows="reward_fn.seen[:2]")


@check(
    "train",
    points=2,
    hints=(
        "Where do your random numbers come from? `generator` is an argument.",
        "The same generator state gives the same run, bit for bit.",
    ),
    examples=[
        run_example(TABLE, REF_TABLE, "a", config(**RUN), seed=12),
        run_example(TABLE, REF_TABLE, "a", config(**RUN), seed=13),
    ],
)
def test_the_generator_decides_and_nothing_global_does(student, fresh):
    """The same generator gives the same run, a different seed a different one; global random state is not used.

    A result that cannot be repeated cannot be checked, and a run that cannot be repeated cannot be resumed.
    """
    one, other = (int(seed) for seed in fresh.integers(1 << 31, size=2))
    wanted, found, answers = config(**RUN), [], []
    for seed in (one, one, other):
        answer = _run(student, TABLE, REF_TABLE, "a", wanted, seed=seed, watch_random=True)
        no_global_randomness(answer)
        answers.append(answer)
        found.append((_batches(answer), _table(answer).tobytes()))
    rows = [("first time", " ".join(found[0][0][0][1][:8])), ("again", " ".join(found[1][0][0][1][:8]))]
    story = "the same generator gave another run"
    require(found[0] == found[1], answers[1], rows, story, shows=_SEEN, beside=answers[:1])
    rows = [("with one seed", " ".join(found[0][0][0][1][:8])), ("with another", " ".join(found[2][0][0][1][:8]))]
    different = found[0][0] != found[2][0]
    require(different, answer, rows, "two seeds gave the same completions", shows=_SEEN, beside=answers[:1])
    answer = _run(student, TABLE, REF_TABLE, "a", config(**{**RUN, "lr": 0.0}), seed=one, repeat=2, training=False)
    mode_kept(answer, "policy")
    batches = _batches(answer)
    rows = [("first run", " ".join(batches[0][1][:8])), ("second run", " ".join(batches[3][1][:8]))]
    story = "a second run with the same generator drew the same completions: it must go on where the first one ended"
    require(batches[:3] != batches[3:], answer, rows, story, shows=_SEEN)


@check(
    "train",
    points=3,
    needs=("a_run_follows_from_the_completions_that_it_draws", "batches_come_from_the_current_policy"),
    seconds=60.0,
    call_seconds=25.0,  # 0.4 s on one core; a busy, slow laptop may need fifty times as long
    hints=(
        "Look at it: `python -m starter.run_charlm` draws ten curves.",
        "If every update is right and the run is not, look at the order of the steps.",
    ),
    examples=[],
)
def test_it_learns_to_like_pizza(student, fresh, show_curve):
    """From the course's weights, the exact P("pizza." | "ravin likes ") rises from 0.11 to at least 0.9 in 40 steps.

    Completions stay well-formed, and the KL stays bounded. There are two runs, and the probabilities are computed
    exactly from the weights. Of 1,000 correct runs, the lowest ended at 0.968 for pizza and for all foods together, and
    the highest KL was 0.65. A third run is rewarded for a text that is never sampled, and learns nothing.
    """
    model = pretrained()
    weights = model.fields["weights"]
    # With seed 2, a run that makes a new optimizer in every step ends at 0.83; with most others it passes 0.9.
    for seed in (2, fresh.integers(1 << 31)):
        case = Example(
            model, model, "ravin likes ", Record("TextReward", {"completion": "pizza.", "reward": 4.0}), config(),
            generator=Record("make_generator", {"seed": int(seed)}), return_arguments=True,
        )  # fmt: skip
        answer = student.each("train", case)[0]
        show_curve("Mean reward of the batch", _column(answer, "mean_reward"), y="mean reward", first=1)
        show_curve("KL to the reference policy", _column(answer, "kl"), y="KL", first=1)
        trained = parameters(answer, "policy", weights)
        before, after = (pizza(each, ["pizza."]) for each in (weights, trained))
        well_formed = pizza(trained, [f"{food}." for food in FOODS])
        kl = float(np.median([number(row["kl"], None, what="kl") for row in _rows(answer, 40, ("kl",))[-10:]]))
        rows = [
            ("exact P(pizza) at the start", f"{before:.3f}"),
            ("after 40 steps", f"{after:.3f}; must be at least 0.9"),
            ("P(any of the eight foods) after", f"{well_formed:.3f}; must be at least 0.9"),
            ("KL, median of the last ten steps", f"{kl:.2f}; must be at most 2"),
        ]
        ref_policy = parameters(answer, "ref_policy", weights)
        still = all((ref_policy[name] == weights[name]).all() for name in weights)
        rows_of_it = [("reference policy", "changed"), ("expected", "bit for bit what it was")]
        moved = "(ref_policy.head.weight - load_model().head.weight).abs().max()"
        require(still, answer, rows_of_it, "the reference policy was changed", shows=moved)
        good = after >= 0.9 and well_formed >= 0.9 and -0.001 <= kl <= 2
        story = "the policy does not learn to like pizza, or forgets how to write"
        require(good, answer, rows, story, shows="value[-1]")
    _require_no_lesson(student, model, seed=int(fresh.integers(1 << 31)))


def _require_no_lesson(student, model, *, seed):
    """Require that a reward for a text that is never drawn moves no weight: a policy learns only from its own text."""
    never = Record("TextReward", {"completion": "broccoli.", "reward": 4.0})
    wanted = config(optimizer="sgd", lr=0.1, steps=3)
    generator = Record("make_generator", {"seed": seed})
    case = Example(model, model, "ravin likes ", never, wanted, generator=generator, return_arguments=True)
    (answer,) = student.each("train", case)
    weights = model.fields["weights"]
    trained = parameters(answer, "policy", weights)
    moved = max(float(np.abs(trained[name] - weights[name]).max()) for name in weights)
    rows = [("largest change of a weight", np.float64(moved)), ("expected", "0: nobody wrote broccoli")]
    story = "the policy learns what it never wrote: it must learn from its own completions and their rewards only"
    shows = "(policy.head.weight - load_model().head.weight).abs().max()"
    require(moved < 1e-5, answer, rows, story, shows=shows)


def _column(answer, name):
    """One quantity of a history for a chart, without any requirement: None where it is missing."""
    rows = answer.value if isinstance(answer.value, list | tuple) else []
    return [row.get(name) if isinstance(row, dict) else None for row in rows]


def _rows(answer, steps, names):
    """The rows of a history, each as a dict of answers, after checking their number."""
    rows = answer.value
    if not isinstance(rows, list | tuple):
        shown = [("yours", type(rows).__name__), ("expected", "a list of dicts")]
        raise Mismatch(answer.call, shown, "your function must return the history, a list with a dict for each step")
    shown = [("rows of the history", str(len(rows))), ("expected", f"{steps}, one for each step")]
    require(len(rows) == steps, answer, shown, "the history must have a row for each step")
    return [entries(replace(answer, value=row, part=f"[{step}]"), names) for step, row in enumerate(rows)]


def pizza(weights, completions):
    """Exact total probability of some completions, from the parameters of the language model."""
    alphabet = oracle.Settings().alphabet
    found = [
        oracle.completion_probability(weights, "ravin likes ", text, heads=2, alphabet=alphabet) for text in completions
    ]
    return math.fsum(found)


def pretrained():
    """The language model that comes with the course."""
    fields = {"config": Record("TinyLMConfig", {}), "weights": dict(pretrained_weights())}
    return Record("TinyLM", fields, typed="load_model()")
