// TinyLM of starter/given/charlm_model.py, forward and backward, on a tree of prefixes.
//
// The completions of a group begin alike: with the same prompt, and often with the same letters. A node of the tree is one
// prefix. It is computed once, however many completions go through it, and its gradient is the sum over all of them. That is
// also the model's cache: while sampling, a new token adds a node.
import { exp, log } from "./exact.mjs";
import { linear, linearBack, norm, normBack } from "./layers.mjs";
import { layout } from "./weights.mjs";

/** A model: its size, its parameters (a flat array, see weights.mjs) and the temperature that divides its logits. */
export class TinyLM {
  constructor({ size, parameters }, temperature = 1) {
    Object.assign(this, { size, parameters, temperature });
    const { parts } = layout(size);
    const { width, layers, vocabulary } = size;
    const at = (name) => parts[name].at;
    const ofLinear = (name, ins, outs) => ({ at: at(`${name}.weight`), bias: at(`${name}.bias`), ins, outs });
    const ofNorm = (name) => ({ at: at(`${name}.weight`), bias: at(`${name}.bias`), width });
    this.tokens = at("tokens.weight");
    this.positions = at("positions.weight");
    this.blocks = Array.from({ length: layers }, (_, b) => ({
      attentionNorm: ofNorm(`blocks.${b}.attention_norm`), joint: ofLinear(`blocks.${b}.queries_keys_values`, width, 3 * width),
      attentionOut: ofLinear(`blocks.${b}.attention_out`, width, width), mlpNorm: ofNorm(`blocks.${b}.mlp_norm`),
      mlpIn: ofLinear(`blocks.${b}.mlp_in`, width, 4 * width), mlpOut: ofLinear(`blocks.${b}.mlp_out`, 4 * width, width),
    }));
    this.norm = ofNorm("norm");
    this.head = ofLinear("head", width, vocabulary);
  }
}

const PER_BLOCK = { standard1: 1, normed1: 1, joint: 3, mixed: 1, standard2: 1, normed2: 1, hidden: 4 }; // times width

/** Prefixes and what a model computes for each: log-probabilities of the next token, and all that the way back needs. */
export class PrefixTree {
  constructor(size) {
    this.size = size;
    this.spare = {};
    this.room = 0;
    this.clear();
  }

  /** Forgets all prefixes. */
  clear() {
    this.count = 0;
    this.done = 0; // nodes that are computed
    this.roots = new Map();
  }

  grow(room) {
    const { vocabulary, context, width, layers, heads } = this.size;
    const larger = (old, per, Kind = Float64Array) => {
      const next = new Kind(room * per);
      if (old) next.set(old);
      return next;
    };
    this.token = larger(this.token, 1, Int32Array);
    this.depth = larger(this.depth, 1, Int32Array);
    this.path = larger(this.path, context, Int32Array); // the nodes from the root to this one
    this.children = larger(this.children, vocabulary, Int32Array); // 0: none, else node + 1
    this.x = larger(this.x, width);
    this.out = { standard: larger(this.out?.standard, width), scale: larger(this.out?.scale, 1), normed: larger(this.out?.normed, width) };
    this.logits = larger(this.logits, vocabulary);
    this.logp = larger(this.logp, vocabulary);
    this.blocks = Array.from({ length: layers }, (_, b) => {
      const old = this.blocks?.[b];
      const kept = Object.fromEntries(Object.entries(PER_BLOCK).map(([name, times]) => [name, larger(old?.[name], times * width)]));
      return { ...kept, scale1: larger(old?.scale1, 1), scale2: larger(old?.scale2, 1), attention: larger(old?.attention, heads * context) };
    });
    this.room = room;
  }

  /** Room that is used again: new arrays for every step would pile up until they are collected. */
  scratch(name, length) {
    const known = this.spare[name];
    if (!(known?.length >= length)) this.spare[name] = new Float64Array(2 * length);
    return this.spare[name].subarray(0, length);
  }

