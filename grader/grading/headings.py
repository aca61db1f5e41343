"""What can be seen in wrong numbers whatever the code is: the headings of the page about it, and what to look for.

`likeness` makes most of these observations, `diagnosis` two of them. `course dev mistakes` writes the page.
"""

PAGE = "docs/mistakes/general.md"
"""The page, from the repository root."""

HEADINGS = {
    "earlier_calls": (
        "They depend on the calls before",
        "The same call, made alone in a new process, gives another answer. Something outlives a call: a global "
        "variable, a cache, a default argument that is changed, an attribute of the function, or the global state "
        "of a random generator. A function of this course depends on its arguments only.",
    ),
    "another_call": (
        "They are the right answer to another call",
        "The model answer gives your numbers when one thing in the call is another one. So the code is right, and "
        "looks past an argument or an option, takes it for another one, or does not pass it on.",
    ),
    "exception": (
        "They are never computed",
        "Your code, or torch on its behalf, raises an exception. The report shows the line, and says what this "
        "exception means in this course.",
    ),
    "kind": (
        "They are no tensor",
        "Most functions return a torch tensor, and the docstring says of which shape. `.item()` and `.tolist()` "
        "make Python numbers, `.numpy()` makes an array, and a path without `return` makes None.",
    ),
    "missing": (
        "Some of them are missing",
        "The docstring lists what a function returns. It may return more.",
    ),
    "dtype": (
        "Only the dtype is another one",
        "The numbers are right. Somewhere a dtype is named, a Python number or a numpy array takes part, or an "
        "integer is divided. Rewards, log-probabilities and logits keep the dtype that they come with.",
    ),
    "shape": (
        "Only the shape is another one",
        "The numbers are right. Look for a `squeeze`, an `unsqueeze`, a `flatten` or a `keepdim` too many.",
    ),
    "reduced": (
        "They are reduced too far",
        "Look for a `mean` or a `sum` that is not asked for, or that lacks its `dim`.",
    ),
    "not_reduced": (
        "They are not reduced",
        "One number is asked for. Is the last `mean` or `sum` missing?",
    ),
    "not_finite": (
        "They are not finite",
        "NaN comes from 0 / 0, from inf - inf and from 0 * inf, and spreads to all that is computed from it. Ask "
        "which of these your formula has for this input, and compute so that it does not arise. `nan_to_num` "
        "repairs the value and not the gradient.",
    ),
    "rounding": (
        "They are rounding errors",
        "The exact number is 0, or smaller than the rounding error of the way it is computed. Two equal numbers "
        "that went different ways differ in the last digit, and a division by a small number makes that large. "
        "Compare before you subtract, or use a function that is exact near 0, such as `expm1`.",
    ),
    "unmoved": (
        "They are an argument as it came in",
        "Nothing was added to it. Is the step computed and not applied, or applied to a copy? Is its gradient 0?",
    ),
    "zero": (
        "They are 0",
        "Something is multiplied by 0, or two equal numbers are subtracted.",
    ),
    "constant": (
        "They are all the same",
        "A mean or a sum runs over more than it should.",
    ),
    "sign": (
        "The sign is the opposite one",
        "An objective is maximized and a loss is minimized: one of them is minus the other. A difference has its "
        "sign from its order.",
    ),
    "scaled": (
        "They are the expected ones times a number",
        "The formula is right up to a factor. Look for a sum in place of a mean, a mean over more or fewer "
        "positions, a factor that is applied twice or not at all, and for a product of which one side is "
        "detached.",
    ),
    "shifted": (
        "They are off by a constant",
        "A term is missing, or added twice.",
    ),
    "function": (
        "They are a function of the expected ones",
        "One operation is missing or too many at the very end.",
    ),
    "bounded": (
        "They are cut off at a bound",
        "A `clamp`, a `clip`, a `nan_to_num` or a `min` bounds them. The numbers of a real run lie beyond it.",
    ),
    "order": (
        "They are at other places",
        "Look for a shift by one, a `flip`, a `sort`, or a transpose that is not undone.",
    ),
    "begins_right": (
        "They begin right",
        "The first steps are right, so one step is. Something is different from the second one on: what is "
        "carried from step to step (a baseline, a reference policy, a momentum), or what happens at a certain "
        "step.",
    ),
    "where": (
        "They are right at other places",
        "What is wrong is wrong in one place only. Ask what the formula says there.",
    ),
    "only": (
        "Some of them are right",
        "Several values are asked for, and these are the wrong ones.",
    ),
    "gradient": (
        "Only their gradient is wrong",
        "The value is right. A gradient is lost by `detach()`, `.item()`, `.data`, numpy, `no_grad()` and by "
        "comparisons; it reaches what should be a constant where a `detach()` is missing.",
    ),
    "graph": (
        "They drag their graph along",
        "The numbers are right. Returned with their graph, they keep every intermediate tensor alive. Detach what "
        "is returned as a number.",
    ),
    "no_graph": (
        "They lost their graph",
        "The numbers are right, and a loss made from them teaches nothing.",
    ),
    "changed": (
        "An argument is changed in place",
        "The numbers are right. `+=`, `x[...] = ` and functions with an underscore at the end change the tensor "
        "of whoever called.",
    ),
    "left": (
        "Something is left on an argument",
        "The numbers are right. `requires_grad_()` and `backward()` leave their marks on the tensor of whoever called: "
        "it requires a gradient from then on, or holds one in `.grad`. Take them of a tensor of your own, such as "
        "`logits.detach().clone().requires_grad_()`.",
    ),
}
"""Name of an observation to its heading on the page, and what to look for."""
