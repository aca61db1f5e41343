from types import SimpleNamespace

import torch

from .loading import load

tokenize, pack = load("art.preprocessing.tokenize"), load("art.preprocessing.pack")
functions = load("art.loss")


def compute(batch, settings):
    inputs, places = packed(batch)
    logp, advantages = batch.logp.requires_grad_(), torch.zeros_like(batch.logp)
    for p, (i, t) in places:
        advantages[i, t] = inputs["advantages"][0, p]
    loss = functions.loss_fn(inputs, placed(logp, places), None, None, settings).policy_loss
    return advantages, loss, torch.autograd.grad(loss, logp)[0]


def placed(logp, places):
    """Log-probabilities (B, T) where ART expects them in the packed row: one position before their tokens."""
    new = torch.zeros(1, 64, dtype=logp.dtype)
    for p, (i, t) in places:
        new[0, p - 1] = logp[i, t]
    return new


def packed(batch):
    """ART's packed tensors, and for each of their tokens its position, row and place in the row."""

    def tokenized(tokenizer, processor, history, advantage, allow, trajectory, **_):
        i, n = trajectory.row, batch.lengths[trajectory.row]
        ids, logprobs = [-1, *range(100 * i, 100 * i + n)], [float("nan"), *batch.old[i, :n].tolist()]
        rest: tuple = (list(range(n + 1)), [0] + [1] * n, logprobs, None, None, trajectory, [], {}, None)
        return tokenize.TokenizedResult(advantage, "", ids, *rest)

    tokenize.tokenize_trajectory, tokenize.History = tokenized, lambda **_: None
    rows = [SimpleNamespace(row=i, reward=r) for i, r in enumerate(batch.rewards.tolist())]
    for row in rows:
        row.messages_and_choices, row.tools, row.additional_histories = [], None, []
    groups = [rows[i : i + batch.group] for i in range(0, len(rows), batch.group)]
    results = list(tokenize.tokenize_trajectory_groups(None, groups, False, True))
    inputs = pack.packed_tensors_from_tokenized_results(results, 64)
    places = [(p, divmod(token, 100)) for p, token in enumerate(inputs["tokens"][0].tolist()) if token >= 0]
    return inputs, places
