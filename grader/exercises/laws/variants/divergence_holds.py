"""Correct laws for `divergence_holds` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `divergence_holds` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def sentence_by_sentence(calls, results):
    """One generator that yields a bool for each sentence of the docstring."""

    def sentences():
        for name, call in calls.items():
            value, gradients = results[name]["value"], results[name]["gradients"]
            yield value.shape == call["logits"].shape[:-1] and value.dtype == call["logits"].dtype
            yield gradients["logits"] is not None and bool(gradients["logits"].isfinite().all())
            yield gradients["ref_logits"] is None or not gradients["ref_logits"].any()
            yield bool(value.isfinite().all()) and bool((value >= -1e-6).all())
            yield name == "equal" or bool((value > 1e-7).all())
        plain = results["plain"]["value"]
        yield near(results["equal"]["value"], torch.zeros_like(plain))
        yield near(results["equal"]["gradients"]["logits"], torch.zeros_like(calls["plain"]["logits"]))
        yield near(results["moved"]["value"], plain)
        yield near(results["reordered"]["value"], plain)
        yield near(results["one axis"]["value"], plain[0])
        yield near(results["three axes"]["value"][:, 0], plain)
        yield near(results["float32"]["value"].double(), plain, tolerance=1e-3)
        step = calls["a step on"]["logits"] - calls["plain"]["logits"]
        ahead, behind = results["a step on"]["value"], results["a step back"]["value"]
        slope = (results["plain"]["gradients"]["logits"] * step).sum(dim=-1)
        yield near((ahead - behind) / 2e-4, slope / 1e-4)

    return all(sentences())


def by_exceptions(calls, results):
    """Asserts, and one try around them all: an exception is a no."""
    try:
        for name, call in calls.items():
            answer, logits = results[name], call["logits"]
            assert answer["value"].dtype == answer["gradients"]["logits"].dtype == logits.dtype
            assert answer["value"].shape + logits.shape[-1:] == logits.shape
            assert torch.isfinite(answer["value"]).all() and torch.isfinite(answer["gradients"]["logits"]).all()
            assert answer["value"].min() > (-1e-6 if name == "equal" else 1e-7)
            reference = answer["gradients"]["ref_logits"]
            assert reference is None or reference.abs().max() == 0
        values = {name: answer["value"] for name, answer in results.items()}
        for name in ("moved", "reordered", "three axes"):
            torch.testing.assert_close(values[name].flatten(), values["plain"], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(values["one axis"], values["plain"][0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(values["equal"], torch.zeros(3).double(), rtol=0, atol=1e-6)
        torch.testing.assert_close(
            results["equal"]["gradients"]["logits"], torch.zeros(3, 5).double(), rtol=0, atol=1e-5
        )
        step = calls["a step on"]["logits"] - calls["a step back"]["logits"]
        found = torch.einsum("rk,rk->r", results["plain"]["gradients"]["logits"], step)
        torch.testing.assert_close(values["a step on"] - values["a step back"], found, rtol=1e-4, atol=1e-10)
    except (AssertionError, AttributeError):
        return False
    return True


def gradient_of_the_rows_adds_up_to_zero(calls, results):
    """Says that a constant changes nothing by the gradient, too: over the actions it adds up to 0."""
    plain = results["plain"]
    for name, call in calls.items():
        value, gradient = results[name]["value"], results[name]["gradients"]["logits"]
        if gradient is None or gradient.shape != call["logits"].shape or value.dtype != call["logits"].dtype:
            return False
        if value.shape != gradient.shape[:-1] or not near(gradient.sum(dim=-1), 0 * value, tolerance=1e-3):
            return False
        at_least = -1e-6 if name == "equal" else 1e-7
        if not bool((value > at_least).all()) or not bool(value.isfinite().all()):
            return False
        if _reaches(results[name]["gradients"]["ref_logits"]):
            return False
    alike = [results[name]["value"].flatten()[:3] for name in ("moved", "reordered", "three axes")]
    if not all(near(each, plain["value"]) for each in alike) or not near(results["one axis"]["value"], alike[0][0]):
        return False
    if results["equal"]["value"].abs().max() > 1e-6 or results["equal"]["gradients"]["logits"].abs().max() > 1e-6:
        return False
    step = calls["a step on"]["logits"] - calls["plain"]["logits"]
    moved = results["a step on"]["value"] - results["a step back"]["value"]
    return near(moved / 2e-4, (plain["gradients"]["logits"] * step).sum(dim=-1) / 1e-4)


def _reaches(gradient):
    return gradient is not None and bool((gradient != 0).any())


def numpy_at_the_end(calls, results):
    """Collects everything in numpy, and compares there."""
    import numpy as np

    kinds = {name: (call["logits"].shape[:-1], call["logits"].dtype) for name, call in calls.items()}
    if any((results[name]["value"].shape, results[name]["value"].dtype) != kind for name, kind in kinds.items()):
        return False
    if any(
        each["gradients"]["logits"] is None or _reaches(each["gradients"]["ref_logits"]) for each in results.values()
    ):
        return False
    value = {name: each["value"].numpy() for name, each in results.items()}
    slope = {name: each["gradients"]["logits"].numpy() for name, each in results.items()}
    everything = np.concatenate([each.ravel() for each in (*value.values(), *slope.values())])
    if not np.isfinite(everything).all() or np.abs(slope["equal"]).max() > 1e-6 or np.abs(value["equal"]).max() > 1e-6:
        return False
    if min(each.min() for name, each in value.items() if name != "equal") < 1e-7:
        return False
    same = [value["moved"], value["reordered"], value["three axes"][:, 0]]
    step = (calls["a step on"]["logits"] - calls["a step back"]["logits"]).numpy()
    moved = value["a step on"] - value["a step back"]
    return bool(
        all(np.allclose(each, value["plain"], rtol=1e-5, atol=1e-6) for each in same)
        and np.allclose(value["one axis"], value["plain"][0], rtol=1e-5)
        and np.allclose(moved, (slope["plain"] * step).sum(-1), rtol=1e-4, atol=1e-10)
    )
