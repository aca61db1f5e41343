// A family tree: who builds on whom. `parents` names the parent of each member, null for the first.

/** The way from the first ancestor to a member: ["REINFORCE", "PPO", "GRPO"]. */
export function lineTo(name, parents) {
  const line = [];
  for (let next = name; next; next = parents[next]) line.unshift(next);
  return line;
}

/** Those that build directly on a member. */
export const childrenOf = (name, parents) => Object.keys(parents).filter((other) => parents[other] === name);
