"""Wrong answers to `train`, one per mistake."""

import copy
from collections.abc import Sequence

import torch
from torch import nn


def samples_from_the_reference():
    """you draw the completions from ref_policy; draw each batch from the current policy

    The reference never changes, so the mean reward never rises, however much the policy learns. And the old
    log-probabilities belong to a policy that drew nothing.
    """
    """
    - completions: Completions = sample_completions(policy, prompt, config, generator)
    + completions: Completions = sample_completions(ref_policy, prompt, config, generator)
    """


def draws_one_batch_for_the_whole_run():
    """you draw one batch before the loop and learn from it in every step; draw a new batch in each step

    The policy becomes certain of the best among these few completions, and never sees what else it could write. A
    good completion that this batch lacks is never found.
    """
    """
    + completions: Completions = sample_completions(policy, prompt, config, generator)
      for _ in range(state.steps_left):
    -     completions: Completions = sample_completions(policy, prompt, config, generator)
    """


def draws_anew_for_every_update(
    policy: nn.Module,
    ref_policy: nn.Module,
    prompt: str | Sequence[str],
    reward_fn: RewardFunction,
    config: CharLMConfig,
    *,
    generator: torch.Generator,
    state: TrainingState | None = None,
) -> list[dict[str, float]]:
    """you draw a new batch for every update of a step; make all inner_steps updates with the same batch

    Sampling takes most of the time, which inner updates save. With a new batch for each, the ratio is 1
    in every update and the clip never binds.
    """
    state = state or TrainingState(make_optimizer(policy, config), config)
    for _ in range(state.steps_left):
        for _ in range(config.inner_steps):
            completions = sample_completions(policy, prompt, config, generator)
            tokens = completions.tokens
            rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device)
            advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
            with torch.no_grad():
                old_logp = token_logp(policy, tokens)
            rollout = Rollout(
                tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
            )
            metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
        state.record(completions, rewards, advantages, metrics)
    return state.history


def uses_a_generator_of_its_own():
    """you draw with your own generator, seeded with 0; draw with the generator that is passed in

    All runs are then the same run, whatever their seed, and the small spread over seeds proves nothing.
    """
    """
    + generator = torch.Generator().manual_seed(0)
      for _ in range(state.steps_left):
    """


def seeds_the_generator_in_every_step():
    """you reset the generator to its seed in every step; let it continue, so that each step draws new numbers

    Every batch uses the same random numbers, and batches differ only because the policy has moved. The policy never
    tries what these numbers miss.
    """
    """
      for _ in range(state.steps_left):
    +     generator.manual_seed(generator.initial_seed())
    """


def asks_the_first_prompt_only():
    """you draw all completions from the first of several prompts; `sample_completions` takes them all and draws

    The run goes well, and its curves look right: the policy improves on the only prompt that it ever sees. On the
    others it stays the same or gets worse.
    """
    """
    - completions: Completions = sample_completions(policy, prompt, config, generator)
    + first = prompt if isinstance(prompt, str) else prompt[0]
    + completions: Completions = sample_completions(policy, first, config, generator)
    """


def scores_the_prompt_too():
    """you give reward_fn prompt and completion as one text; it gets the prompts and the completions, one list of each

    The prompt then earns rewards, and a rule about the whole completion never matches. Within a group the
    prompt is the same, so the advantages may hide it.
    """
    """
    - rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device)
    + texts = [before + after for before, after in zip(completions.prompts, completions.texts, strict=True)]
    + rewards = reward_fn(completions.prompts, texts).to(tokens.device)
    """


def swaps_prompts_and_completions():
    """you call reward_fn with the completions first; the prompts come first

    Both are lists of strings, so nothing complains. The prompts of a group are equal, so all of its rewards are,
    and there is nothing to learn from.
    """
    """
    - rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device)
    + rewards = reward_fn(completions.texts, completions.prompts).to(tokens.device)
    """


