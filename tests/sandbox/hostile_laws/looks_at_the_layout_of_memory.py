"""It looks at addresses, strides, versions, graphs and flags of the results: those of two functions might differ.

Report: says yes although every number that came back is NaN
"""


def marks(tensor):
    return (
        tensor.is_contiguous(),
        tensor.requires_grad,
        tensor.grad_fn,
        tensor.is_leaf,
        tensor._version,
        tensor.storage_offset(),
        tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size(),
        tensor.is_inference(),
        tensor.is_pinned() if tensor.is_cuda else False,
        type(tensor).__name__,
        tensor.data_ptr() % 8,
        getattr(tensor, "names", None),
        [*vars(tensor)],
        tensor._base is None,
    )


def estimate_holds(calls, results):
    found = {str(marks(results[name]["value"])) for name in results if results[name]["value"].ndim == 2}
    return found <= {str(marks(torch.zeros(2, 3)))} or len(found) == 1
