"""The language model's given code, its model answers and its oracle, against facts that do not know their formulas."""

import itertools
import json
import math
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
import torch
from safetensors import safe_open

from grader.core import course
from grader.exercises.charlm.checks import train as checks
from grader.oracles import charlm_oracle as oracle
from grader.oracles.pretrained import pretrained_weights
from reference import charlm
from reference.given import charlm_model, charlm_task
from reference.given.charlm_model import BigramLM, TinyLM, TinyLMConfig, load_model
from reference.given.charlm_sampling import addition_accuracy, completion_logp, make_generator, sample
from reference.given.charlm_task import (
    ADDITION_PROMPTS,
    FOODS,
    PIZZA_PROMPT,
    CharTokenizer,
    LetterReward,
    food_probabilities,
)
from reference.given.charlm_training import (
    CharLMConfig,
    TrainingState,
    load_checkpoint,
    make_optimizer,
    sample_completions,
)

TABLE = torch.tensor([[0.5, 0.0, -0.5], [0.5, 0.0, 1.0], [-1.0, 0.25, 0.0]], dtype=torch.float64)


# The models


def test_the_shipped_model_is_small_says_how_it_was_made_and_likes_pizza_as_the_corpus_does():
    assert charlm_model.WEIGHTS.stat().st_size < 1_000_000
    with safe_open(charlm_model.WEIGHTS, "pt") as file:
        made_by = json.loads(file.metadata()["about"])["made_by"]
    assert made_by.startswith("pretrain_charlm --size tiny --steps 1500 --batch 192 --seed 0")
    model = load_model()
    assert sum(each.numel() for each in model.parameters()) == 29_352
    found = completion_logp(model, PIZZA_PROMPT, [f"{food}." for food in FOODS]).exp()
    corpus = torch.tensor(list(food_probabilities("ravin").values()))
    assert (found - corpus).abs().max() < 0.02
    assert found.sum() > 0.97
    assert 0.2 < addition_accuracy(model) < 0.4


def test_the_small_gpt_is_that_of_numpy_and_looks_at_nothing_later():
    torch.manual_seed(0)
    model = TinyLM(TinyLMConfig(vocabulary=7, context=9, width=12, layers=2, heads=3)).double()
    tokens = torch.randint(0, 7, (5, 9))
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    expected = oracle.tiny_lm_logits(weights, tokens.numpy(), heads=3)
    assert np.abs(model(tokens).detach().numpy() - expected).max() < 1e-10
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 7
    assert torch.allclose(model(tokens)[:, :5], model(changed)[:, :5])
    with pytest.raises(ValueError, match="the context holds 9 tokens"):
        model(torch.zeros(1, 10, dtype=torch.int64))


def test_rows_that_are_equal_are_computed_once_and_learned_from_each_time():
    torch.manual_seed(0)
    model = TinyLM(TinyLMConfig(vocabulary=5, context=4, width=8, layers=1, heads=2)).double()
    tokens = torch.tensor([[1, 2, 3], [4, 0, 1], [1, 2, 3], [1, 2, 3]])
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    together, alone = model(tokens), torch.cat([model(row[None]) for row in tokens])
    assert torch.allclose(together, alone)
    for parameter in model.parameters():
        both = [
            torch.autograd.grad((weights[:, None, None] * logits).square().sum(), parameter, retain_graph=True)[0]
            for logits in (together, alone)
        ]
        assert torch.allclose(both[0], both[1])


def test_a_model_with_a_cache_says_what_it_says_without():
    torch.manual_seed(0)
    model = TinyLM(TinyLMConfig(vocabulary=7, context=9, width=12, layers=2, heads=3)).double()
    tokens = torch.randint(0, 7, (4, 9))
    whole, cache = model(tokens), charlm_model.Cache()
    parts = [model(tokens[:, :3], cache)]
    cache.take_rows(torch.tensor([3, 1, 1]))
    parts += [model(tokens[[3, 1, 1], place : place + 1], cache) for place in range(3, 9)]
    assert torch.allclose(parts[0], whole[:, :3])
    assert torch.allclose(torch.cat(parts[1:], dim=1), whole[[3, 1, 1], 3:])
    with pytest.raises(ValueError, match="the context holds 9 tokens, got 10"):
        model(tokens[[3, 1, 1], :1], cache)


def test_grading_refuses_other_weights_than_those_of_the_course(tmp_path, monkeypatch):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "charlm.safetensors").write_bytes(b"trained already")
    monkeypatch.setattr(course, "STARTER", tmp_path)
    with pytest.raises(ValueError, match="is not the file that came with the course"):
        pretrained_weights.__wrapped__()


# Sampling