def clips_the_rewards():
    """you clip the rewards to at most 1; they are used as reward_fn returns them

    To the policy, rewards of 1 and 4 are then the same. The advantages are measured in units of
    their group's spread anyway, so large rewards do no harm.
    """
    """
    - rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device)
    + rewards = reward_fn(completions.prompts, completions.texts).to(tokens.device).clamp(max=1.0)
    """


def learns_from_the_rewards():
    """you use the rewards as advantages; compare each with its group first

    Nonnegative rewards push nothing down: every completion that was drawn becomes more probable, including the bad
    ones, and equal rewards move the policy.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + advantages = rewards
    """


def compares_over_the_whole_batch():
    """you compute the advantages over the whole batch; compare a completion only with others of its own prompt

    The completions of an easy prompt then look good and those of a hard one bad, whatever they say. The policy learns
    which prompts are easy, which is not the task.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + advantages = group_advantages(rewards[None]).squeeze(0)
    """


def makes_groups_of_the_wrong_size():
    """you reshape to (group_size, -1), not (-1, group_size), so a group has as many completions as there are prompts

    With one prompt per step, all groups are groups of one, and the policy learns nothing. With more, groups mix
    completions of different prompts. It is right only by luck, with as many prompts as completions per prompt.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + advantages = group_advantages(rewards.reshape(config.group_size, -1)).flatten()
    """


def takes_every_pth_row_as_a_group():
    """you take every P-th row as a group; the G completions of a prompt are consecutive rows

    Each group then has one or two completions of every prompt, and differences between prompts look like merit. The
    shapes are right, so there is no error.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + groups = rewards.reshape(config.group_size, -1).T
    + advantages = group_advantages(groups).T.flatten()
    """


def hands_the_advantages_to_other_rows():
    """you transpose the groups before you flatten them, so the advantages go to the wrong completions

    The groups and their advantages are right, but they are assigned to other rows of the batch. They push the policy
    towards random completions, although their mean is still 0.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + advantages = group_advantages(rewards.reshape(-1, config.group_size)).T.flatten()
    """


def turns_the_advantages_round():
    """you subtract the rewards from the mean of their group; a good completion has a positive advantage

    The policy learns to avoid what is rewarded, and the mean reward falls. The loss looks like that of a good run,
    because it says how far the policy follows the advantages it gets.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + advantages = -group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    """


def puts_the_kl_into_the_rewards():
    """you subtract the KL from the rewards, as PPO does; GRPO has it in the loss, where it is already

    The penalty then counts twice, the second time in a unit that changes with the spread of each group. Completions of
    equal reward get different advantages because of their distance from the reference.
    """
    """
    - advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
      with torch.no_grad():
          old_logp = token_logp(policy, tokens)
    +     log_ratio = old_logp - token_logp(ref_policy, tokens)
    + mask = completion_mask(tokens, completions.prompt_length, EOS_ID)
    + penalised = rewards - config.kl_coef * torch.where(mask, log_ratio, 0.0).sum(dim=-1)
    + advantages = group_advantages(penalised.reshape(-1, config.group_size)).flatten()
    """


def takes_old_logp_from_the_reference():
    """you compute old_logp with ref_policy; it belongs to the policy that drew the batch

    The ratio then says how far the policy is from the reference, and the clip holds it there: once a token has left the
    band, it stops moving. The reference is only for the KL.
    """
    """
    - old_logp = token_logp(policy, tokens)
    + old_logp = token_logp(ref_policy, tokens)
    """


def renews_old_logp_for_every_update():
    """you compute old_logp again for every update with a batch; keep the values of the policy that drew the batch

    All ratios are then 1 and the clip never binds, so nothing stops the updates from going too far with one batch. With
    inner_steps = 1 it makes no difference, so the mistake is hard to see.
    """
    """
    - with torch.no_grad():
    -     old_logp = token_logp(policy, tokens)
    - rollout = Rollout(
    -     tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
    - )
      for _ in range(config.inner_steps):
    +     with torch.no_grad():
    +         old_logp = token_logp(policy, tokens)
    +     rollout = Rollout(
    +         tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
    +     )
    """


