// The worker that trains: it makes a step when it is asked, so that the page decides the speed and stays free.
import { rewardOf } from "../../core/lm/reward.mjs";
import { Stopped, Training } from "../../core/lm/training.mjs";
import { readWeights } from "../../core/lm/weights.mjs";

let weights, run, id;

const KINDS = {
  load: ({ file }) => void (weights = readWeights(file)),
  start({ id: next, terms, ...run_ }) {
    id = next;
    run = new Training({ weights, ...run_, reward: (prompt, completion) => rewardOf(terms, prompt, completion) });
    postMessage({ kind: "started", id, exact: run.start.exact });
  },
  step() {
    postMessage({ kind: "step", id, record: run.step(), isIdle: run.isIdle });
  },
};

onmessage = ({ data: { kind, ...message } }) => {
  try {
    KINDS[kind](message);
  } catch (error) {
    postMessage({ kind: "stopped", id, text: error instanceof Stopped ? error.message : `The run stopped: ${error.message}.` });
  }
};
