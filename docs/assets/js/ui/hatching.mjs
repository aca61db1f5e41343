// What fills the blocks of the reference policy (lines) and of the critic (dots), so that no color stands alone.
import { element } from "./element.mjs";

/** The patterns NAME-lines and NAME-dots, for the chart that has them; a style sheet fills with url(#NAME-lines). */
export const hatching = (name) => element("defs", {},
  element("pattern", { id: `${name}-dots`, width: 9, height: 9, patternUnits: "userSpaceOnUse" },
    element("circle", { cx: 4.5, cy: 4.5, r: 1.4, class: "grain" })),
  element("pattern", { id: `${name}-lines`, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    element("path", { d: "M0 0V7", class: "hatch" })));
