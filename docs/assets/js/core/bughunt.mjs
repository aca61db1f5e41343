// The rules of "Find the silent bug". An answer is { line, kind }: the number of a line, from 1, and a kind of bug; line 0
// says that there is no bug.

export const POINTS = 2; // of a piece

/** Whether a piece is shown with its wrong line. */
export const hasBug = ({ kinds }) => kinds.length > 0;

/** The lines of a right piece with its other line in place. */
export const otherLines = ({ lines, line, other }) => lines.map((text, i) => (i + 1 === line ? other : text));

/** The lines as the reader gets them. */
export const shownLines = (piece) => (hasBug(piece) ? otherLines(piece) : piece.lines);

/** One point for the line and one for its kind; both for saying that a right piece has no bug. */
export function points(piece, answer) {
  if (!answer) return 0;
  if (!hasBug(piece)) return answer.line === 0 ? POINTS : 0;
  if (answer.line !== piece.line) return 0;
  return piece.kinds.includes(answer.kind) ? POINTS : 1;
}

export const total = (pieces, answers) => pieces.reduce((sum, piece) => sum + points(piece, answers[piece.id]), 0);

/** The answers among what was stored; what belongs to no piece, or is none, is dropped. */
export function validAnswers(pieces, stored, kinds) {
  const isAnswer = ({ lines }, answer) => Number.isInteger(answer?.line)
    && (answer.line === 0 || (answer.line >= 2 && answer.line <= lines.length && Object.hasOwn(kinds, answer.kind)));
  return Object.fromEntries(pieces.filter((piece) => isAnswer(piece, stored?.[piece.id]))
    .map(({ id }) => [id, { line: stored[id].line, kind: stored[id].kind }]));
}

/** The next piece without an answer, after a place and then from the start; undefined if all have one. */
export const nextOpen = (pieces, answers, after = -1) =>
  [...pieces.slice(after + 1), ...pieces.slice(0, after + 1)].find(({ id }) => !answers[id]);

/** What is wrong with an answer, or right, in a sentence. */
export function verdict(piece, answer, kinds) {
  if (!hasBug(piece)) return answer.line === 0 ? "Right: there is no bug." : `There is no bug. Line ${piece.line} only looks odd.`;
  const where = `${kinds[piece.kinds[0]]} in line ${piece.line}`;
  const earned = points(piece, answer);
  if (earned === POINTS) return `Right: ${kinds[answer.kind]} in line ${piece.line}.`;
  if (earned) return `The right line, but not the right kind: ${where}.`;
  return answer.line === 0 ? `There is a bug: ${where}.` : `The bug is elsewhere: ${where}.`;
}

/** A line to share: the score, a sign per piece that gives nothing away, and the address. */
export function shareLine(pieces, answers, address) {
  const signs = pieces.map((piece) => "○◐●"[points(piece, answers[piece.id])]).join("");
  return `Find the silent bug: ${total(pieces, answers)} of ${POINTS * pieces.length} ${signs} ${address}`;
}
