// Three ways to average over the tokens of completions with different lengths (catalogue B03).
// n_i tokens in completion i, G completions.

/** Weight of each single token of every completion (G,), by the way of averaging; `limit` is the constant length. */
export function tokenWeights(lengths, { limit }) {
  const tokens = lengths.reduce((total, n) => total + n, 0);
  return {
    sequence: lengths.map((n) => 1 / (lengths.length * n)), // the mean of each completion first
    token: lengths.map(() => 1 / tokens),
    constant: lengths.map(() => 1 / (lengths.length * limit)),
  };
}

/** Policy loss on fresh samples, where all ratios are 1: minus the sum over the tokens of weight * advantage. */
export const freshLoss = (weights, lengths, advantages) =>
  -weights.reduce((total, weight, i) => total + weight * lengths[i] * advantages[i], 0);
