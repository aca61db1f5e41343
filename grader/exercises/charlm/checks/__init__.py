"""What the checks of `charlm.py` share: tables of logits, a batch, and calls with them.

The policies here are tables of three or four letters, so you can compute every number by hand; the oracle does it in
numpy. A run passes its completions to the reward function, so the oracle replays it exactly, update by update. Only
checks of sampling use statistics, and every threshold says how often it fails a right answer.
"""

import numpy as np

from grader.grading.calls import MODE, Example, Record, Same
from grader.grading.compare import close, parameters, require
from grader.oracles import charlm_oracle as oracle

TABLE = np.array([[0.0, 0.5, -0.5], [0.5, 0.0, 1.0], [-1.0, 0.25, 0.0]])
REF_TABLE = np.array([[0.25, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, -0.5, 0.25]])
# Prompt of two tokens; completions end in the middle, at once, never, and with the padding token.
TOKENS = np.array([[1, 2, 1, 2, 0, 0], [2, 1, 0, 0, 0, 0], [1, 1, 2, 2, 1, 2], [2, 2, 2, 1, 1, 0]])
MASK = oracle.completion_mask(TOKENS, 2, oracle.EOS_ID)
ADVANTAGES = np.array([1.5, -0.5, -1.0, 0.75])
METRICS = ("policy_loss", "kl", "clip_fraction")
# Absolute tolerance of losses, gradients and policies: `mask / count` may give float32 weights.
NEAR = 1e-6
# Rounded, because students read and paste failing calls.
LOGP = oracle.bigram_logp(TABLE, TOKENS).round(2)
# So far from the current policy that the clip binds above and below the band, but not everywhere.
OLD_LOGP = (LOGP + np.array([[0.1, -0.5, 0.4, 0.3, 1.0], [0.3, 0.6, -0.2, 0.1, 0.0],
                             [-0.4, 0.5, -0.1, 0.35, -0.6], [0.2, -0.3, 0.05, -0.5, 0.1]])).round(2)  # fmt: skip


def config(**fields):
    """A CharLMConfig for the submission, with the fields that differ from the given code's defaults."""
    return Record("CharLMConfig", fields)


def settings(record):
    """The same for the oracle."""
    return oracle.Settings(**record.fields)


def bigram(table, *, training=True):
    return Record("BigramLM", {"table": table} | ({} if training else {MODE: False}))


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


def table_after(answer, name="policy"):
    """The logits of a bigram model among the arguments, after the call."""
    return parameters(answer, name, {"table": answer.call.arguments[name].fields["table"]})["table"]


def require_table(answer, expected, *, why, rtol, atol):
    """Require these logits of the policy after the call."""
    yours, label = table_after(answer), "policy, yours"
    close(answer, yours, expected, yours_label=label, why=why, shows="policy.table", rtol=rtol, atol=atol)


def require_reference(answer, before):
    """Require that the reference policy has not changed by a single bit."""
    after = table_after(answer, "ref_policy")
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


SGD = {"optimizer": "sgd", "lr": 0.5}
