// Rewards of the bandit's actions.

/** Rewards max(0, 1 - |a - peak| / width) of the actions a = 1, ..., actions. */
export const singlePeak = (peak = 7, { width = 5, actions = 10 } = {}) =>
  Array.from({ length: actions }, (_, j) => Math.max(0, 1 - Math.abs(j + 1 - peak) / width));

/** Rewards with a summit of 0.7 at action 3 and one of 1 at action 8. */
export function doublePeak() {
  const high = singlePeak(8, { width: 3 });
  return singlePeak(3, { width: 3 }).map((low, j) => Math.max(0.7 * low, high[j]));
}

/** Rewards a / 10 of ten actions. */
export const linear = () => singlePeak().map((_, j) => (j + 1) / 10);

/** Place of the best action, counted from 0: the first with the largest reward. */
export const bestAction = (rewardTable) => rewardTable.indexOf(Math.max(...rewardTable));
