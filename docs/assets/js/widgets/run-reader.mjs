// <grpo-run-reader>: two doors, a log to paste and symptoms to choose from, and one place for what they say. The texts stand
// in the page under headings; the rules are in core/run_rules.mjs.
import { readLogInPieces } from "../core/run_log.mjs";
import { asText, readingOf } from "../core/run_reading.mjs";
import { button } from "../ui/controls.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { copy } from "../ui/files.mjs";
import { Widget } from "../ui/widget.mjs";
import { curvesOf } from "./run-reader/curves.mjs";
import { settingsForm } from "./run-reader/settings.mjs";
import { logsIn, symptomList, textsIn, withCode } from "./run-reader/symptoms.mjs";

const SHOWN = 4000; // characters of a long paste that the field shows: more would freeze it
const LEVELS = { stop: "Stop", look: "Look", normal: "Normal" };
const REFUSED = {
  nothing: "No numbers of a training run were found. These are examples of what works:",
  other: "These lines are not from GRPO: they look like supervised fine-tuning, preference training, or PPO with a critic. The rules here do not fit them, so there is no finding.",
};
const pause = () => new Promise((resolve) => setTimeout(resolve));

class RunReader extends Widget {
  setup() {
    this.texts = textsIn(this.fallback);
    this.text = "";
    this.settings = {};
    this.status = element("p", { class: "grpo-status", role: "status" });
    this.result = element("div", { class: "grpo-run-result" });
    this.list = symptomList(this.texts, (id) => this.choose(id));
    this.append(element("div", { class: "grpo-run-doors" },
      element("section", { "aria-label": "Paste or drop a log" }, element("h2", {}, "Paste or drop a log"), this.door()),
      element("section", { "aria-label": "Choose what you see" }, element("h2", {}, "Or choose what you see"), this.list.node)),
    this.status, this.result);
    this.onhash = () => this.choose(decodeURIComponent(location.hash.slice(1)));
    addEventListener("hashchange", this.onhash);
    this.addEventListener("click", (event) => {
      const [, id] = event.target.closest?.("a[href^='#']")?.getAttribute("href").split("#") ?? [];
      if (this.texts[id]) this.choose(id);
    });
    if (location.hash) this.onhash();
  }

  disconnectedCallback() {
    removeEventListener("hashchange", this.onhash);
  }