  /** The node of a prefix that is one token longer than that of `parent` (-1: of the empty one); new, or the one there is. */
  child(parent, token) {
    const known = parent < 0 ? this.roots.get(token) : this.children[parent * this.size.vocabulary + token] - 1;
    if (known >= 0) return known;
    const { context, vocabulary } = this.size;
    if (this.count === this.room) this.grow(Math.max(128, Math.ceil(1.25 * this.room)));
    const node = this.count++;
    const depth = parent < 0 ? 0 : this.depth[parent] + 1;
    if (depth >= context) throw new RangeError(`the context holds ${context} tokens`);
    this.token[node] = token;
    this.depth[node] = depth;
    this.children.fill(0, node * vocabulary, (node + 1) * vocabulary);
    if (depth) this.path.copyWithin(node * context, parent * context, parent * context + depth);
    this.path[node * context + depth] = node;
    if (parent < 0) this.roots.set(token, node);
    else this.children[parent * vocabulary + token] = node + 1;
    return node;
  }

  /** The nodes of a row of tokens, one for each prefix. */
  nodes(tokens) {
    let node = -1;
    return tokens.map((token) => (node = this.child(node, token)));
  }

  /** Computes the nodes that are new; all of them again with `afresh`, after the model has changed. */
  forward(model, afresh = false) {
    const first = afresh ? 0 : this.done;
    const end = (this.done = this.count);
    const { width } = this.size;
    const { parameters } = model;
    for (let node = first; node < end; node++) {
      for (let i = 0; i < width; i++) {
        this.x[node * width + i] = parameters[model.tokens + this.token[node] * width + i] + parameters[model.positions + this.depth[node] * width + i];
      }
    }
    const added = this.scratch("added", end * width);
    model.blocks.forEach((layer, b) => {
      const kept = this.blocks[b];
      norm(parameters, layer.attentionNorm, this.x, { standard: kept.standard1, scale: kept.scale1 }, kept.normed1, first, end);
      linear(parameters, layer.joint, kept.normed1, kept.joint, first, end);
      this.attend(kept, first, end);
      linear(parameters, layer.attentionOut, kept.mixed, added, first, end);
      for (let i = first * width; i < end * width; i++) this.x[i] += added[i];
      norm(parameters, layer.mlpNorm, this.x, { standard: kept.standard2, scale: kept.scale2 }, kept.normed2, first, end);
      linear(parameters, layer.mlpIn, kept.normed2, kept.hidden, first, end);
      for (let i = 4 * first * width; i < 4 * end * width; i++) if (kept.hidden[i] < 0) kept.hidden[i] = 0;
      linear(parameters, layer.mlpOut, kept.hidden, added, first, end);
      for (let i = first * width; i < end * width; i++) this.x[i] += added[i];
    });
    norm(parameters, model.norm, this.x, this.out, this.out.normed, first, end);
    linear(parameters, model.head, this.out.normed, this.logits, first, end);
    this.predict(model.temperature, first, end);
  }

  /** Log-probabilities of the next token. */
  predict(temperature, first, end) {
    const { vocabulary } = this.size;
    for (let node = first; node < end; node++) {
      const from = node * vocabulary;
      let most = -Infinity;
      for (let k = 0; k < vocabulary; k++) most = Math.max(most, this.logits[from + k]);
      let total = 0;
      for (let k = 0; k < vocabulary; k++) total += exp((this.logits[from + k] - most) / temperature);
      const logTotal = log(total);
      for (let k = 0; k < vocabulary; k++) this.logp[from + k] = (this.logits[from + k] - most) / temperature - logTotal;
    }
  }

