// <grpo-hero>: the film of the home page: one question, eight answers, and what the policy learns from their difference.
// It plays once, can be paused and entered at each of its five beats, and is stepped through where motion is not wanted.
import { ANSWERS, RIGHT } from "../core/answers.mjs";
import { rounds } from "../core/film.mjs";
import { element } from "../ui/element.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { even, isStill, part } from "../ui/moving.mjs";
import { Widget } from "../ui/widget.mjs";
import { heroPicture } from "./hero/picture.mjs";

const LENGTH = 8; // seconds of a round
const BEATS = [["Ask", 0, 0.9], ["Answer", 0.9, 2.9], ["Score", 2.9, 4], ["Compare", 4, 6], ["Learn", 6, LENGTH]]; // from, to
const REST = 0.25; // seconds before the end of a beat: what it shows is there, and nothing has begun to leave
const STILL = BEATS[3][2] - 0.05;
const WORDS = ["None", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
const PLAY = "M3.5 1.5v13l11-6.500z";
const PAUSE = "M3 2h3.500v12H3zM9.500 2H13v12H9.500z";
const STEP = "M2 2v12l8-6zM11 2h3v12h-3z";

class Hero extends Widget {
  setup() {
    this.rounds = rounds();
    this.end = LENGTH * this.rounds.length - REST;
    this.time = isStill() ? STILL : BEATS[1][1]; // the first answers fall at once
    this.seen = true;
    this.picture = heroPicture(LENGTH);
    this.icon = element("path", { d: PLAY });
    this.toggle = element("button", { type: "button", class: "grpo-round", onclick: () => this.press() },
      element("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, this.icon));
    this.beats = BEATS.map(([name, from, to]) => element("button", { type: "button", class: "grpo-beat", onclick: () => this.jump(from, to) },
      element("i"), name));
    this.said = element("p", { class: "grpo-said", role: "status" });
    this.append(this.picture.node, element("div", { class: "grpo-beats", role: "group", "aria-label": "The film" }, this.toggle, this.beats), this.said);
    new ResizeObserver(() => this.resize()).observe(this);
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting; // the last of several
      this.go();
    }).observe(this);
    this.resize();
    this.run(!isStill());
  }

  resize() {
    this.width = this.clientWidth;
    if (this.width) this.draw();
  }

  // Time

  press() {
    if (isStill() && !this.playing) return this.step();
    if (this.time >= this.end) this.time = 0;
    this.run(!this.playing);
  }

  /** Where nothing should move: the still of the next beat, also of the next round. */
  step() {
    const round = Math.floor(this.time / LENGTH);
    const beat = BEATS.findIndex(([, , to]) => this.time % LENGTH < to) + 1;
    const [place, [, , to]] = beat < BEATS.length ? [round, BEATS[beat]] : [(round + 1) % this.rounds.length, BEATS[0]];
    this.time = LENGTH * place + to - REST;
    this.draw();
  }

  jump(from, to) {
    this.time = this.time - (this.time % LENGTH) + (this.playing ? from : to - REST);
    this.draw();
  }

  run(on) {
    this.playing = on;
    this.toggle.setAttribute("aria-label", on ? "Pause the film" : isStill() ? "Next step of the film" : "Play the film");
    this.icon.setAttribute("d", on ? PAUSE : isStill() ? STEP : PLAY);
    this.said.setAttribute("aria-live", on ? "off" : "polite"); // a film that plays does not talk into everything
    this.go();
  }

  /** Asks for the next moment, while it plays and is in sight. */
  go() {
    cancelAnimationFrame(this.frame);
    let last = null;
    const step = (at) => {
      if (!this.playing || !this.seen || !this.isConnected) return;
      if (last !== null) this.time = Math.min(this.end, this.time + Math.min(0.1, (at - last) / 1000));
      last = at;
      this.draw();
      if (this.time >= this.end) return this.run(false);
      this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  disconnectedCallback() {
    this.playing = false;
  }

  draw() {
    const place = Math.floor(this.time / LENGTH);
    const now = this.rounds[place];
    const t = this.time % LENGTH;
    const past = place === this.rounds.length - 1 ? this.rounds.map(({ before }) => before[RIGHT]) : [];
    this.picture.draw(now, t, { width: this.width, title: `round ${place + 1} of ${this.rounds.length}`, past });
    this.tell(now, t, past);
  }

  tell(now, t, past) {
    const current = BEATS.findIndex(([, , to]) => t < to);
    this.beats.forEach((node, i) => {
      const [, from, to] = BEATS[i];
      node.style.setProperty("--done", part(t, from, to, even).toFixed(3));
      if (i === current) node.setAttribute("aria-current", "step");
      else node.removeAttribute("aria-current");
    });
    const sentence = sentences(now, past)[current];
    if (this.said.textContent === sentence) return;
    this.said.textContent = sentence;
    const all = now.actions.map((a, i) => `${ANSWERS[a]}, ${now.rewards[i] ? "right" : "wrong"}`).join("; ");
    this.picture.node.setAttribute("aria-label", `Eight answers to 2 + 2 × 6: ${all}.`);
  }
}

/** What each beat shows, in a sentence. */
function sentences({ rewards, mean, advantages, zeroSignal, before, after }, past) {
  const right = rewards.reduce((a, b) => a + b);
  const [rise, sink] = [advantages.find((a) => a > 0), advantages.find((a) => a < 0)];
  return [
    "The strip is the policy: the wider an answer, the more likely the model is to give it.",
    "Eight answers, drawn at random from the strip.",
    `A rule scores them: 1 if right, 0 if wrong. ${WORDS[right]} of eight ${right === 1 ? "is" : "are"} right.`,
    zeroSignal ? "All eight are as good as their mean. None stands out, so there is no signal."
      : `The mean, ${fixed(mean)}, is the bar to clear. In standard deviations: above it ${signed(rise)}, below it ${signed(sink)}.`,
    zeroSignal && past.length ? `${WORDS[past.length]} rounds took 14 from ${percent(past[0])} to ${percent(after[RIGHT])}. All agree now: nothing is left to learn.`
      : zeroSignal ? "Without a difference there is nothing to learn: the policy stays as it is."
      : `Each 14 beat the mean, so 14 becomes more likely: from ${percent(before[RIGHT])} to ${percent(after[RIGHT])}.`,
  ];
}

customElements.define("grpo-hero", Hero);
