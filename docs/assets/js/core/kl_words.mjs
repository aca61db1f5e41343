// A policy over a few words, in whole per cents, and where its KL divergence from another comes from.

/** What each word adds to KL(one || other), of log-probabilities; the parts may be negative, their sum never is. */
export const klParts = (one, other) => one.map((logp, j) => Math.exp(logp) * (logp - other[j]));

/**
 * Per cents (integers of at least 1 that sum to 100) after one of them was set: the others share what is left as they
 * shared before, as closely as whole numbers of at least 1 can.
 */
export function withShare(shares, place, percent) {
  const others = shares.reduce((total, share) => total + share, -shares[place]);
  const exact = shares.map((share) => (share * (100 - percent)) / others);
  const found = exact.map((x, j) => (j === place ? percent : Math.max(1, Math.floor(x))));
  for (let left; (left = 100 - found.reduce((total, x) => total + x)); ) {
    const way = Math.sign(left);
    const gaps = exact.map((x, j) => (j === place || found[j] + way < 1 ? -Infinity : way * (x - found[j])));
    found[gaps.indexOf(Math.max(...gaps))] += way;
  }
  return found;
}
