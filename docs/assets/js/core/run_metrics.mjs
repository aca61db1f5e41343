// What the names in training logs mean: which quantity a name holds, and which library prints such names.

/** [quantity, names]: the first that fits wins. Names are lower case, without "train/" and without blanks around slashes. */
const NAMES = [
  ["step", /^(_?step|global[_ ]?steps?(\/max_steps)?|(training|trainer|progress)\/(global_)?step|iter(ation)?)$/],
  ["epoch", /^(training\/)?epoch$/],
  ["loss", /^((training|train|total)[_ ]?loss|loss)$/],
  ["policyLoss", /^(actor\/|policy\/|loss\/|train\/)?(pg_loss|policy_loss|policy_avg|act_loss|actor_loss|pg|final_loss)$/],
  ["reward", /^(reward|train_reward|mean_reward|reward[/_]mean|rewards\/mean|(avg|average|mean)[_ ](total[_ ])?rewards?)$/],
  ["reward", /^(critic\/score\/mean|rollout\/raw_reward|(reward\/)?avg_raw_reward|objective\/verifiable_reward|total[ _]rewards[ _]mean|rm|total_reward|rollout_reward(\/mean)?)$/],
  ["shapedReward", /^(critic\/rewards\/mean|rollout\/rewards|(loss\/)?avg_(final_)?rewards|avg filtered reward|return|ret)$/],
  ["rewardMax", /^critic\/score\/max$/],
  ["rewardMin", /^critic\/score\/min$/],
  ["groupStd", /^(rollout\/)?(group_reward_std|grouped[ _]rewards[ _]std( mean)?|reward_std_in_group)$/],
  ["batchStd", /^(rollout\/reward_std|total[ _]rewards[ _]std)$/],
  ["rewardStd", /^reward_std$/],
  ["ties", /^(.*\/)?(frac_reward_zero_std|zero_var_ratio|zero_std_ratio|zero_signal_fraction)$/],
  ["mixed", /^(baseline_reward\/)?pct_mixed$/],
  ["trainable", /^trainable$/],
  ["advMax", /^(critic\/)?advantages\/max$/],
  ["advMin", /^(critic\/)?advantages\/min$/],
  ["advMean", /^((critic\/)?advantages\/mean|mean_advantage)$/],
  ["kl", /^((actor|policy|loss|critic|train)\/)?(kl|kl_loss|policy_kl|reward_kl_penalty)$/],
  ["kl", /^objective\/(kl|kl2_avg)$/],
  ["ppoKl", /^((actor|policy)\/)?(ppo_kl|approx_kl)$/],
  ["logpDiff", /^((sampling\/sampling_logp_difference|.*rollout_train_logprobs?_abs_diff|.*vllm_vs_local_logprob_diff)[/_]mean|.*rollout_logprob_abs_diff)$/],
  ["probDiff", /^(training\/)?rollout_probs_diff_mean$/],
  ["mismatchKl", /^(.*\/)?(mismatch[_ ]kl(\/mean)?|gen_kl_error|generation kl error|vllm_kl)$/],
  ["mismatchKl", /^rollout_corr\/(k3_)?kl$/],
  ["multError", /^(.*\/)?token_mult_prob_error$/],
  ["gradNorm", /^((actor|policy|optim|critic)\/)?(raw_|actor_)?grad[_.]*[ _]?norm$/],
  ["lr", /^((actor|optim|policy)\/)?(learning[_ ]rate|lr|act_lr|actor_lr|lr-pg_0)$/],
  ["entropy", /^((actor|policy|objective|loss)\/)?(entropy(_loss)?|policy_entropy|approx_entropy|entropy_avg)(\/mean|\/all\/mean)?$/],
  ["length", /^(completion_length|completions\/mean_length|response_length(\/mean)?|gen_len|glen|mean generation length|completion length|seq\. length|avg_response_length|(mean|avg|average) (completion|response|generation) length|rollout\/response_len\/mean|generate\/avg_num_tokens|val\/sequence_lengths)$/],
  ["minLength", /^(completions\/min_length|response_length\/min)$/],
  ["maxLength", /^(completions\/max_length|response_length\/max)$/],
  ["ended", /^completions\/mean_terminated_length$/],
  ["cut", /^(completions\/clipped_ratio|response_length\/clip_ratio|response_clip_ratio|(.*\/)?truncated_(rate|ratio)|truncation|truncated)$/],
  ["stopped", /^val\/stop_rate$/],
  ["clip", /^((actor|policy)\/)?(pg_clipfrac|ppo_clip_ratio|clip_fraction|clipfrac(_avg)?|clip_ratio\/region_mean|loss_metrics\/clip_ratio|clip_ratio)$/],
  ["heldOut", /^(val-core\/.*\/(acc|reward|score)\/.*mean@\d+|(val|eval|validation|test)[-_/ ](.*[/_])?(acc|accuracy|reward|score|avg_score|pass_at_1|pass@1|exact)(\/mean)?|exact)$/],
  ["critic", /(^|\/|_)(vf_loss|value_loss|critic_loss|critic loss|vf_clipfrac|value_avg|explained_variance|vf_explained_var)|^critic\/(grad_norm|lr|values\/)/],
  ["preference", /^rewards\/(chosen|rejected|margins|accuracies)$|^logps\//],
  ["supervised", /mean_token_accuracy|token_acc$/],
];
const FUNCTION = /^rewards\/(?!chosen|rejected|margins|accuracies|mean$|std$)(.+?)(?:\/(mean|std))?$/;
const known = new Map();

/** What a name is compared as. */
export const plainName = (name) =>
  name.trim().replace(/^"|"$/g, "").replace(/\s*\/\s*/g, "/").replace(/^.* - (?=\S+$)/, "").replace(/^train\/(?!reward_std_)/i, "").toLowerCase();

/** The quantity that a name holds: { key }, or { key: "function", of, part } for one of several reward functions; else null. */
export function quantity(name) {
  if (!known.has(name)) known.set(name, look(plainName(name)));
  return known.get(name);
}

function look(name) {
  const found = NAMES.find(([, pattern]) => pattern.test(name));
  if (found) return { key: found[0] };
  const [, of, part = "mean"] = name.match(FUNCTION) ?? [];
  return of ? { key: "function", of, part } : null;
}

/** Quantities that only a line of a training run has; a step, a rate or a coefficient also stands in a configuration. */
export const MEASURED = new Set(["loss", "policyLoss", "reward", "kl", "gradNorm", "entropy", "length", "cut", "ties", "mixed", "trainable",
  "mismatchKl", "multError", "logpDiff", "function", "heldOut", "advMax", "preference", "supervised", "critic", "ppoKl", "rewardStd"]);

const LIBRARIES = [
  ["course", /^(zero_signal_fraction|rolling_mean_reward|well_formed)$/],
  ["verl", /^(actor\/(pg_loss|entropy|kl_loss|pg_clipfrac|grad_norm|lr|entropy_loss)|critic\/(score|advantages|rewards)\/|response_length\/(mean|clip_ratio))/],
  ["ms-swift", /^(global_step\/max_steps|memory\(gib\)|train_speed\(iter\/s\)|response_clip_ratio)$/],
  ["SkyRL", /^(avg_final_rewards$|policy_entropy$|policy_lr$|(reward\/)?avg_(pass_at_\d+|raw_reward)|policy\/(policy_entropy|policy_kl|loss_metrics))/],
  ["OpenRLHF", /^(act_loss|glen|gen_len|act_lr|ppo_clip_ratio|group_reward_std|vllm_kl)$/],
  ["slime", /^(rollout\/(raw_reward|response_len)|lr-pg_0|train_rollout_logprob_abs_diff|entropy_loss$)/],
  ["prime-rl", /^(trainable|mismatch kl|mismatch_kl|grad\. norm|seq\. length)$/],
  ["NeMo-RL", /^(generation kl error|gen_kl_error|token_mult_prob_error|mean generation length)$/],
  ["open-instruct", /^objective\/(verifiable|kl\d)/],
  ["mlx-lm", /^(total|grouped)[ _]rewards[ _]/],
  ["TRL", /^(reward_std|completions\/|completion_length|frac_reward_zero_std|clip_ratio\/|rewards\/.+\/mean)/],
];

/** Which library prints these names, by the first that fits: one of the names above, or null. */
export function libraryOf(names) {
  const plain = [...names].map(plainName);
  const found = LIBRARIES.find(([, pattern]) => plain.some((name) => pattern.test(name)))?.[0] ?? null;
  if (found !== "TRL") return found;
  return isUnsloth(plain) ? "Unsloth" : "TRL";
}

/** Unsloth adds completion_length and kl to what newer TRL prints, and its notebooks have tables. */
const isUnsloth = (names) => names.includes("completion_length")
  && (names.some((name) => name.startsWith("completions/")) || names.includes("training loss"));

const ON_TRL = new Set(["TRL", "Unsloth", "ms-swift"]);
/** Whether one program may print lines of both libraries: Unsloth and ms-swift build on TRL. */
export const areOneProgram = (one, other) => one === other || (ON_TRL.has(one) && ON_TRL.has(other));

/** Versions of TRL whose logs have these names. */
export function trlVersion(names, isBatchStd) {
  const has = (pattern) => [...names].some((name) => pattern.test(plainName(name)));
  if (has(/^step_time$/)) return isBatchStd ? "0.27 or later" : "0.26 or later";
  if (has(/^sampling\//)) return "0.23 or later";
  if (has(/^entropy$/)) return "0.20 or later";
  if (has(/^frac_reward_zero_std$/)) return "0.18 or later";
  if (has(/^completions\//)) return "0.17 or later";
  return has(/^completion_length$/) ? "0.16 or earlier" : "";
}
