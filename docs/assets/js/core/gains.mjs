// Scores of DeepSeekMath 7B before and after GRPO, in percent of the questions solved (Shao et al. 2024,
// arXiv:2402.03300, table 5: Instruct and RL). GRPO was trained on questions like those of GSM8K and MATH only.

const TESTS = ["GSM8K", "MATH", "MGSM-zh", "CMATH"];
const SCORES = {
  words: { before: [82.9, 46.8, 73.2, 84.6], after: [88.2, 51.7, 79.6, 88.8] },
  tools: { before: [83.7, 57.4, 72.0, 84.3], after: [86.7, 58.8, 78.4, 87.6] },
};

/** The tests, for a way to answer ("words" or "tools"): scores, points gained, share of the mistakes that are gone. */
export function gains(way) {
  const { before, after } = SCORES[way];
  return TESTS.map((test, i) => {
    const points = after[i] - before[i];
    return { test, before: before[i], after: after[i], points, mistakesGone: points / (100 - before[i]) };
  });
}
