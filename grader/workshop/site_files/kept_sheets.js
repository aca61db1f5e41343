// The theme sets every address of a loaded page to itself, as a whole one. A style sheet whose address is set is read
// again, and then the whole page is styled and laid out a second time. The theme compares these addresses with those of
// the next page, so they are set when a click leaves this one.
{
  const sheets = document.querySelectorAll("link[rel=stylesheet]");
  for (const sheet of sheets) {
    const { href } = sheet;
    Object.defineProperty(sheet, "href", { configurable: true, get: () => href, set() {} });
  }
  const leave = ({ target }) => {
    const link = target.closest("a[href]");
    if (!link || link.pathname === location.pathname) return;
    document.removeEventListener("click", leave, true);
    for (const sheet of sheets) {
      delete sheet.href;
      sheet.href = sheet.href;
    }
  };
  document.addEventListener("click", leave, true);
}
