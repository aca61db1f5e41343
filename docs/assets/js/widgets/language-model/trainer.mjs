// The page's side of the worker: loads it with the weights, starts runs, and decides when the next step is made.

const PER_SECOND = 2; // steps, at the usual speed

/** Address of the site's assets, from that of its script; null where the pages are opened from a disk. */
function assets() {
  const script = document.querySelector("script[src$='assets/js/index.mjs']");
  return script && location.protocol !== "file:" && window.Worker ? new URL("..", script.src) : null;
}

export class Trainer {
  /** `hear` are functions: started(exact), step(record, isIdle), stopped(sentence) and failed(error). */
  constructor(hear) {
    Object.assign(this, { hear, id: 0, playing: false, speed: 1, hurry: false });
  }

  /** Loads the worker and the weights; throws an Error whose message completes "cannot train here: ...". */
  async load() {
    const base = assets();
    if (!base) throw new Error("the pages were opened from a disk, or this browser has no workers");
    const file = await fetch(new URL("runs/charlm.safetensors", base));
    if (!file.ok) throw new Error(`the weights did not come (${file.status})`);
    const weights = await file.arrayBuffer();
    this.worker = new Worker(new URL("js/widgets/language-model/worker.mjs", base), { type: "module" });
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = () => this.hear.failed(new Error("the worker did not start"));
    this.worker.postMessage({ kind: "load", file: weights }, [weights]);
  }

  /** A new run; `task` is what core/lm/training.mjs takes, with `terms` for the reward. */
  start(task) {
    this.id += 1;
    this.worker.postMessage({ kind: "start", id: this.id, ...task });
  }

  take({ kind, id, exact, record, isIdle, text }) {
    if (id !== this.id) return; // of a run that was given up
    if (kind === "stopped") this.hear.stopped(text);
    else if (kind === "started") this.hear.started(exact);
    else this.hear.step(record, isIdle);
    if (this.playing) this.next();
  }

  /** Asks for the next step; in the background at once, because timers sleep there. */
  next() {
    clearTimeout(this.timer);
    const atOnce = this.speed === Infinity || document.hidden || this.hurry;
    const pause = atOnce ? 0 : 1000 / (PER_SECOND * this.speed) - (performance.now() - (this.askedAt ?? -Infinity));
    const ask = () => {
      if (!this.playing) return;
      this.askedAt = performance.now();
      this.worker.postMessage({ kind: "step" });
    };
    if (pause > 0) this.timer = setTimeout(ask, pause);
    else ask();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
  }

  /** What the worker still says is of no use. */
  giveUp() {
    this.pause();
    this.id += 1;
  }

  close() {
    this.giveUp();
    this.worker?.terminate();
    this.worker = null;
  }
}
