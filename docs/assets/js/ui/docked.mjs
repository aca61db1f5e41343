// Whether the worksheet stands beside the simulation, and at which of its steps: { open, step }, kept in this browser.
import { load, save } from "./storage.mjs";

const KEY = "grpo-dock-v1";
export const FRAME = "grpo-dock"; // name of the window that shows the worksheet there

/** Where both fit side by side; elsewhere they are tabs. */
export const isWide = () => matchMedia("(min-width: 76.25em)").matches;

export const readDock = () => ({ open: false, step: "", ...load(KEY, {}) });

export const saveDock = (changed) => save(KEY, { ...readDock(), ...changed });
