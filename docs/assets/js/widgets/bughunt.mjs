// <grpo-bughunt>: a game. The reader looks for the wrong line in each of ten pieces of a trainer, says what is wrong with it,
// and sees what it does. The Markdown inside has all pieces with their answers; a piece opens at bughunt/#ID.
import { KINDS, PIECES } from "../../runs/bughunt.mjs";
import { POINTS, hasBug, nextOpen, otherLines, points, shareLine, shownLines, total, validAnswers, verdict } from "../core/bughunt.mjs";
import { button } from "../ui/controls.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { copy } from "../ui/files.mjs";
import { load, save } from "../ui/storage.mjs";
import { Widget } from "../ui/widget.mjs";
import { picture } from "./bughunt/picture.mjs";

const KEY = "grpo-bughunt-v1";
const END = "score";
const PARTS = /(\b(?:def|return|for|in|if|else|and|or|not)\b|\()/;

class Bughunt extends Widget {
  setup() {
    this.answers = validAnswers(PIECES, load(KEY, {}), KINDS);
    this.strip = element("nav", { class: "grpo-hunt-strip", "aria-label": "Pieces" });
    this.score = element("p", { class: "grpo-hunt-score" });
    this.stage = element("div", { class: "grpo-hunt-stage" });
    this.append(element("div", { class: "grpo-hunt-head" }, this.strip, this.score), this.stage);
    window.addEventListener("hashchange", () => this.isConnected && this.named && this.named !== this.shown && this.open(this.named, true));
    this.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation(); // instant navigation would change the address without telling
      this.go(link.hash.slice(1));
    });
    const asked = this.named;
    this.open(asked ?? nextOpen(PIECES, this.answers)?.id ?? END, false);
    if (asked) this.scrollIntoView();
  }

  /** The part that the address names, or null. */
  get named() {
    const name = location.hash.slice(1);
    return name === END || PIECES.some(({ id }) => id === name) ? name : null;
  }

  /** Goes to a piece or the end, so that Back leads back. */
  go(id) {
    if (this.named !== id) location.hash = id;
    this.open(id, true); // now: the event may come after the reader's next key
  }

  /** Shows a piece or the end. With focus, its title is read out and brought into sight. */
  open(id, focus) {
    this.shown = id;
    const place = PIECES.findIndex((piece) => piece.id === id);
    const title = place < 0 ? this.end() : this.piece(PIECES[place], place);
    this.mark();
    if (!focus) return;
    title.focus({ preventScroll: true });
    if (this.getBoundingClientRect().top < 0) this.scrollIntoView();
  }

  /** The strip of all pieces, with the points of each, and the score. */
  mark() {
    this.strip.replaceChildren(...PIECES.map((piece, i) => {
      const answer = this.answers[piece.id];
      const said = answer ? `${points(piece, answer)} of ${POINTS} points` : "open";
      return element("a", {
        href: `#${piece.id}`, "aria-label": `${i + 1}. ${piece.title}: ${said}`,
        "aria-current": piece.id === this.shown && "step",
      }, element("span", {}, String(i + 1)), coins(answer ? points(piece, answer) : null));
    }));
    const done = PIECES.filter(({ id }) => this.answers[id]).length;
    this.score.textContent = `${total(PIECES, this.answers)} of ${POINTS * done} points`;
    this.score.hidden = done === 0 || this.shown === END;
  }

  /** Builds a piece, open or answered; returns its title. */
  piece(piece, place) {
    const title = element("h2", { id: piece.id, tabindex: "-1" }, `${place + 1}. ${piece.title}`);
    this.stage.replaceChildren(title, element("p", { class: "grpo-hunt-task" }, element("strong", {}, "Returns: "), prose(piece.task)));
    const answer = this.answers[piece.id];
    if (answer) this.stage.append(listing(shownLines(piece), notes(piece, answer)), this.result(piece, answer));
    else this.stage.append(this.question(piece));
    return title;
  }

  /** The lines as radio buttons, and what is wrong with the chosen one as buttons below. */
  question(piece) {
    const name = uniqueId("line");
    const lines = shownLines(piece);
    const next = element("div", { class: "grpo-hunt-next" });
    const choose = (line) => {
      const give = (kind) => this.answer(piece, { line, kind });
      const label = element("p", { id: uniqueId("kind") }, line ? `What is wrong in line ${line}?` : "Are you sure?");
      next.setAttribute("role", "group");
      next.setAttribute("aria-labelledby", label.id);
      next.replaceChildren(label, element("div", { class: "grpo-hunt-kinds" }, line
        ? Object.entries(KINDS).map(([kind, text]) => button(text, () => give(kind)))
        : button("Yes, every line is right", () => give(null))));
    };
    const option = (line, ...content) => element("label", { class: "grpo-hunt-line" },
      element("input", { type: "radio", name, value: line, onchange: () => choose(line) }), ...content);
    const onkeydown = (event) => {
      if (event.key !== "Enter" || !event.target.matches("input")) return;
      event.preventDefault();
      event.target.checked = true;
      choose(Number(event.target.value));
      next.querySelector("button").focus();
    };
    return element("form", { onkeydown, onsubmit: (event) => event.preventDefault() },
      element("fieldset", { class: "grpo-hunt-code" }, element("legend", {}, "Which line is wrong?"),
        lines.map((text, i) => (i === 0
          ? element("div", { class: "grpo-hunt-line" }, numbered(text, 1))
          : option(i + 1, numbered(text, i + 1)))),
        option(0, element("span", { class: "grpo-hunt-none" }, "No bug here"))),
      next);
  }

  answer(piece, answer) {
    this.answers = { ...this.answers, [piece.id]: answer };
    save(KEY, this.answers);
    this.open(piece.id, false);
    const heading = this.stage.querySelector(".grpo-hunt-verdict");
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "nearest" });
  }

  /** What the reader learns: the verdict, both lines, and what the line does. */
  result(piece, answer) {
    const earned = points(piece, answer);
    const bug = hasBug(piece);
    const titles = bug ? ["Right", "Wrong"] : ["Right, as shown", "Tempting, but wrong"];
    const line = (lines, title) => element("figure", { class: "grpo-hunt-one" }, element("figcaption", {}, title),
      listing([lines[piece.line - 1].trim()], {}, piece.line));
    const next = nextOpen(PIECES, this.answers, PIECES.indexOf(piece));
    return element("section", { class: "grpo-hunt-result", "aria-label": "Result" },
      element("h3", { class: "grpo-hunt-verdict", tabindex: "-1" }, coins(earned),
        `${verdict(piece, answer, KINDS)} `, element("small", {}, `${earned} of ${POINTS} points`)),
      element("div", { class: "grpo-pair" }, line(piece.lines, titles[0]), line(otherLines(piece), titles[1])),
      element("p", {}, prose(piece.explanation)),
      element("div", { class: "grpo-hunt-picture" }, picture(piece)),
      element("p", { class: "grpo-bar" },
        element("a", { class: "grpo-button grpo-primary", href: `#${next?.id ?? END}` }, next ? "Next piece" : "Your score")));
  }

  /** The score with all pieces, a line to share, and a new start; returns its title. */
  end() {
    const title = element("h2", { id: END, tabindex: "-1" }, `${total(PIECES, this.answers)} of ${POINTS * PIECES.length} points`);
    const rows = PIECES.map((piece) => {
      const answer = this.answers[piece.id];
      return element("li", {}, coins(answer ? points(piece, answer) : null), element("a", { href: `#${piece.id}` }, piece.title),
        element("span", {}, answer ? verdict(piece, answer, KINDS) : "Not answered yet."));
    });
    const text = shareLine(PIECES, this.answers, location.href.split(/[?#]/)[0]);
    const field = element("input", { type: "text", readonly: true, value: text, "aria-label": "Line to share", onfocus: () => field.select() });
    const told = element("span", { role: "status", class: "grpo-told" });
    const share = async () => {
      if (await copy(text)) told.textContent = "Copied.";
      else {
        field.focus();
        told.textContent = "Selected: copy it with your keyboard.";
      }
    };
    const again = () => {
      this.answers = {};
      save(KEY, null);
      this.go(PIECES[0].id);
    };
    this.stage.replaceChildren(title, element("ol", { class: "grpo-hunt-list" }, rows),
      element("div", { class: "grpo-bar" }, field, button("Copy", share), button("Play again", again), told));
    return title;
  }
}

/** A coin per point, and an empty place per missed one; nothing before there is an answer (null). */
function coins(earned) {
  if (earned === null) return "";
  const circle = (i) => element("circle", { class: i < earned ? "coin" : "ghost", cx: 8 + 18 * i, cy: 8, r: 6.5 });
  return element("svg", { class: "grpo-chart grpo-hunt-coins", viewBox: "0 0 34 16", "aria-hidden": "true", focusable: "false" },
    circle(0), circle(1));
}

/** Text with `code` in it. */
const prose = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

/** A line of code with its number; words of the language are bold, and it may break after "(". */
function numbered(text, number) {
  const code = text.trimStart();
  const style = `--indent: ${text.length - code.length}`;
  const parts = code.split(PARTS).flatMap((part, i) => {
    if (i % 2 === 0) return part;
    return part === "(" ? [part, element("wbr")] : element("b", {}, part);
  });
  return [element("span", { class: "grpo-hunt-number" }, String(number)), element("code", { style }, parts)];
}

/** Lines to read. Remarks: number of a line to what stands after it. */
const listing = (lines, remarks, first = 1) =>
  element("div", { class: "grpo-hunt-code" }, lines.map((text, i) => {
    const remark = remarks[i + first];
    return element("div", { class: remark ? "grpo-hunt-line noted" : "grpo-hunt-line" }, ...numbered(text, i + first),
      remark ? element("em", {}, remark) : []);
  }));

/** What stands after lines of an answered piece. */
function notes(piece, { line }) {
  const truth = hasBug(piece) ? "the bug" : "odd, but right";
  return { ...(line && { [line]: "your choice" }), [piece.line]: line === piece.line ? `${truth}, your choice` : truth };
}

customElements.define("grpo-bughunt", Bughunt);
