// Runs before the theme's script. The index of the search is larger than everything else on a page, so it waits until the
// search is opened; it loads at once where the words of a search are to be marked (?h=).
{
  const { open, send } = XMLHttpRequest.prototype;
  const late = new WeakSet();
  const opened = new Promise((searched) => {
    const search = "[data-md-toggle=search], [data-md-component=search]";
    for (const kind of ["change", "click"])
      document.addEventListener(kind, ({ target }) => target.closest(search) && searched(), true);
  });
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    if (/\/search(_index)?\.json$/.test(address)) late.add(this);
    open.call(this, method, address, ...rest);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (!late.has(this) || /[?&]h=/.test(location.search)) send.apply(this, body);
    else opened.then(() => send.apply(this, body));
  };
}
