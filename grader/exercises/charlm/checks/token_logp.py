"""Checks of `token_logp`."""

import numpy as np
from hypothesis import example, given

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import mode_kept, same, same_gradient, untouched
from grader.grading.strategies import rollouts
from grader.oracles import charlm_oracle as oracle
from grader.oracles.simulation import log_softmax

from . import TABLE, TOKENS, bigram, small_gpt


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
    for letters, size in ((5, (3, 6)), (4, (300, 3)), (40, (2, 400))):
        table, tokens = fresh.uniform(-1, 1, size=(letters, letters)).round(2), fresh.integers(0, letters, size=size)
        same(student.token_logp(bigram(table), tokens), oracle.bigram_logp(table, tokens))


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
