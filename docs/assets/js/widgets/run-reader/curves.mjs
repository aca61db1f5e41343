// Small multiples of what was read: where each curve first moved, the best stretch of the reward, the lines of the findings.
import { bestStretch } from "../../core/run_reading.mjs";
import { highest, lowest, show } from "../../core/run_view.mjs";
import { chart, line, pixel, scale, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { folded } from "../../ui/folded.mjs";
import { table } from "../../ui/table.mjs";

const ORDER = ["reward", "heldOut", "ties", "rewardStd", "groupStd", "batchStd", "kl", "gradNorm", "entropy", "length", "cut", "clip", "ppoKl", "loss", "policyLoss",
  "logpDiff", "probDiff", "mismatchKl", "multError", "lr"];
const MOST = 12;
const ROWS = 60; // of the table
const DRAWN = 600; // points of a line
const PAD = { left: 50, right: 8, top: 10, bottom: 20 };

/** The nodes below the findings: a legend, one chart per curve, and a table. */
export function curvesOf({ view, findings }) {
  const curves = [...ORDER.map((key) => ({ key, curve: view.curve(key) })), ...[...view.functions.values()].map((part) => ({ key: "function", curve: part.mean }))]
    .filter(({ curve }) => curve?.length > 1);
  if (view.n < 3 || !curves.length) return [];
  const best = bestStretch(view);
  const rows = new Set(findings.flatMap((found) => found.rows));
  const named = new Set(findings.flatMap(({ keys }) => keys));
  curves.sort((a, b) => named.has(b.key) - named.has(a.key));
  const fell = best && findings.some(({ id }) => ["collapse", "length_limit", "falling"].includes(id));
  const shown = curves.slice(0, MOST).map(({ key, curve }) => ({ curve, moved: key === "lr" ? null : curve.moved(fell ? best.rows.at(-1) : null) }));
  const legend = [rows.size && rows.size < view.n && "dots: lines of the findings", shown.some(({ moved }) => moved !== null) && `dashed line: where the curve first left its ${fell ? "level of the best stretch" : "first level"}`,
    best && `grey band: best stretch of the reward, ${view.unit} ${best.from} to ${best.to}, the checkpoint to go back to if the run turns bad`].filter(Boolean);
  return [
    element("h3", {}, "Curves"),
    element("p", { class: "grpo-note" }, `${sentence(legend.join("; ")) || "One chart per quantity"}.`),
    element("div", { class: "grpo-run-curves" }, shown.map(({ curve, moved }) => figure(curve, { moved, view, best, rows: rows.size < view.n ? rows : new Set() }))),
    folded("The numbers", numbers(view, shown)),
  ];
}

const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function figure(curve, { moved, view, best, rows }) {
  const { node, redraw } = chart(110, (width, height) => {
    const [left, right, top, bottom] = [PAD.left, width - PAD.right, PAD.top, height - PAD.bottom];
    const [low, high] = rangeOf(curve.values);
    const x = scale(0, Math.max(1, view.n - 1), left, right);
    const y = scale(low, high, bottom, top);
    const every = Math.ceil(curve.length / DRAWN);
    const points = curve.points.filter((_, i) => i % every === 0 || i === curve.length - 1);
    return [
      best ? element("rect", { x: pixel(x(best.rows[0])), width: pixel(Math.max(2, x(best.rows.at(-1)) - x(best.rows[0]))), y: top, height: bottom - top, class: "band" }) : [],
      [low, high].map((tick) => [element("line", { x1: left, x2: right, y1: pixel(y(tick)), y2: pixel(y(tick)), class: "grid" }),
        words(left - 5, y(tick) + 4, show(Number(tick.toPrecision(Math.abs(tick) < 0.1 ? 2 : 3))), { "text-anchor": "end" })]).flat(),
      words(left, height - 4, String(view.steps[0])),
      words(right, height - 4, String(view.steps.at(-1)), { "text-anchor": "end" }),
      moved === null ? [] : element("line", { x1: pixel(x(moved)), x2: pixel(x(moved)), y1: top, y2: bottom, class: "mark" }),
      line("line-first", points.map(({ row, value }, i) => `${i ? "L" : "M"}${pixel(x(row))} ${pixel(y(value))}`).join("")),
      curve.points.filter(({ row }) => rows.has(row)).slice(0, 200).map(({ row, value }) => element("circle", { cx: pixel(x(row)), cy: pixel(y(value)), r: 3, class: "point" })),
    ].flat();
  });
  redraw();
  return element("figure", {}, element("figcaption", {}, element("code", {}, curve.name), ` ${show(curve.values[0])} to ${show(curve.values.at(-1))}`), node);
}

/** The ends of the vertical axis. One spike of thousands must not flatten the rest, but it must be seen: so the range is whole. */
function rangeOf(values) {
  const [low, high] = [lowest(values), highest(values)];
  if (high > low) return [low, high];
  return [low - (Math.abs(low) || 1), high + (Math.abs(high) || 1)];
}

function numbers(view, curves) {
  const every = Math.ceil(view.n / ROWS);
  const { node, fill } = table({ caption: `What was read${every > 1 ? `, one line in ${every}` : ""}`, columns: [view.unit === "step" ? "Step" : "Line", ...curves.map(({ curve }) => curve.name)] });
  const columns = curves.map(({ curve }) => new Map(curve.points.map(({ row, value }) => [row, value])));
  fill(view.steps.map((step, row) => [String(step), ...columns.map((column) => (column.has(row) ? show(column.get(row)) : "–"))]).filter((_, row) => row % every === 0));
  return node;
}
