// The group of a step: each completion with its reward and advantage, each letter with its push. A letter is a button; one of
// them is a stop of the Tab key, and the arrow keys go on from there.
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";

const AT_MOST = 8; // completions that are drawn while a run goes on

export const plain = (letter) => (letter === " " ? "␣" : letter);

/** { node, draw({ run, step, group, chosen, playing }) }; `choose(row, letter)` and `turn(by)` are called by its buttons. */
export function completions(choose, turn) {
  const list = element("ol", { class: "lm-rows" });
  const title = element("h2", { class: "grpo-title" }, "The group");
  const note = element("p", { class: "grpo-readout" });
  const [back, forward] = [["Previous group", -1, "‹"], ["Next group", 1, "›"]].map(([name, by, sign]) =>
    element("button", { type: "button", class: "grpo-round", "aria-label": name, title: name, onclick: () => turn(by) }, sign));
  const node = element("section", { class: "lm-group", "aria-label": "Completions of the step" }, element("div", { class: "lm-head" }, title, back, forward), note, list);

  list.addEventListener("click", ({ target }) => {
    const letter = target.closest("[data-letter]");
    if (letter) choose(Number(letter.closest("li").dataset.row), Number(letter.dataset.letter));
  });

  list.addEventListener("keydown", (event) => {
    const [down, right] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key] ?? [];
    const letter = event.target.closest("[data-letter]");
    if (down === undefined || !letter) return;
    event.preventDefault();
    const row = list.children[Number(letter.closest("li").dataset.row) + down]?.querySelectorAll(".lm-letter");
    const next = row?.[Math.min(row.length - 1, Number(letter.dataset.letter) + right)];
    if (!next) return;
    letter.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  function draw({ run, step, group, chosen, playing }) {
    back.hidden = forward.hidden = run.state.p < 2;
    if (!step) {
      title.textContent = "The group";
      note.textContent = "Not drawn yet.";
      return list.replaceChildren();
    }
    const rows = run.group(step, group);
    const most = Math.max(1e-12, ...rows.flatMap(({ tokens }) => tokens.map(({ push }) => Math.abs(push))));
    title.textContent = `Step ${step}: ${run.state.p > 1 ? `group ${group + 1} of ${run.state.p}` : "the group"}, after “${rows[0].prompt}”`;
    const equal = rows.every(({ reward }) => reward === rows[0].reward);
    note.textContent = equal ? `All rewards are ${fixed(rows[0].reward)}: no signal, every advantage is 0.`
      : "Coin: reward. Signed number: advantage. Each letter is lifted or pressed by its push; press one to see why.";
    list.replaceChildren(...rows.slice(0, playing ? AT_MOST : rows.length).map((row, i) => drawn(row, i, most, chosen)));
  }
  return { node, draw };
}

function drawn({ text, reward, advantage, tokens }, i, most, chosen) {
  const side = advantage > 0 ? "up" : advantage < 0 ? "down" : "flat";
  return element("li", { "data-row": i, class: side },
    element("span", { class: reward > 0 ? "lm-coin" : "lm-coin none", title: "reward" }, fixed(reward, Number.isInteger(reward) ? 0 : 2)),
    element("span", { class: "lm-advantage", title: "advantage" }, signed(advantage)),
    element("span", { class: "lm-letters" }, Array.from(text, (letter, t) => {
      const { push, bound } = tokens[t];
      const way = Math.abs(push) < 1e-12 ? "flat" : push > 0 ? "up" : "down";
      return element("button", { type: "button", "data-letter": t, class: `lm-letter ${way}${bound ? " bound" : ""}`, style: `--push:${(Math.abs(push) / most).toFixed(3)}`, tabindex: i === (chosen?.row ?? 0) && t === (chosen?.letter ?? 0) ? 0 : -1,
        "aria-pressed": chosen?.row === i && chosen.letter === t ? "true" : "false", "aria-label": `${letter === " " ? "space" : letter}, push ${signed(push, 4)}` }, plain(letter));
    })));
}
