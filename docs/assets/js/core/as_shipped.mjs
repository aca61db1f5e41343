// Comparing the recorded gradients of two libraries. A push is minus the gradient of the loss in a token's log-probability.

const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

/** The push of each token, by completion. */
export const pushes = ({ gradient }, factor = 1) => gradient.map((row) => row.map((x) => -factor * x));

/** Length of the second gradient relative to the first, and the cosine between them. */
export function compare(first, second) {
  const [a, b] = [first, second].map(({ gradient }) => gradient.flat());
  const [own, other] = [Math.sqrt(dot(a, a)), Math.sqrt(dot(b, b))];
  return { length: other / own, cosine: dot(a, b) / (own * other) };
}

/** Names of the runs that compute exactly this; "any" leaves a part open. */
export const matching = (runs, wanted) =>
  runs.filter(({ facets }) => wanted.every((each, i) => each === "any" || each === facets[i])).map(({ name }) => name);
