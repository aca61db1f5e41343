// What a log does not say and a reader may know: group size, prompts per step, β, learning rate, LoRA.
import { element, uniqueId } from "../../ui/element.mjs";
import { folded } from "../../ui/folded.mjs";

const FIELDS = { group: "Group size G", prompts: "Prompts per step", beta: "β", lr: "Learning rate" };

/** A form, folded; change(settings) gets only what was filled in. */
export function settingsForm(change) {
  const inputs = Object.entries(FIELDS).map(([name, label]) => [name, label, element("input", { type: "text", inputmode: "decimal", size: 7, id: uniqueId(name), oninput: told })]);
  const lora = element("select", { id: uniqueId("lora"), onchange: told }, ["unknown", "yes", "no"].map((text) => element("option", {}, text)));
  function told() {
    const typed = inputs.map(([name, , { value }]) => [name, Number(value.trim().replace(",", ".") || NaN)]).filter(([, value]) => Number.isFinite(value));
    change({ ...Object.fromEntries(typed), ...(lora.value === "unknown" ? {} : { lora: lora.value }) });
  }
  const rows = [...inputs.map(([, label, input]) => [label, input]), ["LoRA", lora]];
  return folded("Settings (optional): they sharpen the reading",
    element("div", { class: "grpo-run-settings" }, rows.map(([label, input]) => element("label", { for: input.id }, label, input))));
}
