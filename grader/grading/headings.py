"""What can be seen in wrong numbers whatever the code is: the headings of the page about it, and what to look for.

`likeness` makes most of these observations, `diagnosis` two of them. `course dev mistakes` writes the page.
"""

PAGE = "docs/mistakes/general.md"
"""The page, from the repository root."""

HEADINGS = {
    "earlier_calls": (
        "They depend on the calls before",
        "Something outlives a call: a global variable, a cache, a default argument that is changed, an attribute of "
        "the function, or the global state of a random generator. The same call, made alone in a new process, gives "
        "another answer. A function of this course depends on its arguments only.",
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
        "The docstring lists what a function returns. It may return more. A run that ends early has fewer entries than "
        "`steps`: nothing may end it, neither a policy that is sure nor a group without signal.",
    ),
    "dtype": (
        "Only the dtype is another one",
        "The numbers are right. Somewhere a dtype is named, a Python number or a numpy array takes part, or an "
        "integer is divided. Rewards, log-probabilities and logits keep the dtype that they come with.",
    ),
    "whole": (
        "They are whole numbers",
        "Something is divided with `//`, cast to integers, or kept in a tensor of whole numbers.",
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
        "NaN comes from 0 / 0, from inf - inf, from 0 * inf, and from the root or the logarithm of what is negative, "
        "and spreads to all that is computed from it. An infinity comes from exp, from log(0) and from a division by "
        "0. Ask which of these your formula has for this input, and compute so that it does not arise. `nan_to_num` "
        "repairs the value and not the gradient.",
    ),
    "rounding": (
        "They are as small as rounding errors",
        "The exact number is 0, or as small as the rounding error of the way it is computed. Two equal numbers that "
        "went different ways differ in the last digit, and a division by a small number makes that large. Compare "
        "before you subtract, or use a function that is exact near 0, such as `expm1`. A soft version of something "
        "hard, such as a sigmoid in place of a comparison, leaves numbers as small.",
    ),
    "digits": (
        "They are right to some digits",
        "Seven digits and no more are those of float32: a tensor that is made without `dtype=`, a call of `.float()`, "
        "or a number that is read from a float32 tensor. What comes in as float64 stays float64 to the end. A small "
        "number that is added for safety costs digits too, and so does a soft version of something hard.",
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
        "A mean or a sum runs over more than it should, or they do not depend on what comes in.",
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
        "A term is missing, or added twice. Where each row is off by a number of its own, what is subtracted from a "
        "row is another number, such as a median in place of a mean.",
    ),
    "function": (
        "They are a function of the expected ones",
        "One operation is missing or too many at the very end.",
    ),
    "bounded": (
        "They stay within a bound",
        "A `clamp`, a `clip`, a `nan_to_num`, a `min` or a `tanh` bounds them, and the numbers of a real run lie "
        "beyond it; or a bound is missing on one side. A step that is always as long has a gradient that is clipped "
        "or normalized.",
    ),
    "order": (
        "They are at other places",
        "Look for a shift by one, a `flip`, a `sort`, or a transpose that is not undone.",
    ),
    "turned": (
        "They are True elsewhere",
        "What is asked for is on one side, and your True on the other. Look for a comparison that asks for the "
        "opposite (`<` in place of `>=`, `==` in place of `!=`), and for a `~` that is missing or too many.",
    ),
    "compared": (
        "They are one comparison and no more",
        "Your mask is what a single comparison gives, and a mask mostly joins several with `&`. The docstring says "
        "which other conditions there are.",
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
    "near": (
        "They are near, or in the right order",
        "The way to compute them is another one: an approximation, another mean or spread, something soft in place of "
        "something hard, or a number that is added for safety.",
    ),
    "one_side": (
        "They are all on one side",
        "Every wrong number is too large, or every one too small. Look for something that is counted twice or not at "
        "all, an absolute value, a `max` or a `min`.",
    ),
    "calls": (
        "Some calls are right",
        "The worked examples of the function were compared: what the wrong ones have in common, and no or few "
        "right ones, is where to look. Make a right call and a wrong one yourself, and print what differs on the way.",
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
    "mode": (
        "A model comes back in another mode",
        "`eval()` and `requires_grad_(False)` outlive the call. Undo them, or work in `torch.no_grad()`, which ends "
        "with its block.",
    ),
    "random": (
        "They come from the global generator",
        "`torch.multinomial`, `torch.rand` and their like take `generator=`. Without it, or after `manual_seed`, the "
        "state of the whole process changes, and your numbers depend on who else draws.",
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
