// Scripts run after the first picture of a page: what they do costs time, and a reader reads meanwhile. They run in their
// order, because the course's own need what the theme's provides. A page that nobody sees is not drawn, and does not wait.
// The theme begins when the document is said to be complete, which it is by then, so that is said to it again.
{
  const begin = () => document.dispatchEvent(new Event("DOMContentLoaded"));
  const start = () => {
    for (const [src, type] of SCRIPTS)
      document.body.append(Object.assign(document.createElement("script"), { src, type, async: false, onload: begin }));
  };
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));
}