  door() {
    const id = uniqueId("log");
    this.field = element("textarea", { id, rows: 9, spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      placeholder: "{'loss': 0.0, 'grad_norm': 0.47, 'reward': 0.31, ...}\nstep:12 - actor/entropy:0.41 - critic/score/mean:0.33 - ...",
      onpaste: (event) => this.pasted(event),
      oninput: () => {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.read(this.field.value), 250);
      } });
    const file = element("input", { type: "file", multiple: true, class: "grpo-run-file", "aria-label": "Choose files with a log",
      onchange: () => this.take(file.files) });
    const door = element("div", { class: "grpo-run-door",
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        this.take(event.dataTransfer.files);
      } },
    element("label", { for: id }, "Console output, a table, JSON or CSV. It stays in this browser."), this.field,
    element("div", { class: "grpo-bar" }, file, button("Clear", () => this.clear())),
    element("div", { class: "grpo-bar" }, element("span", { class: "grpo-run-try" }, "Try:"),
      logsIn(this.fallback).map(([name, text]) => button(name, () => this.show(text)))),
    settingsForm((settings) => {
      this.settings = settings;
      if (this.text) this.read(this.text);
    }));
    return door;
  }

  /** A long text would freeze the field, so the field gets its beginning only. */
  pasted(event) {
    const text = event.clipboardData?.getData("text") ?? "";
    if (text.length < 100_000 && (this.field.value || text.split("\n").length < 2)) return; // it is added to what is there
    event.preventDefault();
    this.show(text);
  }

  async take(files) {
    const texts = await Promise.all([...files].map((file) => file.text()));
    this.show(texts.join("\n"));
  }

  /** Reads a text that comes as a whole, and goes to what it says. */
  async show(text) {
    this.field.value = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n… (${(text.length / 1e6).toFixed(1)} MB, all of it is read)` : text;
    await this.read(text);
    this.status.scrollIntoView({ block: "nearest" });
    if (this.status.getBoundingClientRect().bottom > innerHeight - 200) this.status.scrollIntoView({ block: "start" });
  }

  clear() {
    this.text = this.field.value = this.status.textContent = "";
    this.reading = null;
    this.result.replaceChildren();
    this.field.focus();
  }

  async read(text) {
    this.text = text;
    if (!text.trim()) return this.clear();
    this.status.textContent = "Reading …";
    const parsed = await readLogInPieces(text, pause);
    if (this.text !== text) return; // another text came meanwhile
    await pause();
    this.reading = readingOf(parsed, this.settings);
    await pause();
    const { summary, findings, refusal } = this.reading;
    this.status.replaceChildren(...withCode(refusal ? `${summary && `I read: ${summary} `}${REFUSED[refusal]}` : `I read: ${summary}`));
    if (refusal) return this.result.replaceChildren(...(refusal === "nothing" ? [works()] : []));
    this.result.replaceChildren(...findings.map((found) => this.card(found)), this.notes(), element("p", { class: "grpo-run-unknown" }, this.reading.unknown), this.copyBar(),
      ...curvesOf(this.reading));
  }

  /** One finding: its level and name, the numbers of this run, and the text of the page. */
  card({ id, level, facts }) {
    const text = this.texts[id];
    return element("article", { class: `grpo-run-card ${level}`, "data-id": id },
      element("h3", {}, element("span", { class: "grpo-run-level" }, LEVELS[level]), element("span", {}, withCode(text.title))),
      facts?.length ? element("p", { class: "grpo-run-facts" }, withCode(facts.join(" "))) : "",
      element("div", {}, text.body.map(withoutLevel)));
  }

  notes() {
    const { notes } = this.reading;
    if (!notes.length) return "";
    return element("section", { class: "grpo-run-notes" }, element("h3", {}, "Also seen, and normal"),
      element("ul", {}, notes.map(({ id, facts }) => element("li", {}, withCode(facts.join(" ")), " ",
        this.texts[id] ? element("a", { href: `#${id}` }, "Why") : ""))));
  }

  copyBar() {
    const told = element("span", { role: "status" });
    return element("div", { class: "grpo-bar" }, button("Copy this reading", async () => {
      const done = await copy(asText(this.reading, this.texts));
      told.textContent = done ? "Copied." : "The browser did not allow it: select the text instead.";
    }), told);
  }

  /** Shows the text of a symptom that the reader chose. */
  choose(id) {
    if (!this.texts[id]) return;
    this.list.mark(id);
    this.status.textContent = "You chose what you see. With a log, the reading names lines and values.";
    const card = this.card({ id, level: this.texts[id].level });
    this.result.replaceChildren(card);
    card.tabIndex = -1;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }
}

/** A copy of a node of the page's text; the card's head already says the level. */
function withoutLevel(node, place) {
  const copied = node.cloneNode(true);
  if (place === 0) copied.querySelector("strong")?.remove();
  return copied;
}

/** What a text without numbers is answered with. */
function works() {
  return element("ul", { class: "grpo-run-works" }, [
    "{'loss': 0.0012, 'grad_norm': 0.41, 'reward': 0.38, 'reward_std': 0.45, 'kl': 0.003}",
    "step:12 - actor/entropy:0.41 - actor/grad_norm:0.13 - critic/score/mean:0.33",
    "step,reward,kl,completion_length ⏎ 1,0.25,0.0,310 ⏎ 2,0.31,0.001,305",
  ].map((line) => element("li", {}, element("code", {}, line))));
}

customElements.define("grpo-run-reader", RunReader);
