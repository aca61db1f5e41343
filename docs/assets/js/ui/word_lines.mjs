/** Words of a drawing, where text has no line breaks, in lines of at most so many characters. */
export function lines(text, most) {
  const found = [""];
  for (const word of text.trim().split(/ +/)) {
    if (found.at(-1) && `${found.at(-1)} ${word}`.length > most) found.push("");
    found.push(`${found.pop()} ${word}`.trim());
  }
  return found;
}
