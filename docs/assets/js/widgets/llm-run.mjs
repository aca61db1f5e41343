// <grpo-llm-run>: a recorded run of a pretrained language model, token by token: which way each one is pushed, and what it
// adds to the loss, when completions of one moment meet the policy of that moment or of a later one.
import { RUN } from "../../runs/llm.mjs";
import { RELATIVES, tokenShares } from "../core/token_shares.mjs";
import { chart } from "../ui/chart.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";
import { HEIGHT, completions, plain } from "./llm-run/picture.mjs";

const STEPS = RUN.moments.map(({ step }) => step);
const LAST = STEPS.length - 1;
const hasSignal = (group) => group.some(([, reward]) => reward !== group[0][1]);
const FIRST = Math.max(0, RUN.moments[0].groups.findIndex(hasSignal)); // a prompt with something to learn
const RELATIVE_NAMES = {
  GRPO: "GRPO: clip at 1 ± 0.2", "no clip": "no clip", DAPO: "DAPO: clip at 0.8 and 1.28",
  GSPO: "GSPO: ratio of the completion", "Dr. GRPO": "Dr. GRPO: A without std",
};
const moment = (label, initial) => ({ control: slider, label, values: range(0, LAST, 1), initial, show: (m) => `step ${STEPS[m]}` });

class LlmRun extends Explorable {
  static source = recorded(`${RUN.model}, ${STEPS.at(-1)} steps, seed ${RUN.seed}, by the model answers on ${RUN.day}. `
    + "Advantages, ratios and the loss are computed here from its log-probabilities.");
  static controls = {
    prompt: { control: picks, label: "Prompt", options: RUN.prompts.map((text, p) => [String(p), text]), initial: String(FIRST) },
    drawn: moment("Completions drawn after", 0),
    now: moment("Policy that learns: after", 1),
    averaging: { control: picks, label: "Mean by", options: ["sequence", "token", "constant"].map((way) => [way, way]), initial: "sequence" },
    variant: { control: choice, label: "Loss of", options: Object.entries(RELATIVE_NAMES), initial: "GRPO" },
  };
  static examples = {
    "Fresh": { drawn: 0, now: 0, variant: "GRPO" },
    "Stale": { drawn: 0, now: LAST, variant: "GRPO" },
    "Stale, no clip": { drawn: 0, now: LAST, variant: "no clip" },
    "Trained": { drawn: LAST, now: LAST, variant: "GRPO" },
  };

  build() {
    this.chart = chart(HEIGHT, (width, height) => completions(this.shown, width, height));
    this.glide = glide((lengths) => {
      let place = 0;
      this.shown.forEach(({ tokens }) => tokens.forEach((token) => (token.length = lengths[place++])));
      this.chart.redraw();
    });
    this.table = table({
      caption: "Every token",
      columns: ["Completion, token", "reward", "π_old", "π_θ", "ρ", "A", "clip", "share of the loss"],
    });
    return [this.chart.node, this.table.node];
  }

  /** No policy learns from completions that are not drawn yet: the other slider comes along. */
  follow(name) {
    const { drawn, now } = this.state;
    if (drawn <= now) return;
    const [other, value] = name === "drawn" ? ["now", drawn] : ["drawn", now];
    this.state[other] = value;
    this.controls[other].set(value);
  }

  /** An address may ask for a policy that is older than the completions. */
  group({ prompt, drawn, now }) {
    return RUN.moments[drawn].groups[prompt].map(([tokens, reward, logp]) =>
      ({ tokens, reward, old: logp[0], now: logp[Math.max(0, now - drawn)] }));
  }

  draw(state) {
    const group = this.group(state);
    this.found = tokenShares(group, { averaging: state.averaging, relative: RELATIVES[state.variant], limit: RUN.limit });
    const most = Math.max(...this.found.rows.flatMap(({ tokens }) => tokens.map(({ share }) => Math.abs(share))));
    this.shown = this.found.rows.map((row, i) => ({
      ...row, reward: group[i].reward,
      tokens: row.tokens.map((token, t) => ({ ...token, text: group[i].tokens[t] })),
    }));
    this.table.fill([
      ...this.shown.flatMap(({ advantage, reward, tokens }, i) => tokens.map(({ text, ratio, bound, share }, t) => [
        `${i + 1}: ${plain(text)}`, fixed(reward, 0), fixed(Math.exp(group[i].old[t]), 3), fixed(Math.exp(group[i].now[t]), 3),
        fixed(ratio, 3), signed(advantage, 3), bound ? "binds" : "–", signed(share, 4),
      ])),
      ["loss", "", "", "", "", "", percent(this.found.clipFraction), signed(this.found.loss, 4)],
    ]);
    this.glide(this.found.rows.flatMap(({ tokens }) => tokens.map(({ share }) => (most ? -share / most : 0))));
  }

  lesson({ drawn, now }) {
    const { rows, loss, clipFraction, zeroSignal } = this.found;
    const right = this.shown.filter(({ reward }) => reward === 1).length;
    if (zeroSignal) return `${right} of ${rows.length} are right: all rewards are equal, all advantages are 0, and no token is pushed.`;
    const clip = clipFraction ? ` The clip stops ${percent(clipFraction)} of the tokens.` : "";
    const steps = Math.max(0, STEPS[now] - STEPS[drawn]);
    const age = steps ? `These completions are ${steps === 1 ? "one step" : `${steps} steps`} old.` : "Fresh completions: every ratio is 1.";
    return `${right} of ${rows.length} are right. ${age}${clip} The loss is ${signed(loss, 3)}.`;
  }
}

customElements.define("grpo-llm-run", LlmRun);
