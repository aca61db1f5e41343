// The layers of a GPT, forward and backward, on rows in flat arrays. Weights of a linear layer are (out, in), as in torch.
// Sums run in one fixed order, so a row's numbers do not depend on the rows beside it.

/** y (rows, outs) = x (rows, ins) @ W.T + b, for rows from `first` up to `end`; `at` is where W begins, then `bias`. */
export function linear(parameters, { at, bias, ins, outs }, x, y, first, end) {
  let row = first;
  for (; row + 3 < end; row += 4) { // four rows share each weight that is read
    const [a, b, c, d] = [row * ins, (row + 1) * ins, (row + 2) * ins, (row + 3) * ins];
    for (let o = 0; o < outs; o++) {
      let s0 = parameters[bias + o], s1 = s0, s2 = s0, s3 = s0;
      const from = at + o * ins;
      for (let i = 0; i < ins; i++) {
        const w = parameters[from + i];
        s0 += w * x[a + i];
        s1 += w * x[b + i];
        s2 += w * x[c + i];
        s3 += w * x[d + i];
      }
      y[row * outs + o] = s0;
      y[(row + 1) * outs + o] = s1;
      y[(row + 2) * outs + o] = s2;
      y[(row + 3) * outs + o] = s3;
    }
  }
  for (; row < end; row++) {
    for (let o = 0; o < outs; o++) {
      let sum = parameters[bias + o];
      for (let i = 0; i < ins; i++) sum += parameters[at + o * ins + i] * x[row * ins + i];
      y[row * outs + o] = sum;
    }
  }
}

/** Adds the gradients of weights and bias, and writes dx (rows, ins), from dy (rows, outs) and the layer's input x. */
export function linearBack(parameters, gradients, { at, bias, ins, outs }, x, dy, dx, rows) {
  dx.fill(0, 0, rows * ins);
  for (let row = 0; row < rows; row++) {
    const input = row * ins;
    for (let o = 0; o < outs; o++) {
      const slope = dy[row * outs + o];
      if (slope === 0) continue;
      gradients[bias + o] += slope;
      const from = at + o * ins;
      for (let i = 0; i < ins; i++) {
        dx[input + i] += slope * parameters[from + i];
        gradients[from + i] += slope * x[input + i];
      }
    }
  }
}

const NORM_EPS = 1e-5; // that of torch.nn.LayerNorm

/** y = gain * standardized x + bias for rows from `first` up to `end`; keeps the standardized x and 1 / std. */
export function norm(parameters, { at, bias, width }, x, kept, y, first, end) {
  for (let row = first; row < end; row++) {
    const from = row * width;
    let mean = 0;
    for (let i = 0; i < width; i++) mean += x[from + i];
    mean /= width;
    let variance = 0;
    for (let i = 0; i < width; i++) variance += (x[from + i] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / width + NORM_EPS);
    kept.scale[row] = scale;
    for (let i = 0; i < width; i++) {
      const standard = (x[from + i] - mean) * scale;
      kept.standard[from + i] = standard;
      y[from + i] = parameters[at + i] * standard + parameters[bias + i];
    }
  }
}

/** Adds the gradients of gain and bias, and adds to dx what comes back through the norm from dy. */
export function normBack(parameters, gradients, { at, bias, width }, kept, dy, dx, rows) {
  for (let row = 0; row < rows; row++) {
    const from = row * width;
    let sum = 0, along = 0;
    for (let i = 0; i < width; i++) {
      const slope = dy[from + i];
      gradients[at + i] += slope * kept.standard[from + i];
      gradients[bias + i] += slope;
      const inner = slope * parameters[at + i];
      sum += inner;
      along += inner * kept.standard[from + i];
    }
    for (let i = 0; i < width; i++) {
      const inner = dy[from + i] * parameters[at + i];
      dx[from + i] += kept.scale[row] * (inner - sum / width - (kept.standard[from + i] * along) / width);
    }
  }
}
