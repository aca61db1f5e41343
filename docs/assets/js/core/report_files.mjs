// What the file of a report says of the exercises: that of `grade --json`, or of `grade --write html`. No page, no browser.

/** How many functions each exercise has. `course dev numbers` writes these lines. */
const FUNCTIONS = {
  advantages: 2,
  clip: 3,
  kl: 2,
  bandit: 4,
  charlm: 6,
};
const NO_REPORT = "This is not a report of the grader. Choose a file that grade --json FILE or grade --write html=FILE wrote.";

/**
 * What a report says: [{ name, earned, points, passed }]. An exercise is passed if it has all its points and all its
 * functions were graded. Throws an Error for a text that is no report.
 */
export function readReport(text) {
  const found = text.trimStart().startsWith("{") ? fromJson(text) : fromHtml(text);
  const known = found.filter(({ name }) => name in FUNCTIONS);
  if (!known.length) throw new Error(NO_REPORT);
  return known.map(({ name, earned, points, functions }) =>
    ({ name, earned, points, passed: earned === points && functions === FUNCTIONS[name] }));
}

function fromJson(text) {
  try {
    return JSON.parse(text).exercises.map(({ name, earned, points, checks }) =>
      ({ name, earned, points, functions: new Set(checks.map((check) => check.function)).size }));
  } catch {
    throw new Error(NO_REPORT);
  }
}

/** The page has a section for each exercise, with its points in the first sentence and a heading for each function. */
function fromHtml(text) {
  return text.split("<section").slice(1).map((section) => {
    const [, name] = /^ id="(\w+)"/.exec(section) ?? [];
    const [, earned, points] = /<strong>(\d+) of (\d+) points/.exec(section) ?? [];
    return { name, earned: Number(earned), points: Number(points), functions: section.split("<h3><code>").length - 1 };
  });
}

/** What readReport() has found, in a sentence. */
export function sentence(report) {
  const left = report.filter(({ passed }) => !passed).map(({ name, earned, points }) =>
    earned === points ? `${name}, where some functions were not graded` : `${name}, ${earned} of ${points} points`);
  const names = report.filter(({ passed }) => passed).map(({ name }) => name);
  return [names.length && `Passed: ${names.join(", ")}.`, left.length && `Not yet: ${left.join("; ")}.`].filter(Boolean).join(" ");
}
