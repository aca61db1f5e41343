"""The model answers. Read in this order: `advantages`, `clip`, `kl`.

Three functions are the whole of GRPO, and the same three train a ten-action bandit and a language model:
`group_advantages` says which samples were better than their group, `clipped_surrogate` says how far one batch of
samples may move the policy, and `kl_estimate` says how far the policy has gone from where it started.

Symbols: P prompts, G samples per prompt (the group size), K actions. Log-probabilities are in nats. An *objective* is
maximized, a *loss* is minimized. The policy that the KL term is measured against is `ref_policy`; "reference" alone is
the name of this folder.

`course dev stubs` writes the stubs in `starter/` from these files: it takes out the regions between the solution
markers. The code that students are given exists once, in `starter/`: `python -m reference.run_bandit` runs it with the
model answers.

Sources: Shao et al. 2024, DeepSeekMath, arXiv:2402.03300 (GRPO); Schulman et al. 2017, Proximal Policy Optimization,
arXiv:1707.06347 (the clip); Schulman 2020, Approximating KL Divergence (the estimators k1, k2, k3).
"""

from pathlib import Path

# Python finds `reference.given` and `reference.run_bandit` in starter/; what they import from an exercise is the model
# answer, because this folder comes first.
__path__.append(str(Path(__file__).parents[1] / "starter"))
