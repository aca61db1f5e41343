// The film of a step, as times between 0 and 1: samples fall on the bars, the mean rises, samples take its side, bars move.
import { easeInOut, easeOut, fall, part } from "../../ui/moving.mjs";

export const SECONDS = 1.2; // of a step at the usual speed
const STAGES = [0.38, 0.52, 0.66]; // where scoring, comparing and updating begin

/** How far each thing has come at time t of a step. */
export const film = {
  falls: (t, i, count) => part(t, (i / count) * 0.2, (i / count) * 0.2 + 0.22, fall), // sample i of the group
  comes: (t) => part(t, 0.38, 0.44), // the mean
  rises: (t) => part(t, 0.4, 0.54, easeInOut),
  sides: (t) => part(t, 0.52, 0.62, easeOut), // above or below the mean
  moves: (t) => part(t, 0.66, 1, easeInOut), // the policy
};

/** Place of the stage in the loop: 0 sample, 1 score, 2 normalize, 3 update. */
export const stageAt = (t) => STAGES.filter((begin) => t >= begin).length;
