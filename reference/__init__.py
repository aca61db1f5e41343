"""The model answers. Read in this order: `advantages`, `clip`, `kl`.

Three functions are the whole of GRPO, and the same three train a ten-action bandit and a language model:
`group_advantages` says which samples were better than their group, `clipped_surrogate` says how far one batch of
samples may move the policy, and `kl_estimate` says how far the policy has gone from where it started.

Symbols: P prompts, G samples per prompt (the group size), K actions. Log-probabilities are in nats. An *objective* is
maximized, a *loss* is minimized. The policy that the KL term is measured against is `ref_policy`; "reference" alone is
the name of this folder.

`starter/` is written from these files by `course dev stubs`, which takes out the regions between the solution markers.

Sources: Shao et al. 2024, DeepSeekMath, arXiv:2402.03300 (GRPO); Schulman et al. 2017, Proximal Policy Optimization,
arXiv:1707.06347 (the clip); Schulman 2020, Approximating KL Divergence (the estimators k1, k2, k3).
"""
