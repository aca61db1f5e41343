// <grpo-credit>: which token of a completion is to blame, as GRPO and as PPO see it (catalogue W19).
import { binaryAdvantages } from "../core/binary_groups.mjs";
import { tokenAdvantages } from "../core/credit.mjs";
import { slider, toggle } from "../ui/controls.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const TOKENS = ["3×4", "=12", "so", "2+12", "=15", "."]; // the answer to 2+3×4 is wrong: reward 0
const VALUES = [0.5, 0.55, 0.7, 0.7, 0.8, 0.1]; // what a good critic expects before each of them
const GRPO = binaryAdvantages(4, 8).wrong; // half of the group is correct, this completion is not

class Credit extends Explorable {
  static source = "Schematic: completion and critic are made up. The advantages are computed here from these values.";
  static controls = {
    token: { control: picks, label: "Token", options: TOKENS.map((text, t) => [String(t), text]), initial: "4" },
    mode: { control: picks, label: "Show", options: [["grpo", "GRPO"], ["ppo", "PPO"]], initial: "grpo" },
    lambda: { control: slider, label: "λ of PPO", values: range(0, 1, 0.05), initial: 0.5, show: (x) => fixed(x) },
    novice: { control: toggle, label: "The critic has learned nothing: 0.5 everywhere", initial: false },
  };
  static examples = {
    "One token ahead": { mode: "ppo", lambda: 0, novice: false },
    "To the end": { mode: "ppo", lambda: 1, novice: false },
    "Untrained critic": { mode: "ppo", lambda: 1, novice: true },
  };

  build() {
    this.chart = divergingBars({
      height: 180, limit: 1.2, ticks: [-1, 0, 1], name: "the completion, token by token", names: TOKENS, widest: 96,
    });
    this.table = table({ caption: "Advantage of every token", columns: ["token", "expected before it", "GRPO", "PPO"] });
    return [this.chart.node, this.table.node];
  }

  draw({ token, mode, lambda, novice }) {
    const values = novice ? VALUES.map(() => 0.5) : VALUES;
    this.ppo = tokenAdvantages(values, 0, lambda);
    this.chart.draw(mode === "ppo" ? this.ppo : TOKENS.map(() => GRPO));
    this.table.fill(TOKENS.map((text, t) =>
      [`${t === Number(token) ? "▶ " : ""}${t + 1}: ${text}`, fixed(values[t]), signed(GRPO, 3), signed(this.ppo[t], 3)]));
  }

  lesson({ token, novice }) {
    const share = this.ppo[token];
    const critic = novice ? " An untrained critic knows nothing about single tokens." : "";
    return `Token ${Number(token) + 1}, “${TOKENS[token]}”: GRPO gives it ${signed(GRPO, 3)}, as every token of this `
      + `completion; PPO gives it ${signed(share, 3)}.${critic}`;
  }
}

customElements.define("grpo-credit", Credit);
