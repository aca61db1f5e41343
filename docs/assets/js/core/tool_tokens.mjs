// What a loss does with the tokens of an agent that a tool wrote (catalogue B13). Two answers with advantages +1 and -1, each
// a row of parts { name, tokens, own }: the model wrote its own parts, and the tool's stand in its context.

const OWN = [["plan", 6], ["call", 4], ["answer", 3]];
export const OWN_TOKENS = OWN.reduce((total, [, tokens]) => total + tokens, 0);
export const ADVANTAGES = [1, -1];

/** The parts of an answer whose tool returned this many tokens. */
export function parts(toolTokens) {
  const [plan, call, answer] = OWN.map(([name, tokens]) => ({ name, tokens, own: true }));
  return [plan, call, { name: "tool", tokens: toolTokens, own: false }, answer];
}

/**
 * Weight times advantage of each token, by the mean over each answer and then over the answers: { own, tool } for one token of
 * each kind. With the mask the tool's tokens are left out of the sum and of the length.
 */
export function push(toolTokens, advantage, { masked }) {
  const each = advantage / (ADVANTAGES.length * (OWN_TOKENS + (masked ? 0 : toolTokens)));
  return { own: each, tool: masked ? 0 : each };
}

/** The share of an answer's push that goes to tokens which the model never chose. */
export const lostShare = (toolTokens, { masked }) => (masked ? 0 : toolTokens / (OWN_TOKENS + toolTokens));
