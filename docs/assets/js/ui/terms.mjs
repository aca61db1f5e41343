// Who points at a term, in a formula, in code or at a link to the glossary, sees where else it is. A selector with :has
// would do it without a script, and make every change of the page several times as slow.
const point = ({ target }) => {
  document.body.dataset.term = /term-(\w+)/.exec(target.closest("[class*=term-]")?.getAttribute("class"))?.[1] ?? "";
};

document.addEventListener("pointerover", point);
document.addEventListener("focusin", point);