def takes_the_number_of_prompts_for_their_length():
    """you use len(prompt) as prompt_length; for a list of prompts, that is their number

    With one text as prompt it is right. With several, the mask starts at an unrelated place,
    and cuts completions or trains on the prompt. The length is in `completions`.
    """
    """
    - rollout = Rollout(
    -     tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
    - )
    + rollout = Rollout(tokens=tokens, prompt_length=len(prompt), old_logp=old_logp, advantages=advantages)
    """


def leaves_out_groups_without_signal():
    """you leave groups without signal out of the batch, as DAPO does; here they stay in it, with advantages of 0

    The mean is then over fewer completions, so the others weigh more: if one of four groups is left, its step is four
    times as large. And the KL no longer holds the groups that were left out.
    """
    """
    + keep = advantages != 0
    + keep = keep if keep.any() else torch.ones_like(keep)
      rollout = Rollout(
    -     tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
    +     tokens=tokens[keep],
    +     prompt_length=completions.prompt_length,
    +     old_logp=old_logp[keep],
    +     advantages=advantages[keep],
    """


def makes_one_update_per_batch():
    """you make one update with each batch; config.inner_steps says how many

    With inner_steps = 1 it is right. With more, the run learns more slowly than requested, and the clip, which is for
    the later updates, never binds.
    """
    """
    - for _ in range(config.inner_steps):
    -     metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    """


def splits_the_batch_over_the_updates():
    """you give each update its own part of the batch, as PPO's minibatches do; here every update uses the whole batch

    Each update then sees few completions, and seldom a whole group, so the pushes up and down of a group no longer
    balance. The steps are noisier and the clip binds less.
    """
    """
    - rollout = Rollout(
    -     tokens=tokens, prompt_length=completions.prompt_length, old_logp=old_logp, advantages=advantages
    - )
    - for _ in range(config.inner_steps):
    + for part in torch.arange(len(tokens), device=tokens.device).tensor_split(config.inner_steps):
    +     rollout = Rollout(
    +         tokens=tokens[part],
    +         prompt_length=completions.prompt_length,
    +         old_logp=old_logp[part],
    +         advantages=advantages[part],
    +     )
    """


def trains_a_copy():
    """you train a copy of the policy; train the policy that is passed in

    The history shows a good run, but the policy is unchanged afterwards. Copies are for models that must stay the same,
    such as a reference.
    """
    """
    + policy = copy.deepcopy(policy)
      state = state or TrainingState(make_optimizer(policy, config), config)
    """


def swaps_policy_and_reference():
    """you swap policy and ref_policy in the call of `train_step`, so the policy is never updated

    The gradient ends up in the reference, and the optimizer, which has the parameters of the policy, finds no gradient.
    All curves are flat.
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(ref_policy, policy, state.optimizer, rollout, config)
    """


def moves_the_reference_along():
    """you use the policy of the step before as the reference; use ref_policy for the whole run

    The KL then only slows down the steps and never pulls back: a run can move any distance in many small steps. The
    curve of the KL stays near 0 and looks harmless.
    """
    """
      for _ in range(state.steps_left):
    +     ref_policy = copy.deepcopy(policy)
    """


def takes_the_policy_of_the_start_as_the_reference():
    """you use a copy of the initial policy as the reference; ref_policy is the reference

    Often they are the same. But if you continue to train a policy and pass the original as the reference, nothing pulls
    the policy back to it.
    """
    """
    + ref_policy = copy.deepcopy(policy)
      state = state or TrainingState(make_optimizer(policy, config), config)
    """


def keeps_an_optimizer_of_its_own():
    """you make your own optimizer instead of using the one in the state, so the learning rate never falls

    The state sets the learning rate of its own optimizer after each step. Yours keeps its initial learning rate, and
    the last steps of the run are as noisy as the first.
    """
    """
    + optimizer = make_optimizer(policy, config)
      for _ in range(state.steps_left):
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, optimizer, rollout, config)
    """


