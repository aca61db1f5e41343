"""Right answers to `token_logp` in other styles."""

import torch
from torch import Tensor, nn


def cross_entropy_of_the_library(model: nn.Module, tokens: Tensor) -> Tensor:
    """minus torch.nn.functional.cross_entropy without a reduction, on flattened positions"""
    logits = model(tokens)[:, :-1]
    losses = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return -losses.view_as(tokens[:, 1:])


def categorical_object(model: nn.Module, tokens: Tensor) -> Tensor:
    """the log_prob method of torch.distributions.Categorical, and a model that never sees the last token"""
    return torch.distributions.Categorical(logits=model(tokens[:, :-1])).log_prob(tokens[:, 1:])


def chosen_logit_minus_normaliser(model: nn.Module, tokens: Tensor) -> Tensor:
    """the chosen logits minus logsumexp, in memory for one number per position"""
    logits = model(tokens)[:, :-1]
    chosen = logits.take_along_dim(tokens[:, 1:].unsqueeze(-1), dim=2)[..., 0]
    return chosen - logits.logsumexp(-1)


def row_by_row(model: nn.Module, tokens: Tensor) -> Tensor:
    """a loop over the rows, each with a forward pass of its own and index arrays"""
    places = torch.arange(tokens.shape[1] - 1, device=tokens.device)
    rows = []
    for row in tokens:
        logp = nn.functional.log_softmax(model(row[None])[0], dim=1)
        rows.append(logp[places, row[1:]])
    return torch.stack(rows)
