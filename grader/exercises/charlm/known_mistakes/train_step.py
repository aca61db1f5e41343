"""Wrong answers to `train_step`, one per mistake."""

import torch
from torch import nn


def clears_the_gradients_before_the_step():
    """you clear the gradients between backward and step, or omit one of them or its (), so the policy does not change

    An update is zero_grad, backward, step, in this order. The metrics look right, but are the same in every update,
    because the policy never learns.
    """
    """
    - optimizer.zero_grad()
      loss.backward()
    + optimizer.zero_grad()
      optimizer.step()
    """


def never_clears_the_gradients():
    """you never clear the gradients, so every step also repeats all earlier gradients; torch adds up gradients

    The first update is right, but each later one goes too far in outdated directions, as if with a large momentum. The
    clip cannot stop it, because it only removes new gradients.
    """
    """
    - optimizer.zero_grad()
    """


def steps_before_backward():
    """you call step before backward, so every update uses the gradient of the update before it

    The first update does nothing, and each later one is for an outdated policy and batch. Call backward first, because
    the step uses its gradient.
    """
    """
    + optimizer.step()
      optimizer.zero_grad()
      loss.backward()
    - optimizer.step()
    """


def climbs_the_loss():
    """you negate the loss before backward; `grpo_loss` already returns a loss, which is minimized

    The minus sign that turns the objective into a loss is in `grpo_loss`. With a second one, the policy unlearns what
    earned rewards and moves away from the reference.
    """
    """
    - loss.backward()
    + (-loss).backward()
    """


def makes_a_new_optimizer():
    """you make a new optimizer in every update; use the one that is passed in, which remembers earlier updates

    Adam divides by the size of the gradients so far. A new one knows none, so all parameters move by the full
    learning rate in every update, however small or noisy their gradient is.
    """
    """
    + optimizer = make_optimizer(policy, config)
      optimizer.zero_grad()
    """


def descends_by_hand():
    """you subtract config.lr times the gradient yourself; let the optimizer that is passed in make the step

    This is plain gradient descent, whatever optimizer the caller passes. Adam's steps do not depend on the size of the
    gradient, so a learning rate for Adam hardly moves anything here, and it never falls.
    """
    """
    - optimizer.step()
    + with torch.no_grad():
    +     for parameter in policy.parameters():
    +         if parameter.grad is not None:
    +             parameter -= config.lr * parameter.grad
    """


def takes_the_current_policy_as_the_old_one():
    """you compute old_logp from the current policy, so all ratios are 1; the old policy is in rollout.old_logp

    In the first update with a batch it makes no difference. In later ones, the ratio no longer says how far the policy
    has moved from the one that drew the batch, and the clip never binds.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + loss, metrics = grpo_loss(logp, logp.detach(), ref_logp, rollout.advantages, mask, config)
    """


def takes_the_reference_as_the_old_policy():
    """you give `grpo_loss` the reference's log-probabilities for the old policy; those are in rollout.old_logp

    The ratio then compares with a policy that did not draw the batch. As soon as the policy has left the reference,
    the clip binds nearly everywhere and training stops.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + loss, metrics = grpo_loss(logp, ref_logp, ref_logp, rollout.advantages, mask, config)
    """


def swaps_old_policy_and_reference():
    """you swap the log-probabilities of old policy and reference; in `grpo_loss` the old policy comes first

    The clip then keeps the policy near the reference, and the KL keeps it near the policy of the last batch: each does
    the other's work. Both have the same shape, so there is no error.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + loss, metrics = grpo_loss(logp, ref_logp, rollout.old_logp, rollout.advantages, mask, config)
    """


def takes_the_policy_as_its_own_reference():
    """you use the policy's log-probabilities for the reference, so the KL is always 0; compute them with ref_policy

    The KL between a policy and itself is 0. Nothing holds the run near the text that the reference would write, and the
    curve of the KL does not show it.
    """
    """
    - with torch.no_grad():
    -     ref_logp = token_logp(ref_policy, rollout.tokens)
    + ref_logp = logp.detach()
    """


def measures_the_kl_from_the_old_policy():
    """you use old_logp as the log-probabilities of the reference; the KL is to ref_policy

    In the first update, the policy that drew the batch is the current one, so the KL is 0; in later ones it acts as a
    brake. It never pulls back to where the run started.
    """
    """
    - with torch.no_grad():
    -     ref_logp = token_logp(ref_policy, rollout.tokens)
    + ref_logp = rollout.old_logp
    """


