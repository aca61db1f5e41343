// Equal rewards in floating point: what the formula of the advantage gives where every advantage should be exactly 0.

/** How a dtype rounds. JavaScript computes in float64; rounded after every operation, that is float32 bit for bit. */
const ROUND = { float32: Math.fround, float64: (x) => x };

/**
 * The advantage of each of G equal rewards, by the formula alone, with what it is made of: { stored, mean, centred, std,
 * advantage }. Sums run from left to right; another order gives another rounding error.
 */
export function equalGroup(reward, groupSize, { stdEps = 1e-8, dtype = "float32" } = {}) {
  const round = ROUND[dtype];
  const stored = round(reward);
  const meanOf = (x) => {
    let total = 0;
    for (let i = 0; i < groupSize; i++) total = round(total + x);
    return round(total / groupSize);
  };
  const mean = meanOf(stored);
  const centred = round(stored - mean);
  const std = round(Math.sqrt(meanOf(round(centred * centred))));
  return { stored, mean, centred, std, advantage: round(centred / round(std + round(stdEps))) };
}