def test_samples_come_as_often_as_their_probability_says():
    policy, count = BigramLM(TABLE), 40_000
    found = sample(policy, ["a"] * count, max_new_tokens=3, generator=make_generator(0), alphabet=".ab")
    texts = ["".join(body) + "." for length in range(3) for body in itertools.product("ab", repeat=length)]
    texts += ["".join(body) for body in itertools.product("ab", repeat=3)]
    expected = completion_logp(policy, "a", texts, alphabet=".ab").exp().numpy()
    counts = Counter(found.texts)
    assert set(counts) <= set(texts)
    observed = np.array([counts[text] for text in texts])
    chi_square = ((observed - count * expected) ** 2 / (count * expected)).sum()
    degrees = len(texts) - 1
    assert abs(chi_square - degrees) < 6 * math.sqrt(2 * degrees)


def test_a_batch_says_the_same_in_text_and_in_tokens():
    prompts = ["ab"] * 30
    found = sample(BigramLM(TABLE), prompts, max_new_tokens=5, generator=make_generator(3), alphabet=".ab")
    tokens = oracle.encode(prompts, found.texts, ".ab")
    assert found.tokens.tolist() == tokens.tolist()
    assert found.prompt_length == 2
    mask = oracle.completion_mask(tokens, 2, 0)
    logp = np.log(np.exp(TABLE.numpy()) / np.exp(TABLE.numpy()).sum(axis=1, keepdims=True))
    entropy = -(np.exp(logp) * logp).sum(axis=1)[tokens[:, :-1][mask]].mean()
    assert found.entropy.item() == pytest.approx(entropy)


def test_a_step_draws_its_prompts_without_repeating_them_while_there_are_enough():
    config = CharLMConfig(group_size=3, prompts_per_step=40, max_new_tokens=2)
    found = sample_completions(load_model(), ADDITION_PROMPTS, config, make_generator(0)).prompts
    groups = [found[start : start + 3] for start in range(0, 120, 3)]
    assert all(len(set(group)) == 1 for group in groups)
    assert len({group[0] for group in groups}) == 40
    config = CharLMConfig(group_size=1, prompts_per_step=5, max_new_tokens=2)
    found = sample_completions(load_model(), ["1+1=", "2+2="], config, make_generator(0)).prompts
    assert sorted(Counter(found).values()) == [2, 3]


# Training


def test_the_oracle_has_the_settings_of_the_given_code():
    assert asdict(oracle.Settings()) == asdict(CharLMConfig())
    assert oracle.EOS_ID == charlm_task.EOS_ID
    assert checks.FOODS == FOODS


def test_the_learning_rate_falls_evenly_to_its_last_value():
    policy, config = BigramLM(TABLE), CharLMConfig(steps=5, lr=1.0, final_lr=0.2, alphabet=".ab", max_new_tokens=2)
    state = TrainingState(make_optimizer(policy, config), config)
    seen = []
    state.after_step = lambda: seen.append(state.optimizer.param_groups[0]["lr"])
    first = state.optimizer.param_groups[0]["lr"]
    charlm.train(policy, BigramLM(TABLE), "a", LetterReward("b"), config, generator=make_generator(0), state=state)
    assert [first, *seen[:-1]] == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2])


def test_a_row_of_metrics_describes_its_samples():
    policy = load_model()
    config, reward = CharLMConfig(steps=12, group_size=4, prompts_per_step=2), LetterReward("e")
    history = charlm.train(policy, load_model(), PIZZA_PROMPT, reward, config, generator=make_generator(0))
    rewards = [[text.count("e") for text in texts] for _, texts in reward.seen]
    for step, row in enumerate(history):
        groups = np.array(rewards[step]).reshape(2, 4)
        texts = reward.seen[step][1]
        assert row["step"] == step + 1
        assert row["mean_reward"] == pytest.approx(groups.mean())
        assert row["rolling_mean_reward"] == pytest.approx(np.mean(rewards[max(0, step - 9) : step + 1]))
        assert row["zero_signal_fraction"] == np.mean([len(set(group)) == 1 for group in groups.tolist()])
        assert row["completion_length"] == pytest.approx(np.mean([len(text) for text in texts]))
        assert row["well_formed"] == np.mean([text.rstrip(".") in FOODS and text.endswith(".") for text in texts])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CharLMConfig(group_size=0), "group_size"),
        (lambda: CharLMConfig(lr=-1.0), "lr"),
        (lambda: CharLMConfig(kl_coef=math.nan), "kl_coef"),
        (lambda: CharLMConfig(loss_level="word"), "loss_level"),
        (lambda: CharLMConfig(optimizer="lion"), "optimizer"),
        (lambda: CharTokenizer().encode("Ravin"), "alphabet"),
        (lambda: sample(BigramLM(TABLE), ["a", "ab"], max_new_tokens=2, generator=make_generator(0)), "equally many"),
    ],
)
def test_calls_that_make_no_sense_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_checkpoint_that_is_none_is_refused(tmp_path):
    (tmp_path / "text.pt").write_text("no checkpoint")
    with pytest.raises(ValueError, match="is not a checkpoint of this policy"):
        load_checkpoint(tmp_path / "text.pt", load_model(), make_generator(0))
    with pytest.raises(FileNotFoundError):
        load_checkpoint(tmp_path / "none.pt", load_model(), make_generator(0))
    with pytest.raises(FileNotFoundError, match="no weights in"):
        load_model(tmp_path / "none.safetensors")