  /** Causal attention: a node looks at its own path. */
  attend({ joint, attention, mixed }, first, end) {
    const { context, width, heads } = this.size;
    const one = width / heads;
    const scale = 1 / Math.sqrt(one);
    for (let node = first; node < end; node++) {
      const length = this.depth[node] + 1;
      for (let head = 0; head < heads; head++) {
        const query = 3 * node * width + head * one;
        const weights = (node * heads + head) * context;
        let most = -Infinity;
        for (let t = 0; t < length; t++) {
          const key = 3 * this.path[node * context + t] * width + width + head * one;
          let score = 0;
          for (let i = 0; i < one; i++) score += joint[query + i] * joint[key + i];
          attention[weights + t] = score *= scale;
          if (score > most) most = score;
        }
        let total = 0;
        for (let t = 0; t < length; t++) total += attention[weights + t] = exp(attention[weights + t] - most);
        const out = node * width + head * one;
        mixed.fill(0, out, out + one);
        for (let t = 0; t < length; t++) {
          const weight = (attention[weights + t] /= total);
          const value = 3 * this.path[node * context + t] * width + 2 * width + head * one;
          for (let i = 0; i < one; i++) mixed[out + i] += weight * joint[value + i];
        }
      }
    }
  }

  /** Adds the gradients of a loss to `gradients`, given its slopes along the logits (count, vocabulary). */
  backward(model, gradients, slopes) {
    const { width } = this.size;
    const { parameters } = model;
    const rows = this.count;
    const [dx, dNormed, dHidden, dMixed, dJoint] = [1, 1, 4, 1, 3].map((times, i) => this.scratch(i, rows * width * times));
    dx.fill(0);
    linearBack(parameters, gradients, model.head, this.out.normed, slopes, dNormed, rows);
    normBack(parameters, gradients, model.norm, this.out, dNormed, dx, rows);
    model.blocks.map((layer, b) => [layer, this.blocks[b]]).reverse().forEach(([layer, kept]) => {
      linearBack(parameters, gradients, layer.mlpOut, kept.hidden, dx, dHidden, rows);
      for (let i = 0; i < dHidden.length; i++) if (kept.hidden[i] === 0) dHidden[i] = 0;
      linearBack(parameters, gradients, layer.mlpIn, kept.normed2, dHidden, dNormed, rows);
      normBack(parameters, gradients, layer.mlpNorm, { standard: kept.standard2, scale: kept.scale2 }, dNormed, dx, rows);
      linearBack(parameters, gradients, layer.attentionOut, kept.mixed, dx, dMixed, rows);
      this.attendBack(kept, dMixed, dJoint.fill(0), rows);
      linearBack(parameters, gradients, layer.joint, kept.normed1, dJoint, dNormed, rows);
      normBack(parameters, gradients, layer.attentionNorm, { standard: kept.standard1, scale: kept.scale1 }, dNormed, dx, rows);
    });
    for (let node = 0; node < rows; node++) {
      for (let i = 0; i < width; i++) {
        gradients[model.tokens + this.token[node] * width + i] += dx[node * width + i];
        gradients[model.positions + this.depth[node] * width + i] += dx[node * width + i];
      }
    }
  }

  attendBack({ joint, attention }, dMixed, dJoint, rows) {
    const { context, width, heads } = this.size;
    const one = width / heads;
    const scale = 1 / Math.sqrt(one);
    const slopes = new Float64Array(context);
    for (let node = 0; node < rows; node++) {
      const length = this.depth[node] + 1;
      for (let head = 0; head < heads; head++) {
        const weights = (node * heads + head) * context;
        const [query, out] = [3 * node * width + head * one, node * width + head * one];
        let mean = 0;
        for (let t = 0; t < length; t++) {
          const value = 3 * this.path[node * context + t] * width + 2 * width + head * one;
          let slope = 0;
          for (let i = 0; i < one; i++) {
            slope += dMixed[out + i] * joint[value + i];
            dJoint[value + i] += attention[weights + t] * dMixed[out + i];
          }
          slopes[t] = slope;
          mean += attention[weights + t] * slope;
        }
        for (let t = 0; t < length; t++) {
          const key = 3 * this.path[node * context + t] * width + width + head * one;
          const slope = attention[weights + t] * (slopes[t] - mean) * scale;
          for (let i = 0; i < one; i++) {
            dJoint[query + i] += slope * joint[key + i];
            dJoint[key + i] += slope * joint[query + i];
          }
        }
      }
    }
  }
}
