// The pieces of "Find the silent bug". `lines` are right; a piece with `kinds` is shown with `other` as its line number
// `line`. `picture` has what the code of tests/pure/test_bughunt_pieces.py computes with the right line and with the other one.
export const KINDS = {
 "axis": "wrong axis",
 "shift": "off by one",
 "sign": "wrong sign",
 "mask": "wrong mask",
 "scale": "wrong scale",
 "stale": "stale value",
 "limit": "wrong limit",
 "random": "wrong randomness"
};
export const PIECES = [
{
 "id": "group-advantages",
 "title": "Group advantages",
 "task": "The advantage of each completion: its reward minus the mean of its group, divided by the group's standard deviation plus 0.0001. `rewards` has one row per prompt; a row is a group.",
 "line": 2,
 "kinds": ["axis"],
 "explanation": "The mean runs over axis 0, so each reward is compared with completions of other prompts. Broadcasting hides it: the shapes fit. In this call one prompt is easy and one is hard. With the bug, every completion of the easy prompt gets a positive advantage, even the worst of its group (+1.8), and every completion of the hard prompt a negative one, even the best (−1.8 instead of +1.3). Most of the signal now says which prompt was easier, not which completion was better.",
 "lines": [
  "def group_advantages(rewards):",
  "    mean = rewards.mean(axis=1, keepdims=True)",
  "    std = rewards.std(axis=1, keepdims=True)",
  "    return (rewards - mean) / (std + 0.0001)"
 ],
 "other": "    mean = rewards.mean(axis=0, keepdims=True)",
 "picture": {
  "kind": "advantages",
  "caption": "Advantages of two groups of four completions",
  "names": ["0.9", "1.0", "0.7", "0.8", "0.1", "0.0", "0.3", "0.2"],
  "axis": "rewards: easy prompt left, hard prompt right",
  "ticks": [-6, -3, 0, 3, 6],
  "limit": 6,
  "right": [0.447, 1.34, -1.34, -0.447, -0.447, -1.34, 1.34, 0.447],
  "other": [3.575, 4.468, 1.787, 2.681, -3.575, -4.468, -1.787, -2.681]
 }
},
{
 "id": "token-logp",
 "title": "Log-probabilities of tokens",
 "task": "The log-probability of each token except the first. Row t of `logits` is the model's output after it has read tokens 0 to t, so it scores token t + 1.",
 "line": 6,
 "kinds": ["shift"],
 "explanation": "Row t predicts token t + 1, but `tokens[:-1]` picks the probability of token t, which the model has just read. We trained a small model on the text \"abcabcabc...\" with both versions. The loss falls to 0.08 with the right line and to 0.08 with the bug, so the log looks the same. But the probability of the correct next letter rises to 0.93 with the right line and falls to 0.04 with the bug, because the model learns to repeat the letter it sees.",
 "lines": [
  "def token_logp(logits, tokens):",
  "    shifted = logits - logits.max(axis=1, keepdims=True)",
  "    log_norm = np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
  "    logp = shifted - log_norm",
  "    rows = np.arange(len(tokens) - 1)",
  "    targets = tokens[1:]",
  "    return logp[rows, targets]"
 ],
 "other": "    targets = tokens[:-1]",
 "picture": {
  "kind": "curve",
  "caption": "Probability of the correct next letter",
  "ticks": [0, 0.25, 0.5, 0.75, 1],
  "right": [0.333, 0.371, 0.409, 0.445, 0.479, 0.512, 0.542, 0.571, 0.597, 0.621, 0.643, 0.663, 0.681, 0.699, 0.714, 0.729, 0.742, 0.754, 0.765, 0.776, 0.785, 0.794, 0.802, 0.81, 0.817, 0.824, 0.83, 0.836, 0.842, 0.847, 0.852, 0.856, 0.861, 0.865, 0.869, 0.872, 0.876, 0.879, 0.882, 0.886, 0.888, 0.891, 0.894, 0.896, 0.899, 0.901, 0.903, 0.905, 0.907, 0.909, 0.911, 0.913, 0.915, 0.916, 0.918, 0.919, 0.921, 0.922, 0.924, 0.925, 0.926],
  "other": [0.333, 0.314, 0.296, 0.278, 0.26, 0.244, 0.229, 0.215, 0.202, 0.19, 0.179, 0.169, 0.159, 0.151, 0.143, 0.136, 0.129, 0.123, 0.117, 0.112, 0.107, 0.103, 0.099, 0.095, 0.091, 0.088, 0.085, 0.082, 0.079, 0.077, 0.074, 0.072, 0.07, 0.068, 0.066, 0.064, 0.062, 0.06, 0.059, 0.057, 0.056, 0.054, 0.053, 0.052, 0.051, 0.05, 0.048, 0.047, 0.046, 0.045, 0.045, 0.044, 0.043, 0.042, 0.041, 0.04, 0.04, 0.039, 0.038, 0.038, 0.037]
 }
},
{
 "id": "kl-estimate",
 "title": "The k3 estimate of the KL divergence",
 "task": "The k3 estimate of KL(policy || reference), a mean over the tokens with a 1 in `mask`. The policy sampled them; `logp` and `ref_logp` are their log-probabilities under the policy and the reference.",
 "line": 2,
 "kinds": [],
 "explanation": "`ref_logp - logp` looks reversed, because KL(policy || reference) is the mean of `logp - ref_logp`. It is right: k3 with r = reference / policy is r - log r - 1, and its mean over samples of the policy is KL(policy || reference). We logged both versions during a training run whose exact KL divergence ends at 1.20. The line as shown ends at 1.21, the reversed one at 3.22.",
 "lines": [
  "def kl_estimate(logp, ref_logp, mask):",
  "    log_ratio = ref_logp - logp",
  "    k3 = np.exp(log_ratio) - log_ratio - 1",
  "    return (k3 * mask).sum() / mask.sum()"
 ],
 "other": "    log_ratio = logp - ref_logp",
 "picture": {
  "kind": "curve",
  "caption": "KL estimate during training, 3,200 samples per step",
  "ticks": [0, 1, 2, 3, 4],
  "right": [0.0, 0.001, 0.002, 0.005, 0.008, 0.013, 0.018, 0.025, 0.033, 0.043, 0.055, 0.064, 0.078, 0.092, 0.111, 0.127, 0.146, 0.165, 0.192, 0.219, 0.242, 0.271, 0.315, 0.345, 0.375, 0.436, 0.47, 0.517, 0.579, 0.631, 0.677, 0.726, 0.786, 0.831, 0.895, 0.95, 0.997, 1.074, 1.087, 1.167, 1.208],
  "other": [0.0, 0.001, 0.002, 0.005, 0.008, 0.013, 0.019, 0.026, 0.035, 0.045, 0.06, 0.072, 0.09, 0.106, 0.133, 0.158, 0.187, 0.219, 0.26, 0.303, 0.356, 0.416, 0.506, 0.573, 0.63, 0.786, 0.88, 1.01, 1.158, 1.313, 1.44, 1.59, 1.838, 2.015, 2.148, 2.337, 2.577, 2.792, 2.931, 3.107, 3.219]
 }
},
{
 "id": "completion-mask",
 "title": "The mask of a completion",
 "task": "1 for each token of the completion, 0 for all others. The completion starts at position `prompt_length` and ends with its first `eos`, which belongs to it. `tokens` has one row per text; the prompt may contain `eos` too.",
 "line": 5,
 "kinds": ["mask", "shift", "limit"],
 "explanation": "The cumulative sum already counts the end token at its own position, so the mask leaves out the token that ends the completion. That token never gets a gradient, and the model cannot learn when to stop. We trained a policy whose reward is higher for shorter completions, with GRPO's mean over tokens of each completion. With the right line, the mean length falls from 8.0 to 1.2 tokens; with the bug it is still 6.1.",
 "lines": [
  "def completion_mask(tokens, prompt_length, eos):",
  "    position = np.arange(tokens.shape[1])",
  "    after_prompt = position >= prompt_length",
  "    is_eos = (tokens == eos) & after_prompt",
  "    eos_before = np.cumsum(is_eos, axis=1) - is_eos",
  "    return (after_prompt & (eos_before == 0)).astype(int)"
 ],
 "other": "    eos_before = np.cumsum(is_eos, axis=1)",
 "picture": {
  "kind": "curve",
  "caption": "Mean length of a completion, 20 runs",
  "ticks": [0, 2, 4, 6, 8, 10],
  "right": [8.022, 7.441, 6.628, 7.022, 6.616, 5.787, 5.513, 5.256, 5.234, 4.666, 4.916, 4.537, 4.128, 3.803, 3.934, 3.616, 3.469, 3.253, 3.05, 2.775, 2.694, 2.812, 2.375, 2.328, 2.291, 2.206, 1.884, 1.922, 1.991, 1.934, 1.791, 1.663, 1.734, 1.591, 1.631, 1.512, 1.503, 1.494, 1.359, 1.428, 1.3, 1.3, 1.278, 1.281, 1.262, 1.25, 1.244, 1.225, 1.238, 1.191, 1.228, 1.191, 1.197, 1.169, 1.137, 1.144, 1.125, 1.087, 1.103, 1.166, 1.163],
  "other": [8.022, 7.828, 7.575, 7.963, 7.991, 7.256, 7.353, 7.366, 7.403, 7.494, 7.459, 7.806, 7.4, 7.431, 7.934, 7.891, 7.516, 7.259, 7.612, 7.031, 7.275, 7.197, 7.009, 6.812, 6.775, 6.828, 6.862, 6.975, 7.15, 7.619, 6.888, 6.481, 7.569, 6.828, 7.041, 6.703, 7.172, 6.4, 6.253, 6.719, 6.909, 6.447, 6.537, 6.253, 6.178, 6.669, 6.753, 5.578, 6.684, 6.097, 6.225, 7.172, 6.991, 5.928, 6.291, 5.987, 5.953, 6.138, 6.016, 6.141, 6.109]
 }
},
{
 "id": "kl-penalty",
 "title": "Rewards with a KL penalty",
 "task": "The reward of each completion minus `kl_coef` times its drift: the sum of `logp - ref_logp` over its tokens. The arrays have one row per completion; `mask` is 1 for tokens of the completion and 0 for padding.",
 "line": 4,
 "kinds": ["sign"],
 "explanation": "The plus turns the penalty into a bonus for leaving the reference. In 20 runs of the ten-action bandit the expected reward hides it: 0.85 with the right line, 0.99 with the bug after 60 updates. The KL divergence shows it: it stays at 0.70 with the right line and reaches 2.19 with the bug, where the largest possible value is 2.30.",
 "lines": [
  "def penalized_rewards(rewards, logp, ref_logp, mask, kl_coef):",
  "    log_ratio = logp - ref_logp",
  "    drift = (log_ratio * mask).sum(axis=1)",
  "    return rewards - kl_coef * drift"
 ],
 "other": "    return rewards + kl_coef * drift",
 "picture": {
  "kind": "curve",
  "caption": "KL divergence from the reference, 20 runs",
  "ticks": [0, 0.5, 1, 1.5, 2, 2.5],
  "right": [0.0, 0.002, 0.006, 0.012, 0.022, 0.033, 0.046, 0.062, 0.081, 0.104, 0.129, 0.158, 0.191, 0.226, 0.264, 0.304, 0.345, 0.382, 0.42, 0.458, 0.492, 0.517, 0.536, 0.556, 0.57, 0.572, 0.6, 0.605, 0.624, 0.621, 0.631, 0.635, 0.64, 0.649, 0.643, 0.657, 0.652, 0.665, 0.682, 0.678, 0.669, 0.68, 0.671, 0.677, 0.676, 0.684, 0.7, 0.684, 0.691, 0.699, 0.684, 0.703, 0.69, 0.699, 0.695, 0.699, 0.692, 0.704, 0.69, 0.706, 0.701],
  "other": [0.0, 0.002, 0.006, 0.013, 0.022, 0.034, 0.048, 0.065, 0.087, 0.113, 0.143, 0.18, 0.224, 0.275, 0.333, 0.397, 0.472, 0.553, 0.638, 0.734, 0.833, 0.938, 1.045, 1.152, 1.243, 1.339, 1.43, 1.514, 1.594, 1.659, 1.725, 1.777, 1.819, 1.873, 1.908, 1.945, 1.981, 2.004, 2.023, 2.043, 2.059, 2.071, 2.081, 2.088, 2.099, 2.111, 2.119, 2.126, 2.129, 2.139, 2.141, 2.147, 2.155, 2.162, 2.168, 2.172, 2.176, 2.18, 2.183, 2.184, 2.188]
 }
},
{
 "id": "clipped-objective",
 "title": "The clipped objective",
 "task": "PPO's objective, a mean over tokens that is maximized. Each token counts the smaller of two numbers: ratio times advantage, and the same with the ratio clipped to the band from `1 - clip_eps` to `1 + clip_eps`.",
 "line": 4,
 "kinds": [],
 "explanation": "The code clips without `np.clip` and uses only one bound per token. It is right: if the advantage is positive, only the upper bound can make the product smaller, and if it is negative, only the lower one. The tempting version clips the ratio on both sides. Its gradient is 0 wherever the ratio has left the band, also where the policy went the wrong way: for a bad token at ratio 1.5 the slope is 0.0 instead of −1.5, so nothing pushes it back down.",
 "lines": [
  "def clipped_objective(logp, old_logp, advantages, clip_eps):",
  "    ratio = np.exp(logp - old_logp)",
  "    bound = np.where(advantages > 0, 1 + clip_eps, 1 - clip_eps)",
  "    return np.minimum(ratio * advantages, bound * advantages).mean()"
 ],
 "other": "    return (np.clip(ratio, 1 - clip_eps, 1 + clip_eps) * advantages).mean()",
 "picture": {
  "kind": "advantages",
  "caption": "Slope of the objective with respect to the log-probability of one token",
  "names": ["good, 1.5", "bad, 1.5", "good, 0.5", "bad, 0.5"],
  "axis": "advantage (good +1, bad −1) and ratio",
  "ticks": [-2, -1, 0, 1, 2],
  "limit": 2,
  "right": [0.0, -1.5, 0.5, 0.0],
  "other": [0.0, 0.0, 0.0, 0.0]
 }
},
{
 "id": "sequence-ratio",
 "title": "The ratio of a whole completion",
 "task": "GSPO's ratio of each completion: the exponential of the mean of `logp - old_logp` over its tokens. The arrays have one row per completion; `mask` is 1 for its tokens and 0 for the padding after them.",
 "line": 3,
 "kinds": ["scale", "mask"],
 "explanation": "`mask.shape[1]` is the padded length, the same for every row, so the ratio of a short completion is pulled towards 1. In this call each token has become equally more likely, and every completion should have the ratio 1.35. With the bug, the ratio of a completion with 2 of 16 tokens is 1.04: with `clip_eps` = 0.2 the clip does not stop it, so short completions move further than long ones.",
 "lines": [
  "def sequence_ratio(logp, old_logp, mask):",
  "    log_ratio = (logp - old_logp) * mask",
  "    length = mask.sum(axis=1)",
  "    return np.exp(log_ratio.sum(axis=1) / length)"
 ],
 "other": "    length = mask.shape[1]",
 "picture": {
  "kind": "bars",
  "caption": "Ratio of four completions of different lengths",
  "names": ["2 tokens", "4 tokens", "8 tokens", "16 tokens"],
  "ticks": [0, 0.5, 1, 1.5],
  "right": [1.35, 1.35, 1.35, 1.35],
  "other": [1.038, 1.078, 1.162, 1.35]
 }
},
{
 "id": "pass-at-k",
 "title": "pass@k",
 "task": "The mean over prompts of the probability that at least one of k completions is correct, if k are drawn without replacement from the n that were sampled. `correct` counts the correct ones among the n, for each prompt.",
 "line": 4,
 "kinds": [],
 "explanation": "`n - correct - i` and `n - i` look like an index that got into the arithmetic. They are right: without replacement, each wrong completion that is drawn leaves one fewer to draw. The tempting version draws with replacement and is biased. With 1 correct completion out of 10, pass@10 must be 1.00, because all 10 are drawn; the tempting line says 0.65.",
 "lines": [
  "def pass_at_k(correct, n, k):",
  "    all_wrong = np.ones(len(correct))",
  "    for i in range(k):",
  "        all_wrong = all_wrong * np.maximum(n - correct - i, 0) / (n - i)",
  "    return (1 - all_wrong).mean()"
 ],
 "other": "        all_wrong = all_wrong * (n - correct) / n",
 "picture": {
  "kind": "bars",
  "caption": "pass@k of a prompt with 1 correct completion out of 10",
  "names": ["k = 1", "k = 2", "k = 5", "k = 10"],
  "ticks": [0, 0.25, 0.5, 0.75, 1],
  "right": [0.1, 0.2, 0.5, 1.0],
  "other": [0.1, 0.19, 0.41, 0.651]
 }
},
{
 "id": "kl-controller",
 "title": "An adaptive KL coefficient",
 "task": "The KL divergence from the uniform policy before each update by the exact gradient of reward minus `coef` times KL. `coef` starts at `kl_coef`; each step multiplies it by 1 + 0.1 times the error, `KL / target - 1` within ±0.2.",
 "line": 11,
 "kinds": ["stale"],
 "explanation": "The line multiplies the coefficient of the first step, which never changes, so corrections do not add up: the coefficient stays within 2 % of its start, however far the policy has drifted. In this run the target is 0.2. With the right line, the KL divergence comes back to 0.20; with the bug it stays at 1.28.",
 "lines": [
  "def train(reward_table, kl_coef, target, steps, lr):",
  "    logits, coef, kls = np.zeros(len(reward_table)), kl_coef, []",
  "    for _ in range(steps):",
  "        logp = logits - np.log(np.exp(logits).sum())",
  "        probs = np.exp(logp)",
  "        log_ratio = logp + np.log(len(probs))",
  "        kls.append(probs @ log_ratio)",
  "        value = reward_table - coef * log_ratio",
  "        logits = logits + lr * probs * (value - probs @ value)",
  "        error = np.clip(kls[-1] / target - 1, -0.2, 0.2)",
  "        coef = coef * (1 + 0.1 * error)",
  "    return kls"
 ],
 "other": "        coef = kl_coef * (1 + 0.1 * error)",
 "picture": {
  "kind": "curve",
  "caption": "KL divergence from the reference, target 0.2",
  "ticks": [0, 0.5, 1, 1.5, 2],
  "right": [0.0, 0.0, 0.001, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.018, 0.021, 0.024, 0.028, 0.031, 0.036, 0.04, 0.044, 0.049, 0.054, 0.06, 0.065, 0.071, 0.078, 0.084, 0.091, 0.098, 0.106, 0.114, 0.122, 0.13, 0.139, 0.148, 0.158, 0.168, 0.178, 0.189, 0.2, 0.212, 0.224, 0.236, 0.249, 0.262, 0.275, 0.289, 0.303, 0.317, 0.332, 0.347, 0.362, 0.378, 0.393, 0.409, 0.425, 0.441, 0.457, 0.474, 0.49, 0.506, 0.522, 0.539, 0.555, 0.57, 0.586, 0.602, 0.617, 0.632, 0.647, 0.661, 0.675, 0.689, 0.702, 0.715, 0.728, 0.74, 0.751, 0.763, 0.773, 0.783, 0.793, 0.802, 0.811, 0.819, 0.827, 0.834, 0.841, 0.847, 0.853, 0.858, 0.863, 0.867, 0.87, 0.873, 0.876, 0.878, 0.879, 0.88, 0.881, 0.881, 0.881, 0.88, 0.878, 0.876, 0.874, 0.871, 0.868, 0.864, 0.86, 0.856, 0.851, 0.845, 0.839, 0.833, 0.827, 0.82, 0.813, 0.806, 0.798, 0.79, 0.782, 0.773, 0.765, 0.756, 0.747, 0.738, 0.729, 0.719, 0.71, 0.7, 0.691, 0.681, 0.671, 0.662, 0.652, 0.642, 0.633, 0.623, 0.613, 0.604, 0.594, 0.585, 0.575, 0.566, 0.556, 0.547, 0.538, 0.529, 0.519, 0.51, 0.501, 0.492, 0.483, 0.474, 0.465, 0.457, 0.448, 0.439, 0.43, 0.422, 0.413, 0.405, 0.397, 0.388, 0.38, 0.372, 0.364, 0.356, 0.348, 0.34, 0.332, 0.324, 0.316, 0.309, 0.301, 0.294, 0.287, 0.279, 0.272, 0.265, 0.258, 0.251, 0.244, 0.237, 0.231, 0.224, 0.218, 0.211, 0.205, 0.2, 0.194, 0.189, 0.184, 0.18, 0.175, 0.171, 0.168, 0.165, 0.162, 0.159, 0.156, 0.154, 0.152, 0.151, 0.149, 0.148, 0.147, 0.146, 0.146, 0.145, 0.145, 0.145, 0.145, 0.145, 0.145, 0.145, 0.146, 0.146, 0.147, 0.148, 0.149, 0.15, 0.151, 0.152, 0.153, 0.155, 0.156, 0.158, 0.159, 0.161, 0.163, 0.165, 0.167, 0.169, 0.171, 0.174, 0.176, 0.178, 0.181, 0.183, 0.186, 0.188, 0.191, 0.193, 0.196, 0.198, 0.201, 0.203, 0.205, 0.208, 0.21, 0.212, 0.214, 0.216, 0.218, 0.22, 0.222, 0.224, 0.225, 0.226, 0.228, 0.229, 0.23, 0.23, 0.231, 0.231, 0.232, 0.232, 0.232, 0.231, 0.231, 0.231, 0.23, 0.229, 0.228, 0.227, 0.226, 0.225, 0.224, 0.222, 0.221, 0.219, 0.218, 0.216, 0.215, 0.213, 0.212, 0.21, 0.208, 0.207, 0.205, 0.204, 0.202, 0.201, 0.199, 0.198, 0.197, 0.195, 0.194, 0.193, 0.192, 0.191, 0.19, 0.189, 0.189, 0.188, 0.187, 0.187, 0.186, 0.186, 0.186, 0.186, 0.185, 0.185, 0.185, 0.185, 0.185, 0.185, 0.186, 0.186, 0.186, 0.187, 0.187, 0.187, 0.188, 0.188, 0.189, 0.189, 0.19, 0.191, 0.191, 0.192, 0.193, 0.193, 0.194, 0.195, 0.196, 0.196, 0.197, 0.198, 0.198, 0.199, 0.2, 0.201, 0.201, 0.202, 0.202, 0.203, 0.204, 0.204, 0.205, 0.205, 0.206, 0.206, 0.206, 0.207, 0.207, 0.207, 0.207, 0.208, 0.208, 0.208, 0.208, 0.208, 0.208, 0.208, 0.208, 0.208, 0.208, 0.207, 0.207, 0.207, 0.207, 0.207, 0.206, 0.206, 0.206, 0.205, 0.205, 0.205, 0.204, 0.204, 0.203, 0.203, 0.203, 0.202, 0.202, 0.201, 0.201, 0.201, 0.2, 0.2, 0.2, 0.199, 0.199, 0.199, 0.198, 0.198, 0.198, 0.197],
  "other": [0.0, 0.0, 0.001, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.018, 0.021, 0.024, 0.027, 0.031, 0.035, 0.039, 0.044, 0.048, 0.053, 0.058, 0.064, 0.069, 0.075, 0.081, 0.087, 0.094, 0.101, 0.108, 0.115, 0.122, 0.13, 0.138, 0.146, 0.155, 0.164, 0.173, 0.182, 0.191, 0.201, 0.21, 0.22, 0.231, 0.241, 0.251, 0.262, 0.273, 0.284, 0.295, 0.306, 0.318, 0.329, 0.341, 0.353, 0.365, 0.377, 0.389, 0.401, 0.413, 0.425, 0.437, 0.449, 0.462, 0.474, 0.486, 0.498, 0.51, 0.523, 0.535, 0.547, 0.558, 0.57, 0.582, 0.594, 0.605, 0.617, 0.628, 0.639, 0.65, 0.661, 0.672, 0.682, 0.693, 0.703, 0.714, 0.724, 0.734, 0.743, 0.753, 0.763, 0.772, 0.781, 0.79, 0.799, 0.808, 0.816, 0.825, 0.833, 0.841, 0.849, 0.857, 0.865, 0.873, 0.88, 0.887, 0.894, 0.901, 0.908, 0.915, 0.922, 0.928, 0.935, 0.941, 0.947, 0.953, 0.959, 0.965, 0.971, 0.976, 0.982, 0.987, 0.992, 0.997, 1.002, 1.007, 1.012, 1.017, 1.022, 1.026, 1.031, 1.035, 1.039, 1.044, 1.048, 1.052, 1.056, 1.06, 1.064, 1.067, 1.071, 1.075, 1.078, 1.082, 1.085, 1.088, 1.092, 1.095, 1.098, 1.101, 1.104, 1.107, 1.11, 1.113, 1.116, 1.118, 1.121, 1.124, 1.126, 1.129, 1.131, 1.134, 1.136, 1.139, 1.141, 1.143, 1.145, 1.148, 1.15, 1.152, 1.154, 1.156, 1.158, 1.16, 1.162, 1.164, 1.166, 1.167, 1.169, 1.171, 1.173, 1.174, 1.176, 1.177, 1.179, 1.181, 1.182, 1.184, 1.185, 1.187, 1.188, 1.189, 1.191, 1.192, 1.193, 1.195, 1.196, 1.197, 1.198, 1.2, 1.201, 1.202, 1.203, 1.204, 1.205, 1.206, 1.207, 1.208, 1.209, 1.21, 1.211, 1.212, 1.213, 1.214, 1.215, 1.216, 1.217, 1.218, 1.219, 1.219, 1.22, 1.221, 1.222, 1.223, 1.223, 1.224, 1.225, 1.226, 1.226, 1.227, 1.228, 1.228, 1.229, 1.23, 1.23, 1.231, 1.232, 1.232, 1.233, 1.233, 1.234, 1.234, 1.235, 1.236, 1.236, 1.237, 1.237, 1.238, 1.238, 1.239, 1.239, 1.24, 1.24, 1.241, 1.241, 1.242, 1.242, 1.242, 1.243, 1.243, 1.244, 1.244, 1.245, 1.245, 1.245, 1.246, 1.246, 1.247, 1.247, 1.247, 1.248, 1.248, 1.248, 1.249, 1.249, 1.249, 1.25, 1.25, 1.25, 1.251, 1.251, 1.251, 1.252, 1.252, 1.252, 1.253, 1.253, 1.253, 1.254, 1.254, 1.254, 1.254, 1.255, 1.255, 1.255, 1.256, 1.256, 1.256, 1.256, 1.257, 1.257, 1.257, 1.257, 1.258, 1.258, 1.258, 1.258, 1.259, 1.259, 1.259, 1.259, 1.26, 1.26, 1.26, 1.26, 1.26, 1.261, 1.261, 1.261, 1.261, 1.262, 1.262, 1.262, 1.262, 1.262, 1.263, 1.263, 1.263, 1.263, 1.264, 1.264, 1.264, 1.264, 1.264, 1.265, 1.265, 1.265, 1.265, 1.265, 1.266, 1.266, 1.266, 1.266, 1.266, 1.266, 1.267, 1.267, 1.267, 1.267, 1.267, 1.268, 1.268, 1.268, 1.268, 1.268, 1.269, 1.269, 1.269, 1.269, 1.269, 1.269, 1.27, 1.27, 1.27, 1.27, 1.27, 1.27, 1.271, 1.271, 1.271, 1.271, 1.271, 1.271, 1.272, 1.272, 1.272, 1.272, 1.272, 1.272, 1.273, 1.273, 1.273, 1.273, 1.273, 1.273, 1.274, 1.274, 1.274, 1.274, 1.274, 1.274, 1.275, 1.275, 1.275, 1.275, 1.275, 1.275, 1.276, 1.276, 1.276]
 }
},
{
 "id": "train-bandit",
 "title": "A whole training run",
 "task": "The expected reward of a policy before each of `steps` GRPO updates, from the uniform policy. Each update uses a newly drawn group of actions; all of them come from one random stream, which starts with `seed`.",
 "line": 7,
 "kinds": ["random"],
 "explanation": "Each step begins the random stream again, so every group is drawn with the same 8 random numbers. The run still learns, but it tries only the actions that those 8 numbers pick. The mean expected reward of 50 seeds ends at 0.90 instead of 1.00. A single run does not show it: the best seed with the bug reaches 1.00.",
 "lines": [
  "def train(reward_table, steps, group_size, lr, seed):",
  "    rng = np.random.default_rng(seed)",
  "    logits, curve = np.zeros(len(reward_table)), []",
  "    for _ in range(steps):",
  "        probs = np.exp(logits) / np.exp(logits).sum()",
  "        curve.append(probs @ reward_table)",
  "        actions = rng.choice(len(probs), size=group_size, p=probs)",
  "        rewards = reward_table[actions]",
  "        advantages = (rewards - rewards.mean()) / (rewards.std() + 0.0001)",
  "        pushes = np.bincount(actions, weights=advantages, minlength=len(probs))",
  "        gradient = (pushes - advantages.sum() * probs) / group_size",
  "        logits = logits + lr * gradient",
  "    return curve"
 ],
 "other": "        actions = np.random.default_rng(seed).choice(len(probs), size=group_size, p=probs)",
 "picture": {
  "kind": "curve",
  "caption": "Expected reward, mean of 50 seeds",
  "ticks": [0, 0.25, 0.5, 0.75, 1],
  "right": [0.5, 0.515, 0.53, 0.545, 0.56, 0.574, 0.59, 0.606, 0.622, 0.639, 0.655, 0.672, 0.689, 0.707, 0.725, 0.744, 0.763, 0.782, 0.799, 0.816, 0.832, 0.847, 0.861, 0.874, 0.885, 0.897, 0.907, 0.917, 0.924, 0.932, 0.938, 0.944, 0.949, 0.954, 0.958, 0.962, 0.965, 0.968, 0.97, 0.973, 0.974, 0.976, 0.978, 0.98, 0.981, 0.982, 0.983, 0.984, 0.985, 0.986, 0.986, 0.987, 0.988, 0.988, 0.989, 0.989, 0.989, 0.99, 0.99, 0.991, 0.991, 0.991, 0.991, 0.991, 0.992, 0.992, 0.992, 0.992, 0.993, 0.993, 0.993, 0.993, 0.993, 0.994, 0.994, 0.994, 0.994, 0.994, 0.994, 0.994, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.995, 0.996, 0.996, 0.996, 0.996, 0.996, 0.996],
  "other": [0.5, 0.515, 0.53, 0.545, 0.56, 0.576, 0.592, 0.608, 0.624, 0.641, 0.657, 0.674, 0.691, 0.709, 0.726, 0.743, 0.758, 0.774, 0.789, 0.802, 0.815, 0.827, 0.838, 0.848, 0.856, 0.863, 0.869, 0.875, 0.88, 0.884, 0.887, 0.89, 0.893, 0.895, 0.896, 0.897, 0.898, 0.898, 0.899, 0.899, 0.9, 0.9, 0.9, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901, 0.901]
 }
}
];
