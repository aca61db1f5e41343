// The three elements of the worksheet page (catalogue S0-*): questions, tables of runs, and the tools for all of them.
import { Question } from "./worksheet/question.mjs";
import { Runs } from "./worksheet/runs.mjs";
import { WorksheetWidget } from "./worksheet/state.mjs";
import { Tools } from "./worksheet/tools.mjs";

WorksheetWidget.actions = () => import("./worksheet/actions.mjs"); // given here: the actions need the state

customElements.define("grpo-question", Question);
customElements.define("grpo-runs", Runs);
customElements.define("grpo-worksheet-tools", Tools);