def swaps_policy_and_reference():
    """you swap policy and reference: the graph leads to ref_policy, whose parameters the optimizer does not have

    The gradient ends up in the reference, which must not learn, and the policy does not move. With several updates the
    loss does not change either.
    """
    """
    - logp = token_logp(policy, rollout.tokens)
    + logp = token_logp(ref_policy, rollout.tokens)
      with torch.no_grad():
    -     ref_logp = token_logp(ref_policy, rollout.tokens)
    +     ref_logp = token_logp(policy, rollout.tokens)
    """


def lets_the_reference_follow():
    """you copy the weights of the policy into ref_policy after the update; the reference must not change

    The KL then compares with the policy of the update before, which is always near. The run can drift any distance in
    many small steps.
    """
    """
      optimizer.step()
    + ref_policy.load_state_dict(policy.state_dict())
    """


def has_no_graph():
    """you compute the policy's log-probabilities without a graph, under no_grad or detached, and backward fails

    Only the reference needs no graph. From the policy's numbers, the gradient must reach the parameters.
    """
    """
    - logp = token_logp(policy, rollout.tokens)
      with torch.no_grad():
    +     logp = token_logp(policy, rollout.tokens)
    """


def teaches_the_prompt():
    """you count the prompt as if the policy had written it; the mask starts after prompt_length tokens

    The policy is rewarded for questions that it was asked, and unlearns or repeats them. In the mean of a row, the
    tokens of the prompt also dilute those of the completion.
    """
    """
    - mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = completion_mask(rollout.tokens, 1, EOS_ID)
    """


def masks_nothing():
    """you count all positions; the policy did not write the prompt and the padding after the end

    A short completion then has many positions at which the end follows the end. They share in its advantage and
    dilute the few tokens that were drawn.
    """
    """
    - mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = torch.ones_like(rollout.tokens[:, 1:], dtype=torch.bool)
    """


def masks_only_the_prompt():
    """you count the padding after the end of a row; a completion ends with its first end token

    The policy learns what comes after an end, where it never has to write. The mean of a short row is then mostly a
    mean of padding, so short completions hardly teach anything.
    """
    """
    - mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = (torch.arange(1, rollout.tokens.shape[1]) >= rollout.prompt_length).expand_as(rollout.old_logp)
    """


def leaves_out_the_end():
    """you leave out the end token of a completion, as if it were padding; the policy itself chose to stop there

    Stopping is then never rewarded or punished, and nothing corrects a policy that forgets to stop. A completion that
    is only an end teaches nothing.
    """
    """
      mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = mask & (rollout.tokens[:, 1:] != EOS_ID)
    """


def leaves_out_the_first_token():
    """you start the mask one token late, as if prompt_length had to be shifted too; `completion_mask` does the shift

    The policy never learns from the first token of the completion, which matters most.
    """
    """
    - mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = completion_mask(rollout.tokens, rollout.prompt_length + 1, EOS_ID)
    """


def teaches_the_last_token_of_the_prompt():
    """you start the mask one token early, as if prompt_length had to be shifted too; `completion_mask` does the shift

    The last token of the prompt counts as if the policy had written it. In a short completion that is a large part
    of what it learns.
    """
    """
    - mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    + mask = completion_mask(rollout.tokens, rollout.prompt_length - 1, EOS_ID)
    """


def normalises_the_advantages_again():
    """you normalize the advantages over the batch; use rollout.advantages as they are

    They are already normalized within their groups. After normalizing again, groups with a signal get larger steps the
    more groups there are without one.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + advantages = (rollout.advantages - rollout.advantages.mean()) / (rollout.advantages.std() + 1e-8)
    + loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, advantages, mask, config)
    """


def normalises_the_advantages_with_group_advantages():
    """you call group_advantages on rollout.advantages; `train` has done that already, so use them as they are

    Within their groups they have mean 0 and, if there is a signal, standard deviation 1. With the whole batch as one
    group, groups with a signal get larger steps the more groups there are without one.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, group_advantages(rollout.advantages), mask, config)
    """


def learns_from_good_completions_only():
    """you set negative advantages to 0; a completion below the mean of its group must become less probable

    Bad completions then lose probability only because others gain, as much as completions that were not drawn. This
    throws away half of the information in the group.
    """
    """
    - loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    + loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages.clamp(min=0.0), mask, config)
    """


def divides_by_inner_steps():
    """you divide the loss by inner_steps, as if the gradients of these updates were added up; each is a separate step

    That belongs to gradient accumulation: several backward passes, one step. Here each backward pass has its own step,
    which becomes too small.
    """
    """
    - loss.backward()
    + (loss / config.inner_steps).backward()
    """


