// <grpo-llm-film>: a recorded run of a pretrained language model from the first step to the last: the accuracy, and what
// the policy answers to four sums, with the advantage of each completion in its group.
import { RUN } from "../../runs/llm.mjs";
import { framesOf, shownAt } from "../core/llm_film.mjs";
import { chart, legendItem } from "../ui/chart.mjs";
import { canRecord, saveClip } from "../ui/clip.mjs";
import { button, slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { percent, signed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { drawnUntil } from "../ui/moving.mjs";
import { transport } from "../ui/player.mjs";
import { table } from "../ui/table.mjs";
import { HEIGHT, groupsPicture } from "./llm-film/picture.mjs";

const FRAMES = framesOf(RUN);
const LAST = FRAMES.at(-1);
const BATCHES = RUN.batches.map((reward, step) => [step, reward]);
const SECONDS = 12; // of the clip
const listed = (steps) => `${steps.slice(0, -1).join(", ")} and ${steps.at(-1)}`;

class LlmFilm extends Explorable {
  static source = recorded(`${RUN.model}, seed ${RUN.seed}, by the model answers on ${RUN.day}. The recording has completions after `
    + `steps ${listed(RUN.moments.map(({ step }) => step))}, the accuracy every ${RUN.points[1][0]} steps, and the reward of each `
    + "training batch; between them the figure shows the last record.");
  static controls = {
    at: { control: slider, label: "After", values: range(0, LAST, 1), initial: 0, show: (at) => `step ${at} of ${LAST}` },
  };

  build() {
    this.transport = transport({ frames: FRAMES, at: () => this.state.at, go: (at) => this.set({ at }) });
    if (canRecord()) this.transport.node.append(this.clipButton());
    this.curve = curveChart({
      hand: this.hand("at"),
      height: 170,
      x: { low: 0, high: LAST, ticks: range(0, LAST, 100), digits: 0, name: "steps" },
      y: { low: 0, high: 1, ticks: [0, 0.5, 1], name: "share of right sums" },
    });
    this.picture = chart(HEIGHT, (width, height) => groupsPicture(this.shown, this.lengths, width, height));
    this.glide = glide(([at, measured, ...lengths]) => {
      this.lengths = lengths;
      this.picture.redraw();
      this.trace(at, measured);
    });
    this.groups = table({ caption: "Completions", columns: ["Prompt", "completion", "reward", "advantage"] });
    this.points = table({ caption: "Accuracy", columns: ["After step", "right, of the held-out sums"] });
    this.points.fill(RUN.points.map(([step, score]) => [String(step), percent(score)]));
    const legend = element("p", { class: "grpo-legend" }, legendItem("line-first", "held-out sums"), legendItem("line-each", "training batch"));
    return [this.transport.node, legend, this.curve.node, this.picture.node, this.groups.node, this.points.node];
  }

  clipButton() {
    const record = button("Save clip", async () => {
      if (record.ariaDisabled === "true") return;
      record.ariaDisabled = "true"; // not `disabled`, which would take the focus away
      record.textContent = `Recording ${SECONDS} seconds`;
      try {
        await saveClip(this, {
          frames: FRAMES, go: (at) => this.set({ at }), title: this.getAttribute("question"), milliseconds: 1000 * SECONDS / FRAMES.length,
        });
      } finally {
        record.ariaDisabled = "false";
        record.textContent = "Save clip";
      }
    });
    return record;
  }

  draw({ at }) {
    this.shown = shownAt(RUN, at);
    this.transport.show();
    const { measured, groups } = this.shown;
    this.groups.fill(groups.flatMap(({ prompt, completions }) =>
      completions.map(({ text, reward, advantage }) => [prompt, text, String(reward), signed(advantage)])));
    this.glide([at, measured, ...groups.flatMap(({ completions }) => completions.map(({ advantage }) => advantage))]);
  }

  /** Both curves as far as the training and its measurements have come. */
  trace(at, measured) {
    const points = drawnUntil(RUN.points, measured);
    const [x, y] = points.at(-1);
    this.curve.draw({
      marks: [{ at, text: "" }],
      curves: [{ style: "line-each", points: drawnUntil(BATCHES, at) }, { style: "line-first", points }],
      dots: [{ x, y, text: percent(y), below: true }],
    });
  }

  lesson() {
    const { measured, accuracy, drawn, groups } = this.shown;
    const right = groups.reduce((total, group) => total + group.right, 0);
    const all = groups.reduce((total, { completions }) => total + completions.length, 0);
    const signal = groups.filter((group) => group.right > 0 && group.right < group.completions.length).length;
    const push = signal ? `${signal} of ${groups.length} groups push` : "in each group all are right or all wrong, so nothing is pushed any more";
    return `Held-out sums: ${percent(accuracy)} right after step ${measured}. Completions: ${right} of ${all} right after step ${drawn}; ${push}.`;
  }
}

customElements.define("grpo-llm-film", LlmFilm);
