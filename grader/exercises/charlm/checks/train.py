"""Checks of `train`."""

import contextlib
import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Record
from grader.grading.check import check
from grader.grading.compare import Mismatch, entries, mode_kept, no_global_randomness, number, parameters, require
from grader.oracles import charlm_oracle as oracle
from grader.oracles.pretrained import pretrained_weights
from grader.oracles.recorded import NoRecord, records
from grader.oracles.simulation import log_softmax

from . import METRICS, NEAR, REF_TABLE, TABLE, bigram, config, require_reference, require_table, settings, table_after

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
    message = "reward_fn must be called once for each step, with its whole batch"
    require(len(seen) == steps, answer, rows, message, shows=_SEEN)
    size = chosen.group_size * chosen.prompts_per_step
    for prompts, texts in seen:
        rows = [("prompts, completions", f"{len(prompts)}, {len(texts)}"), ("expected", f"{size} of each")]
        message = "reward_fn must get all completions of the step"
        require(len(prompts) == len(texts) == size, answer, rows, message, shows=_SEEN)
        groups = [prompts[start : start + chosen.group_size] for start in range(0, size, chosen.group_size)]
        allowed = {prompt} if isinstance(prompt, str) else set(prompt)
        good = all(len(set(group)) == 1 and group[0] in allowed for group in groups)
        rows = [("prompts, yours", ", ".join(prompts)), ("expected", f"each {chosen.group_size} times in a row")]
        require(good, answer, rows, "the rows of a group must have one prompt", shows=_SEEN)
        asked = [group[0] for group in groups]
        least, most = len(groups) // len(allowed), -(-len(groups) // len(allowed))
        even = all(least <= asked.count(each) <= most for each in allowed)
        rows = [("prompts of the groups", ", ".join(asked)), ("expected", "each equally often")]
        message = "the groups of a step must have all of the prompts, each equally often"
        require(even, answer, rows, message, shows=_SEEN)
        written = all(0 < len(text) <= chosen.max_new_tokens for text in texts)
        ends = all(text.find(chosen.alphabet[0]) in (-1, len(text) - 1) for text in texts)
        ends = ends and set("".join(texts)) <= set(chosen.alphabet)
        rows = [("completions, yours", " ".join(map(repr, texts))), ("expected", "letters, then one end or none")]
        message = "reward_fn must get the completions as they were drawn, without prompts"
        require(written and ends, answer, rows, message, shows=_SEEN)
    return seen


def _require_run(answer):
    """Require the rows and the final policy that numpy computes from the completions. Returns the replay."""
    asked = answer.call.arguments
    table, ref_table = (asked[name].fields["table"] for name in ("policy", "ref_policy"))
    chosen = settings(asked["config"])
    expected = oracle.replay(table, ref_table, _batches(answer), chosen, **asked["reward_fn"].fields)
    mode_kept(answer, "policy")
    table_after(answer)  # check that it is finite before checking its metrics
    rows = _rows(answer, chosen.steps, ROWS)
    for step, (row, wanted_row) in enumerate(zip(rows, expected.rows, strict=True)):
        for name in ROWS:
            message = f"{name} of step {step + 1} is not what the completions, rewards and settings of this step give"
            # Rounding of the group's mean decides whether the clip binds for a reward at that mean.
            slack = 1e-6 + (wanted_row["doubtful"] if name == "clip_fraction" else 0.0)
            number(row[name], wanted_row[name], what=f"history[{step}][{name!r}]", why=message, atol=slack)
    message = "the trained policy does not follow from its own completions: is every update made with its own batch?"
    require_table(answer, expected.tables[-1], why=message, rtol=1e-5, atol=NEAR)
    require_reference(answer, ref_table)
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
    require_table(answer, TABLE, why="a run without signal moved", rtol=1e-7, atol=NEAR)
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

    Three seeds are tested together, with a threshold at 5 standard deviations: correct runs fail less than once in
    100,000. Of 40 correct sets of runs, the farthest reached 2.0; samples at a temperature of 0.9 reach 11 on average.
    """
    seeds = [int(seed) for seed in fresh.integers(1 << 31, size=3)]
    adam = {"optimizer": "adam", "lr": 0.1, "kl_coef": 0.5}
    wanted = config(**{**RUN, **adam, "steps": 20, "group_size": 32})
    surprise = spread = 0.0
    for seed in seeds:
        answer = _run(student, TABLE, REF_TABLE, "a", wanted, seed=seed)
        tables = _require_run(answer).tables[:-1]
        for table, (prompts, texts) in zip(tables, _batches(answer), strict=True):
            tokens = oracle.encode(prompts, texts, ALPHABET)
            mask = oracle.completion_mask(tokens, 1, oracle.EOS_ID)
            logp = log_softmax(table)
            entropy = -(np.exp(logp) * logp).sum(axis=-1)
            variance = (np.exp(logp) * logp**2).sum(axis=-1) - entropy**2
            before = tokens[:, :-1][mask]
            surprise += (-oracle.bigram_logp(table, tokens)[mask] - entropy[before]).sum()
            spread += variance[before].sum()
    z = surprise / math.sqrt(spread)
    label = "surprise at the tokens drawn with three seeds, in standard deviations"
    rows = [(label, f"{z:.1f}"), ("must be", "between -5 and 5")]
    message = "the completions were not drawn from the policy of their own step"
    require(abs(z) < 5, answer, rows, message, shows="reward_fn.seen[-3:]")
    still = config(**{**RUN, "steps": 6, "group_size": 16, "lr": 0.0})
    answer = _run(student, TABLE, REF_TABLE, ["a", "b"], still, seed=seeds[0])
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
        found.append((_batches(answer), table_after(answer).tobytes()))
    rows = [("first time", " ".join(found[0][0][0][1][:8])), ("again", " ".join(found[1][0][0][1][:8]))]
    message = "the same generator gave another run"
    require(found[0] == found[1], answers[1], rows, message, shows=_SEEN, beside=answers[:1])
    rows = [("with one seed", " ".join(found[0][0][0][1][:8])), ("with another", " ".join(found[2][0][0][1][:8]))]
    different = found[0][0] != found[2][0]
    require(different, answer, rows, "two seeds gave the same completions", shows=_SEEN, beside=answers[:1])
    answer = _run(student, TABLE, REF_TABLE, "a", config(**{**RUN, "lr": 0.0}), seed=one, repeat=2, training=False)
    mode_kept(answer, "policy")
    batches = _batches(answer)
    rows = [("first run", " ".join(batches[0][1][:8])), ("second run", " ".join(batches[3][1][:8]))]
    message = "a second run with the same generator drew the same completions: it must go on where the first one ended"
    require(batches[:3] != batches[3:], answer, rows, message, shows=_SEEN)


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
    the highest KL was 0.65; extrapolated from there, one correct run in 100,000 misses 0.9. A third run is rewarded for
    a text that is never sampled, and learns nothing.
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
        message = "the policy does not learn to like pizza, or forgets how to write"
        require(good, answer, rows, message, shows="value[-1]")
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
    message = "the policy learns what it never wrote: it must learn from its own completions and their rewards only"
    shows = "(policy.head.weight - load_model().head.weight).abs().max()"
    require(moved < 1e-5, answer, rows, message, shows=shows)


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
