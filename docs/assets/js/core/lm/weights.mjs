// The parameters of a TinyLM in one flat array, in the order and with the names of starter/given/charlm_model.py, and Adam.

/** Names, places and shapes of the parameters of a model of this size. */
export function layout({ vocabulary, context, width, layers }) {
  const parts = {};
  let length = 0;
  const add = (name, ...shape) => {
    parts[name] = { at: length, shape };
    length += shape.reduce((a, b) => a * b);
  };
  const linear = (name, ins, outs) => {
    add(`${name}.weight`, outs, ins);
    add(`${name}.bias`, outs);
  };
  const norm = (name) => {
    add(`${name}.weight`, width);
    add(`${name}.bias`, width);
  };
  add("tokens.weight", vocabulary, width);
  add("positions.weight", context, width);
  for (let block = 0; block < layers; block++) {
    norm(`blocks.${block}.attention_norm`);
    linear(`blocks.${block}.queries_keys_values`, width, 3 * width);
    linear(`blocks.${block}.attention_out`, width, width);
    norm(`blocks.${block}.mlp_norm`);
    linear(`blocks.${block}.mlp_in`, width, 4 * width);
    linear(`blocks.${block}.mlp_out`, 4 * width, width);
  }
  norm("norm");
  linear("head", width, vocabulary);
  return { parts, length };
}

/** Size and parameters { size, parameters } of a safetensors file that `save_weights` wrote. */
export function readWeights(buffer) {
  const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
  const { size } = JSON.parse(header.__metadata__.about);
  const { parts, length } = layout(size);
  const parameters = new Float64Array(length);
  for (const [name, { at }] of Object.entries(parts)) {
    const [from, to] = header[name].data_offsets;
    parameters.set(new Float32Array(buffer.slice(start + from, start + to)), at);
  }
  return { size, parameters };
}

/** torch.optim.Adam with its defaults: step(gradients, lr) changes the parameters. */
export class Adam {
  constructor(parameters) {
    this.parameters = parameters;
    this.mean = new Float64Array(parameters.length);
    this.square = new Float64Array(parameters.length);
    this.meanLeft = this.squareLeft = 1; // what the zeros at the start still weigh
  }

  step(gradients, lr) {
    const { parameters, mean, square } = this;
    this.meanLeft *= 0.9;
    this.squareLeft *= 0.999;
    const [size, root] = [lr / (1 - this.meanLeft), Math.sqrt(1 - this.squareLeft)];
    for (let i = 0; i < parameters.length; i++) {
      mean[i] += (gradients[i] - mean[i]) * (1 - 0.9);
      square[i] = 0.999 * square[i] + (1 - 0.999) * gradients[i] * gradients[i];
      parameters[i] -= (size * mean[i]) / (Math.sqrt(square[i]) / root + 1e-8);
    }
  }
}
