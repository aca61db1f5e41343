// Two tabs: the picture, and the numbers behind it.
import { element, uniqueId } from "./element.mjs";

/** { tabs, panels, choose(name) } of "Picture", which is shown first, and "Numbers"; the arrow keys go from one to the other. */
export function pictureAndNumbers(picture, numbers) {
  const both = [["Picture", "grpo-picture", picture], ["Numbers", "grpo-numbers", numbers]].map(([name, style, nodes]) => {
    const tab = element("button", { type: "button", role: "tab", id: uniqueId("tab"), onclick: () => choose(name) }, name);
    const panel = element("div", { class: style, role: "tabpanel", id: uniqueId("panel"), "aria-labelledby": tab.id, tabindex: "0" }, nodes);
    tab.setAttribute("aria-controls", panel.id);
    return { name, tab, panel };
  });
  function choose(chosen) {
    for (const { name, tab, panel } of both) {
      const on = name === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      panel.classList.toggle("grpo-behind", !on);
    }
  }
  choose("Picture");
  const tabs = element("div", { class: "grpo-tabs", role: "tablist", "aria-label": "View", onkeydown: ({ key }) => {
    if (key !== "ArrowLeft" && key !== "ArrowRight") return;
    const { name, tab } = both.find(({ tab }) => tab.tabIndex < 0);
    choose(name);
    tab.focus();
  } }, both.map(({ tab }) => tab));
  return { tabs, panels: both.map(({ panel }) => panel), choose };
}
