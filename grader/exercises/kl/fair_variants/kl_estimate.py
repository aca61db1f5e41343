"""Right answers to `kl_estimate` in other styles."""

import numpy as np
import torch
from torch import Tensor


def dictionary_of_all_three(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """computes all three estimators and looks one up in a dictionary"""
    x = ref_logp.detach() - logp
    return {"k1": -x, "k2": 0.5 * x**2, "k3": torch.expm1(x) - x}[kind]


def log_ratio_the_other_way_round(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """starts from logp - ref_logp and turns the signs round; match statement"""
    log_ratio = logp - ref_logp.detach()
    match kind:
        case "k1":
            return log_ratio
        case "k2":
            return torch.pow(log_ratio, 2) / 2
        case _:
            return log_ratio + torch.expm1(-log_ratio)


def one_sample_at_a_time(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """a python loop over the flattened samples, stacked and brought back into shape"""
    values = []
    for own, ref in zip(logp.reshape(-1).unbind(), ref_logp.detach().reshape(-1).unbind(), strict=True):
        x = ref - own
        if kind == "k1":
            values.append(-x)
        elif kind == "k2":
            values.append(x * x / 2)
        else:
            values.append(x.expm1() - x)
    return torch.stack(values).reshape(logp.shape) if values else logp.clone()


def float64_inside(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """computes in float64 and casts the result back to the dtype of logp"""
    x = ref_logp.detach().double() - logp.double()
    if kind == "k1":
        result = -x
    elif kind == "k2":
        result = x.square() / 2
    else:
        result = torch.special.expm1(x) - x
    return result.to(logp.dtype)


def in_place_on_an_own_copy(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """in-place arithmetic, on a clone and never on an input"""
    x = ref_logp.detach().clone()
    x -= logp
    if kind == "k1":
        return x.neg_()
    if kind == "k2":
        return x.square().div_(2)
    result = x.neg()
    result += torch.expm1(x)
    return result


def extra_keyword(
    logp: Tensor, ref_logp: Tensor, *, kind: str = "k3", mask: Tensor | None = None, reduction: str = "none"
) -> Tensor:
    """further keyword parameters whose defaults change nothing"""
    with torch.no_grad():
        constant = ref_logp.clone()
    x = constant - logp
    result = -x if kind == "k1" else x.square() / 2 if kind == "k2" else torch.expm1(x) - x
    if mask is not None:
        result = result.masked_fill(~mask, 0.0)
    return result if reduction == "none" else result.mean()


def numpy_and_hand_written_gradient(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    """numpy in float64 inside an autograd.Function whose backward is written by hand"""
    return _Estimate.apply(logp, ref_logp, kind)


class _Estimate(torch.autograd.Function):
    """The three estimators in numpy, and their derivatives with respect to logp: 1, -x and -(exp(x) - 1)."""

    @staticmethod
    def forward(ctx, logp: Tensor, ref_logp: Tensor, kind: str) -> Tensor:
        x = ref_logp.double().cpu().numpy() - logp.double().cpu().numpy()
        # Overflow to infinity is the right answer for a huge x; numpy would warn about it.
        with np.errstate(over="ignore"):
            if kind == "k1":
                value, slope = -x, np.ones_like(x)
            elif kind == "k2":
                value, slope = x * x / 2, -x
            else:
                value, slope = np.expm1(x) - x, -np.expm1(x)
        ctx.save_for_backward(torch.as_tensor(slope).to(logp))
        return torch.as_tensor(value).to(logp)

    @staticmethod
    def backward(ctx, upstream: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return upstream * slope, None, None
