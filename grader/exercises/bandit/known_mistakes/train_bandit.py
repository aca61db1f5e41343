"""Wrong answers to `train_bandit`, one per mistake."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor


def samples_uniformly():
    """you draw all actions with equal probability; the course draws each group from the current policy

    The policy still learns, although its gradient is for a different sampler, but the mean reward of the groups stays
    where it started. For a language model this would be text that the model never wrote.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = torch.randint(len(reward_table), (config.group_size,), generator=generator, device=logits.device)
    """


def samples_from_the_start():
    """you draw every group from the policy of the start; the course draws each group from the current policy

    The first group is right, but an outdated policy drew every later one. The reference policy is for the
    KL alone. The mean reward of the groups never rises, however certain the policy becomes.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = sample_actions(torch.softmax(ref_logits, dim=-1), config.group_size, generator)
    """


def samples_from_the_policy_of_the_step_before():
    """you draw each group from the policy of the step before; the course draws it from the current one

    The group and the policy that learns from it are one step apart. With small steps nobody sees it, but the
    ratio takes the current policy for the one that drew the group.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + before = visited[max(0, len(visited) - 2)]
    + actions = sample_actions(torch.softmax(before, dim=-1), config.group_size, generator)
    """


def takes_the_most_probable_action():
    """you take the most probable action for the whole group, or draw from no probabilities; the course samples

    All rewards of a group are then equal, so GRPO has no signal in any step and stays where it started. Without
    randomness the policy tries nothing new, and the seed has no effect.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = logits.argmax().expand(config.group_size)
    """


def one_sample_for_the_whole_group():
    """you draw one action and repeat it for the whole group; the course draws every sample of the group on its own

    The rewards of such a group are equal, so its advantages are 0 and GRPO learns nothing. GRPO compares the samples of
    a group, so they must differ.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + action = sample_actions(torch.softmax(logits, dim=-1), 1, generator)
    + actions = action.repeat(config.group_size)
    """


def makes_the_generator_anew_in_every_step():
    """you make the generator inside the loop, so every step draws the same random numbers; use one for the whole run

    The groups differ only because the policy moves; if it stays the same, all groups are equal. The run may never try
    an action that these few numbers miss.
    """
    """
      for _ in range(config.steps):
    +     generator = torch.Generator(reward_table.device).manual_seed(seed)
    """


def makes_a_generator_for_each_step():
    """you make a generator from seed + step in every step; the course has one generator for the whole run

    Step 2 with seed 0 then draws the random numbers of step 1 with seed 1. Runs with neighboring seeds share their
    luck, so the spread over such seeds looks smaller than it is.
    """
    """
      for _ in range(config.steps):
    +     generator = torch.Generator(reward_table.device).manual_seed(seed + len(groups))
    """


def takes_no_notice_of_seed():
    """you seed the generator with 0 whatever seed says; the course makes it from seed

    Runs with five seeds are then the same run five times, and the small spread over seeds proves nothing.
    """
    """
    - generator = torch.Generator(reward_table.device).manual_seed(seed)
    + generator = torch.Generator(reward_table.device).manual_seed(0)
    """


def seeds_the_global_generator():
    """you call torch.manual_seed and draw from the global generator; the course makes its own generator from seed

    The run is repeatable. But code that draws after it, such as the shuffling of a data set, gets the same random
    numbers every time, and code that draws in between changes the run.
    """
    """
    - generator = torch.Generator(reward_table.device).manual_seed(seed)
    + torch.manual_seed(seed)
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = _multinomial(torch.softmax(logits, dim=-1), config.group_size)
    """


def _multinomial(probabilities: Tensor, group_size: int) -> Tensor:
    """`torch.multinomial` with replacement; asked for one sample only, it draws another one on another machine."""
    return torch.multinomial(probabilities, max(group_size, 2), replacement=True)[:group_size]


def samples_without_replacement():
    """you draw a group without replacement, so no action comes twice; samples are independent in the course

    The default of `torch.multinomial` does this. Improbable actions come far too often, because the probable one is
    used up, and a group larger than the number of actions is an error.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = _all_different(torch.softmax(logits, dim=-1), config.group_size, generator)
    """


def _all_different(probabilities: Tensor, group_size: int, generator: torch.Generator) -> Tensor:
    """Like `torch.multinomial(probabilities, group_size)`, with samples that are the same on every machine."""
    if group_size > len(probabilities):
        return torch.multinomial(probabilities, group_size, generator=generator)  # refuses
    left, actions = probabilities.double(), []
    for _ in range(group_size):
        actions.append(sample_actions(left / left.sum(), 1, generator))
        left = left.index_fill(0, actions[-1], 0.0)
    return torch.cat(actions)


def draws_again_while_there_is_no_signal():
    """you draw a group again while all of its rewards are equal; the course keeps every group as it was drawn

    DAPO does this under the name of dynamic sampling. Here the history would hide how often a step teaches nothing, and
    the samples of a group would depend on each other.
    """
    """
      actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + for _ in range(100):
    +     if (reward_table[actions] != reward_table[actions[0]]).any():
    +         break
    +     actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    """


def takes_a_few_seeds_only():
    """you use only a part of seed, such as seed % 8; different seeds give different histories

    Runs with the seeds 1, 9 and 17 are the same run. The spread over seeds then looks smaller than it is.
    """
    """
    - generator = torch.Generator(reward_table.device).manual_seed(seed)
    + generator = torch.Generator(reward_table.device).manual_seed(seed % 8)
    """


def samples_from_the_logits():
    """you give sample_actions the logits; it asks for probabilities, the softmax of the logits

    Logits of 0 give every action but the last a probability of 0. So the first group has only one action, GRPO gets no
    signal from it, and the run never leaves the start.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = sample_actions(logits, config.group_size, generator)
    """


def samples_at_temperature_2():
    """you draw the group at temperature 2, from softmax(logits / 2); the course draws it from the policy itself

    It looks like more exploration. But the ratio takes the policy for the one that drew the group, so the update
    belongs to other samples, and the mean reward of the groups lags behind the policy.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + actions = sample_actions(torch.softmax(logits / 2.0, dim=-1), config.group_size, generator)
    """


def appends_the_old_logits():
    """you append the logits before the step, so the start appears twice and the last policy is lost; append the new

    Every curve is one step late: the first step seems to do nothing. The policies no longer belong to the groups that
    led to them.
    """
    """
    + visited.append(logits)
      rewards = reward_table[actions]
    """
    """
    - visited.append(logits)
      groups.append(actions)
    """


def appends_probabilities():
    """you append the probabilities of the new policy; the history needs its logits

    The softmax is then taken twice, and no policy in the history gives an action more than e times the probability of
    another: the run seems never to become certain, although it does.
    """
    """
    - visited.append(logits)
    + visited.append(torch.softmax(logits, dim=-1))
    """


def appends_one_tensor_again_and_again():
    """you write the new logits into the old tensor and append that, so every row is the last policy

    A list holds tensors, not copies of them. The run itself is right, but its start is lost: every curve is flat, at
    the final value.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + logits[:] = grpo_step(logits, actions, rewards, ref_logits, config)
    """
    """
    - logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    + logits[:] = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    """


def records_actions_counted_from_1():
    """you record the actions counted from 1, as the text numbers them; in code they are counted from 0

    The policies are right, but the rewards next to them belong to the neighboring actions. If the last action is drawn,
    its number is not even an index of the table.
    """
    """
    - return _history(torch.stack(visited), groups, reward_table, config)
    + return _history(torch.stack(visited), [actions + 1 for actions in groups], reward_table, config)
    """


def makes_one_step_less():
    """you make config.steps - 1 steps; with the start, the history has one policy more than steps

    A history of 50 steps has 51 policies and 50 groups. Here the last group is never drawn.
    """
    """
    - for _ in range(config.steps):
    + for _ in range(1, config.steps):
    """


def looks_up_the_reward_of_the_neighbour():
    """you look up reward_table[actions - 1]; actions are counted from 0 in code, so the table needs no shift

    The run learns, and learns the action next to the best one. For action 0 python takes the last reward of the table
    without an error.
    """
    """
    - rewards = reward_table[actions]
    + rewards = reward_table[actions - 1]
    """


def starts_every_step_from_uniform_logits():
    """you append the new logits and do not keep them, so every step starts from uniform logits again

    All policies are one step away from the start, each in the direction of its own group. A step returns new logits and
    leaves its argument alone: `logits = ...` is what carries them on.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + new_logits = grpo_step(logits, actions, rewards, ref_logits, config)
    """
    """
    -     logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    - visited.append(logits)
    +     new_logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    + visited.append(new_logits)
    """


def reference_moves_along():
    """you take the current policy as the reference in every step; the reference is the policy of the start

    The KL between a policy and itself is 0: with one inner step it has no effect, and with more it only holds back the
    step. Nothing pulls the run back to where it started.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + logits = grpo_step(logits, actions, rewards, logits, config)
    """


def reference_is_one_step_behind():
    """you set the reference to the policy before the last step; the reference is the policy of the start

    The KL then works against the last step only, like a brake, and never pulls back to the start. The policy of the
    ratio and the reference differ: the first changes with every group, the second stays the same.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + new_logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + ref_logits, logits = logits, new_logits
    """


def kl_in_the_rewards():
    """you subtract the KL from the rewards, as PPO for language models does; grpo_step has it in the objective

    The advantages divide by the std of the group, so the weight of the KL changes with the rewards of each group. And
    nothing pulls back an action that was not drawn.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + log_ratio = torch.log_softmax(logits, dim=-1) - torch.log_softmax(ref_logits, dim=-1)
    + rewards = (reward_table - config.kl_coef * log_ratio)[actions]
    + logits = grpo_step(logits, actions, rewards, ref_logits, replace(config, kl_coef=0.0))
    """


def skips_groups_without_signal():
    """you make no step when all rewards of a group are equal; such a step still has its KL

    Without KL it changes nothing in GRPO, and saves time. With KL the policy is pulled to the reference in every step:
    late in a run most groups carry no signal, and exactly then the pull is missing.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + if (rewards != rewards[0]).any():
    +     logits = grpo_step(logits, actions, rewards, ref_logits, config)
    """


def repeats_the_inner_steps():
    """you call grpo_step config.inner_steps times with one group; it makes all inner steps itself

    That is inner_steps * inner_steps updates. And every call takes the policy that it gets for the one that drew the
    group, so the ratio starts at 1 again and the clip holds nothing back.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + for _ in range(config.inner_steps):
    +     logits = grpo_step(logits, actions, rewards, ref_logits, config)
    """


def draws_a_new_group_for_every_inner_step(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """you draw a new group for every inner step; all inner steps of a step are made with one group

    Inner steps use a group more than once, because samples are expensive. With a new group each time, the ratio is
    always 1 and the clip never binds.
    """
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)
    ref_logits = logits.clone()
    visited, groups = [logits], []
    baseline = 0.0
    for _ in range(config.steps):
        for _ in range(config.inner_steps):
            actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
            rewards = reward_table[actions]
            if config.algorithm == "grpo":
                logits = grpo_step(logits, actions, rewards, ref_logits, replace(config, inner_steps=1))
            else:
                logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
        visited.append(logits)
        groups.append(actions)
        if config.algorithm == "reinforce_baseline":
            baseline += (rewards.mean().item() - baseline) / len(groups)
    return _history(torch.stack(visited), groups, reward_table, config)


def one_step_per_sample():
    """you make a separate step for each sample; the course makes one step with the whole group

    A group of one has nothing to compare with: its advantage is 0, and GRPO never moves. REINFORCE does move, about
    group_size times as far, and all but the first sample of a group belong to an outdated policy.
    """
    """
    - logits = grpo_step(logits, actions, rewards, ref_logits, config)
    + for action in actions.split(1):
    +     logits = grpo_step(logits, action, reward_table[action], ref_logits, config)
    """
    """
    - logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    + for action in actions.split(1):
    +     logits = reinforce_step(logits, action, reward_table[action], config, baseline=baseline)
    """


def always_grpo():
    """you call grpo_step whatever config.algorithm says; for the other two it is reinforce_step

    A comparison of the three then shows three equal curves, and you would conclude that the algorithm does not matter.
    """
    """
    - if config.algorithm == "grpo":
    -     logits = grpo_step(logits, actions, rewards, ref_logits, config)
    - else:
    -     logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    + logits = grpo_step(logits, actions, rewards, ref_logits, config)
    """


def forgets_the_baseline():
    """you run "reinforce_baseline" without a baseline; it subtracts the mean of all rewards of all earlier steps

    The mean gradient is the same, but its noise is not: with rewards that are all positive, every drawn action is
    pushed up, and the first ones have the advantage.
    """
    """
    - logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    + logits = reinforce_step(logits, actions, rewards, config)
    """


def baseline_for_plain_reinforce_too():
    """you subtract the running mean in "reinforce" as well; only "reinforce_baseline" has a baseline

    The two are then the same algorithm, and you cannot see what the baseline does.
    """
    """
    - if config.algorithm == "reinforce_baseline":
    -     baseline += (rewards.mean().item() - baseline) / len(groups)
    + baseline += (rewards.mean().item() - baseline) / len(groups)
    """


def own_group_as_the_baseline():
    """you subtract the group's own mean; the baseline is the mean of all rewards from earlier steps

    That is GRPO without the std. A sample is part of its own baseline here, which shrinks the mean gradient to
    1 - 1/G of what it should be, and a group of one learns nothing.
    """
    """
    + baseline = rewards.mean().item() if config.algorithm == "reinforce_baseline" else 0.0
      logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    """


def baseline_with_the_present_group():
    """you count the current group into the running mean; the baseline is the mean of the earlier steps only

    A baseline that looks at the samples which it is subtracted from takes part of their signal away. In the first step
    the group is its own baseline; later its share is small and the mistake is hard to see.
    """
    """
      rewards = reward_table[actions]
    + if config.algorithm == "reinforce_baseline":
    +     baseline += (rewards.mean().item() - baseline) / (len(groups) + 1)
    """
    """
    - if config.algorithm == "reinforce_baseline":
    -     baseline += (rewards.mean().item() - baseline) / len(groups)
    """


def baseline_of_the_last_step_only():
    """you subtract the mean reward of the last step; the baseline is the mean of all rewards of all earlier steps

    One group is a noisy guess at what to expect: with G = 8 the baseline jumps from step to step and brings back part
    of the noise that it should remove.
    """
    """
    - baseline += (rewards.mean().item() - baseline) / len(groups)
    + baseline = rewards.mean().item()
    """


def baseline_of_recent_steps():
    """you keep an exponential moving average as the baseline; the course weights all earlier rewards equally

    It follows an improving policy, and many programs do it. But it forgets, needs a factor that is not in the settings
    (0.9 here), and starts from the 0 of the first step.
    """
    """
    - baseline += (rewards.mean().item() - baseline) / len(groups)
    + baseline = 0.9 * baseline + 0.1 * rewards.mean().item()
    """


def mean_of_the_table_as_the_baseline():
    """you subtract the mean of the reward table; the baseline is the mean of the rewards seen so far

    An agent does not know the table: it sees the rewards of the actions that it tried. And the mean over all actions is
    no guess at the next reward once the policy prefers some of them.
    """
    """
    + baseline = reward_table.mean().item() if config.algorithm == "reinforce_baseline" else 0.0
      logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
    """


def scales_the_rewards():
    """you scale the reward table to the range from 0 to 1 first; a run learns from the rewards as they are

    GRPO does not change, because its advantages have no unit. REINFORCE does: it depends on the size of the rewards,
    which the comparison should show.
    """
    """
      groups: list[Tensor] = []
    + lowest, highest = reward_table.min(), reward_table.max()
    + scaled = (reward_table - lowest) / (highest - lowest) if highest > lowest else reward_table
    """
    """
    - rewards = reward_table[actions]
    + rewards = scaled[actions]
    """


def explores_with_epsilon():
    """you mix a tenth of uniform samples into every group (epsilon-greedy); the course draws from the policy alone

    A stochastic policy explores by itself. The groups never become as good as the policy, because it does not draw one
    sample in ten, and the update treats them all as samples of the policy.
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + probabilities = 0.9 * torch.softmax(logits, dim=-1) + 0.1 / len(logits)
    + actions = sample_actions(probabilities, config.group_size, generator)
    """


def seeds_the_global_generator_of_numpy():
    """you seed and use the global generator of numpy; the course makes its own generator from seed

    The run is repeatable, but code that draws after it, such as the shuffling of a data set, gets the same random
    numbers every time. `torch.manual_seed` does the same to torch.
    """
    """
    - generator = torch.Generator(reward_table.device).manual_seed(seed)
    + np.random.seed(seed)
    """
    """
    - actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)
    + probabilities = torch.softmax(logits, dim=-1).numpy()
    + actions = torch.from_numpy(np.random.choice(len(probabilities), size=config.group_size, p=probabilities))
    """
