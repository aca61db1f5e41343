// Scripts run after the first picture of a page: what they do costs time, and a reader reads meanwhile. The course's own
// need what the theme's provides. A page that nobody sees yet, in a tab or a frame further down, is not drawn; it waits
// three seconds. The theme begins when the document is said to be complete, which it is by then, so that is said again.
{
  const [address, ...own] = SCRIPTS;
  const goOn = () => {
    document.dispatchEvent(new Event("DOMContentLoaded"));
    for (const each of own) import(new URL(each, location));
  };
  const theme = Object.assign(document.createElement("script"), { onload: goOn, onerror: goOn, src: address });
  const start = () => theme.isConnected || document.body.append(theme);
  requestAnimationFrame(() => setTimeout(start));
  setTimeout(start, 3000);
}