def makes_an_update_for_each_completion():
    """you make an optimizer step for each completion; one update uses the whole batch

    The second completion then meets a policy that the first one has moved. The group no longer compares completions of
    the same policy, and the order of the rows matters.
    """
    """
    - optimizer.zero_grad()
    - loss.backward()
    - optimizer.step()
    + for row in range(len(rollout.tokens)):
    +     one = slice(row, row + 1)
    +     row_logp = token_logp(policy, rollout.tokens[one])
    +     row_loss, _ = grpo_loss(
    +         row_logp, rollout.old_logp[one], ref_logp[one], rollout.advantages[one], mask[one], config
    +     )
    +     optimizer.zero_grad()
    +     row_loss.backward()
    +     optimizer.step()
    """


def averages_the_means_of_micro_batches():
    """you add up the losses of micro-batches of 4 rows, each times its share of the rows; average over the whole batch

    At loss level "token" each micro-batch then has the weight of its rows instead of its tokens, so tokens of
    short completions count more. Divide each part's sum by the number of tokens of the whole batch, or do not
    cut the batch. At level "sequence" the numbers are right.
    """
    """
      optimizer.zero_grad()
    - loss.backward()
    + for part in torch.arange(len(logp)).split(4):
    +     of_part = token_logp(policy, rollout.tokens[part]), rollout.old_logp[part], ref_logp[part]
    +     small, _ = grpo_loss(*of_part, rollout.advantages[part], mask[part], config)
    +     (small * len(part) / len(logp)).backward()
      optimizer.step()
    """


def clips_the_norm_of_the_gradient():
    """you clip the norm of the gradient to 1; in this course the optimizer gets the gradient as it is

    Many training loops do this, to survive a bad batch. It is not GRPO's clip: it shortens large steps without changing
    their direction, and it hides that a learning rate is too high.
    """
    """
      loss.backward()
    + nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
      optimizer.step()
    """


def makes_all_inner_updates(
    policy: nn.Module, ref_policy: nn.Module, optimizer: torch.optim.Optimizer, rollout: Rollout, config: CharLMConfig
) -> dict[str, float]:
    """you make config.inner_steps updates; `train_step` is one of them, and `train` calls it as often as needed

    With `train` calling it inner_steps times, there are inner_steps squared updates with one batch, and the policy
    goes far from the one that drew it.
    """
    mask = completion_mask(rollout.tokens, rollout.prompt_length, EOS_ID)
    with torch.no_grad():
        ref_logp = token_logp(ref_policy, rollout.tokens)
    for _ in range(config.inner_steps):
        logp = token_logp(policy, rollout.tokens)
        loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: value.item() for name, value in {"loss": loss, **metrics}.items()}


def reports_the_metrics_after_the_update():
    """you compute the metrics again after the update; they belong to the policy before it

    This takes a second forward pass, and the curve of the loss starts one update late. The ratios of a first update
    seem to differ from 1.
    """
    """
      optimizer.step()
    + with torch.no_grad():
    +     logp = token_logp(policy, rollout.tokens)
    +     loss, metrics = grpo_loss(logp, rollout.old_logp, ref_logp, rollout.advantages, mask, config)
    """


def returns_tensors():
    """you return tensors as metrics; a float has no graph and no device

    A loss with its graph keeps the whole forward pass in memory, once per step of the run. Also, a tensor on a GPU
    cannot be written to a file as a number.
    """
    """
    - return {name: value.item() for name, value in {"loss": loss, **metrics}.items()}
    + return {"loss": loss, **metrics}
    """


def reports_no_loss():
    """you return only the metrics of `grpo_loss`; add the loss

    The curve of the total loss is then missing: policy loss and KL alone do not say what the update minimized.
    """
    """
    - return {name: value.item() for name, value in {"loss": loss, **metrics}.items()}
    + return {name: value.item() for name, value in metrics.items()}
    """


def reports_the_policy_loss_as_the_loss():
    """you report the policy loss as the loss; the loss also includes the KL

    The update is right. But the curve of the loss does not show a growing KL, so you do not see what the rewards cost.
    """
    """
    - return {name: value.item() for name, value in {"loss": loss, **metrics}.items()}
    + return {name: value.item() for name, value in {"loss": metrics["policy_loss"], **metrics}.items()}
    """


def waits_for_a_loss_that_is_not_0():
    """you make no update when the loss is 0, as if there were nothing to learn

    On fresh samples the loss is 0 up to rounding, whatever there is to learn, but its gradient is not. From the
    reference policy, such a run never starts.
    """
    """
    - optimizer.zero_grad()
    - loss.backward()
    - optimizer.step()
    + if abs(loss.item()) > 1e-9:
    +     optimizer.zero_grad()
    +     loss.backward()
    +     optimizer.step()
    """