def makes_a_new_optimizer_in_every_step():
    """you make a new optimizer in every step; use one for the whole run, which remembers earlier gradients

    Adam scales a step by the gradients it has seen. A new one has seen none, so every parameter moves by the full
    learning rate in every step, and it does not fall either.
    """
    """
      for _ in range(state.steps_left):
    +     optimizer = make_optimizer(policy, config)
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, optimizer, rollout, config)
    """


def makes_a_new_optimizer_in_every_update():
    """you make a new optimizer for every update; use one for the whole run, which remembers earlier gradients

    Adam scales a step by the gradients it has seen. A new one has seen none, so every parameter moves by the full
    learning rate in every update, and the rate does not fall either.
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, make_optimizer(policy, config), rollout, config)
    """


def makes_a_new_adamw_in_every_step():
    """you make a new AdamW in every step; state.optimizer is the one that config asks for, for the whole run

    A new optimizer has seen no gradients, so every parameter moves by about the full learning rate in every step,
    however small its gradient is. `config.optimizer` has no effect, and the learning rate does not fall.
    """
    """
      for _ in range(state.steps_left):
    +     optimizer = torch.optim.AdamW(policy.parameters(), lr=config.lr)
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, optimizer, rollout, config)
    """


def makes_a_new_adam_in_every_step():
    """you make a new Adam in every step; state.optimizer is the one that config asks for, for the whole run

    A new optimizer has seen no gradients, so every parameter moves by about the full learning rate in every step,
    however small its gradient is. `config.optimizer` has no effect, and the learning rate does not fall.
    """
    """
      for _ in range(state.steps_left):
    +     optimizer = torch.optim.Adam(policy.parameters(), lr=config.lr)
    """
    """
    - metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, optimizer, rollout, config)
    """


def records_the_first_update():
    """you record the metrics of the first update of a step; record those of the last one

    In the first update all ratios are 1, so the clip fraction is 0 in the whole run, and you do not see that inner
    updates go too far.
    """
    """
    - for _ in range(config.inner_steps):
    -     metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    + for _ in range(config.inner_steps - 1):
    +     train_step(policy, ref_policy, state.optimizer, rollout, config)
    """


def records_every_update():
    """you record every update, with inner_steps rows per step; record one row per step

    The history is inner_steps times too long, and its step numbers are wrong. The learning rate falls with every row,
    so it reaches its final value long before the run ends.
    """
    """
      for _ in range(config.inner_steps):
          metrics = train_step(policy, ref_policy, state.optimizer, rollout, config)
    - state.record(completions, rewards, advantages, metrics)
    +     state.record(completions, rewards, advantages, metrics)
    """


def records_nothing():
    """you never call `state.record`, so the history is empty

    There are no curves to draw, and the learning rate does not fall, because recording a step also lowers it.
    """
    """
    - state.record(completions, rewards, advantages, metrics)
    """


def records_advantages_as_rewards():
    """you record the advantages instead of the rewards

    The mean of advantages is 0, so the curve of the mean reward is a flat line, however well the run goes.
    """
    """
    - state.record(completions, rewards, advantages, metrics)
    + state.record(completions, advantages, advantages, metrics)
    """


def passes_over_steps_without_signal():
    """you continue with the next batch, without update or row, if no group has a signal; such a step is a step, too

    Its completions took time to sample, and the KL still pulls. A history without these steps hides that waste, and is
    shorter than requested.
    """
    """
      advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + if not advantages.any():
    +     continue
    """


def stops_when_nothing_is_left_to_learn():
    """you end the run at the first step in which no group has a signal; make all config.steps steps

    Equal rewards in one batch are often luck: another batch has a signal again. And early in a run, when nothing earns
    a reward yet, the run ends before it has started.
    """
    """
      advantages = group_advantages(rewards.reshape(-1, config.group_size)).flatten()
    + if not advantages.any():
    +     break
    """
