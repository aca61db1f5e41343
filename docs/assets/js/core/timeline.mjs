// The timeline of methods around GRPO: who builds on whom, what each one changed, and where its year is.
//
// An entry is { year, parents, changes }: names of what it builds on, the nearest first, and what it changed, by the part
// of the method: { clip: "0.2 below, 0.28 above" }.

/** Entries by their names, from rows of text: name, year, "PPO, TRPO" or "–", "clip: 1 ± ε; KL: none". */
export const entriesOf = (rows) => Object.fromEntries(rows.map(([name, year, parents, changes]) => [name, {
  year: Number(year),
  parents: parents === "\u2013" ? [] : parents.split(", "),
  changes: Object.fromEntries(changes.split("; ").map((change) => change.split(": "))),
}]));

/** The way from the first ancestor to an entry, by the nearest parents: ["REINFORCE", "+ baseline", "A3C", "PPO"]. */
export function lineTo(name, entries) {
  const line = [];
  for (let next = name; next; [next] = entries[next].parents) line.unshift(next);
  return line;
}

/** Those that build directly on an entry. */
export const childrenOf = (name, entries) => Object.keys(entries).filter((other) => entries[other].parents.includes(name));

/** What the nearest ancestors had made of a part; null if none of them changed it. */
export function inherited(name, part, entries) {
  const { parents } = entries[name];
  const found = parents.find((parent) => part in entries[parent].changes);
  if (found) return entries[found].changes[part];
  return parents.map((parent) => inherited(parent, part, entries)).find((change) => change !== null) ?? null;
}

/** Those that changed a part, in their order. */
export const changersOf = (part, entries) => Object.keys(entries).filter((name) => part in entries[name].changes);

/**
 * Middles of the columns of all entries between two pixels, one column for each, and the years as { year, left, right }.
 * Columns are equally wide, but a year is at least `least` pixels wide, so that its number fits below it.
 */
export function columns(entries, from, to, least) {
  const counts = new Map();
  for (const { year } of Object.values(entries)) counts.set(year, (counts.get(year) ?? 0) + 1);
  const wide = share([...counts.values()], to - from, least);
  const middles = [];
  const years = [];
  let left = from;
  for (const [year, count] of counts) {
    const room = wide[years.length];
    for (let k = 0; k < count; k++) middles.push(left + ((k + 0.5) / count) * room);
    years.push({ year, left, right: (left += room) });
  }
  return { middles, years };
}

/** Room by counts, but at least `least` for each. */
function share(counts, room, least) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const small = counts.map((count) => (count / total) * room < least);
  const rest = counts.reduce((sum, count, i) => sum + (small[i] ? 0 : count), 0);
  const left = room - least * small.filter(Boolean).length;
  return counts.map((count, i) => (small[i] ? least : (count / rest) * left));
}
