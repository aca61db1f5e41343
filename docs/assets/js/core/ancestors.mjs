// The lineage of GRPO: what each method subtracts from the reward, and what else it changed.
//
// `from` names what a method builds on; the first gave it its baseline and is followed back to REINFORCE. `kin` is the
// same idea without a claim of descent. `checked`: the formula was read in the primary source or in its authors' code.
// x and y are places on a map.
import { lineTo } from "./family.mjs";

export const METHODS = {
  reinforce: {
    name: "REINFORCE", year: 1992, from: [], x: 1, y: 0,
    baseline: "none", critic: "no", clip: "no",
    formula: "A = r", change: "More of what was rewarded: the reward itself is the weight of a sample.",
    source: "Williams, Machine Learning 8",
    link: "https://doi.org/10.1007/BF00992696", checked: false,
  },
  baseline: {
    name: "+ baseline", year: 1992, from: ["reinforce"], x: 1, y: 1,
    baseline: "mean of earlier rewards", critic: "no", clip: "no",
    formula: "A = r \u2212 b, where b does not depend on the sample",
    change: "A number is subtracted from every reward. The mean gradient stays, its noise usually shrinks.",
    source: "Williams, Machine Learning 8",
    link: "https://doi.org/10.1007/BF00992696", checked: false,
  },
  actorCritic: {
    name: "A3C, A2C", year: 2016, from: ["baseline"], x: 0, y: 2,
    baseline: "learned value V(s)", critic: "yes", clip: "no",
    formula: "A = r + \u03b3 V(next s) \u2212 V(s), or over several steps",
    change: "A second network, the critic, learns a baseline for each state. Actor-critic methods are older; "
      + "this is a widely used form.",
    source: "Mnih et al., arXiv:1602.01783 (A3C; A2C is its version without asynchrony, and came later)",
    link: "https://arxiv.org/abs/1602.01783", checked: false,
  },
  trpo: {
    name: "TRPO", year: 2015, from: ["baseline"], x: 1, y: 2,
    baseline: "as chosen, often V(s)", critic: "optional", clip: "no: KL limit",
    formula: "raise mean(\u03c1 A) while KL(\u03c0_old, \u03c0_\u03b8) stays below a limit",
    change: "Importance ratios, so that a batch can carry one large step, and a limit for that step.",
    source: "Schulman et al., arXiv:1502.05477",
    link: "https://arxiv.org/abs/1502.05477", checked: false,
  },
  rloo: {
    name: "RLOO", year: 2019, from: ["baseline"], x: 2, y: 2,
    baseline: "mean of the other samples", critic: "no", clip: "no",
    formula: "A_i = r_i \u2212 mean of the other G \u2212 1 rewards = G / (G \u2212 1) \u00b7 (r_i \u2212 mean(r))",
    change: "Several samples of one prompt are each other's baseline. Used for language models by Ahmadian et "
      + "al. 2024, arXiv:2402.14740.",
    source: "Kool et al., Buy 4 REINFORCE Samples, Get a Baseline for Free",
    link: "https://openreview.net/forum?id=r1lgTGL5DE", checked: false,
  },
  ppo: {
    name: "PPO", year: 2017, from: ["actorCritic", "trpo"], x: 0.5, y: 3,
    baseline: "learned value V(s)", critic: "yes", clip: "yes",
    formula: "min(\u03c1 A, clip(\u03c1, 1 \u2212 \u03b5, 1 + \u03b5) A), A from a critic",
    change: "The clip takes the place of the limit: simple, and good for several updates with one batch.",
    source: "Schulman et al., arXiv:1707.06347",
    link: "https://arxiv.org/abs/1707.06347", checked: true,
  },
  grpo: {
    name: "GRPO", year: 2024, from: ["ppo"], kin: "rloo", x: 1, y: 4,
    baseline: "mean of the group", critic: "no", clip: "yes",
    formula: "A_i = (r_i \u2212 mean(r)) / std(r)",
    change: "PPO without the critic: the group of samples is the baseline, its standard deviation the unit.",
    source: "Shao et al., DeepSeekMath, arXiv:2402.03300",
    link: "https://arxiv.org/abs/2402.03300", checked: true,
  },
  drGrpo: {
    name: "Dr. GRPO", year: 2025, from: ["grpo"], x: 0, y: 5,
    baseline: "mean of the group", critic: "no", clip: "yes",
    formula: "A_i = r_i \u2212 mean(r)",
    change: "Leaves out the division by the standard deviation, and the division by the length of the answer.",
    source: "Liu et al., arXiv:2503.20783",
    link: "https://arxiv.org/abs/2503.20783", checked: true,
  },
  dapo: {
    name: "DAPO", year: 2025, from: ["grpo"], x: 1, y: 5,
    baseline: "mean of the group", critic: "no", clip: "yes, two ends",
    formula: "A_i = (r_i \u2212 mean(r)) / std(r), prompts without a signal left out",
    change: "A higher upper end of the clip, no group without a signal, a mean over all tokens, no KL "
      + "penalty, softer punishment of overlong answers.",
    source: "Yu et al., arXiv:2503.14476",
    link: "https://arxiv.org/abs/2503.14476", checked: true,
  },
  gspo: {
    name: "GSPO", year: 2025, from: ["grpo"], x: 2, y: 5,
    baseline: "mean of the group", critic: "no", clip: "yes, per answer",
    formula: "A_i = (r_i \u2212 mean(r)) / std(r), one ratio for the whole answer",
    change: "One importance ratio and one clip for each answer, in place of one for each token.",
    source: "Zheng et al., arXiv:2507.18071",
    link: "https://arxiv.org/abs/2507.18071", checked: true,
  },
};

/** The names of a method's first parents, from REINFORCE on, itself included. */
export const lineage = (key) => lineTo(key, FIRST_PARENTS);

const FIRST_PARENTS = Object.fromEntries(Object.entries(METHODS).map(([key, { from: [first] }]) => [key, first]));
