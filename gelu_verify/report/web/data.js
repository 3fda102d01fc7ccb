/* The data of the page: a small head at once, every block when it is first asked for. */
const data = JSON.parse(byId("plot-data").textContent);
const inflated = async text => {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};
const bins = dtype => data.layouts[dtype].edges.length - 1;
const KNOWN = 0x4000, NEGATIVE = 0x8000;

/* bytes that stand lowest bytes first, then the next ones, as numbers or as hex texts */
const word = (bytes, start, length, at) => bytes[start + at] | bytes[start + length + at] << 8;
const hexText = (bytes, start, length, at, size, other = -1) => {
  let text = "";
  for (let k = size - 1; k >= 0; k--) {
    const byte = bytes[start + k * length + at] ^ (other < 0 ? 0 : bytes[other + k * length + at]);
    text += byte.toString(16).padStart(2, "0");
  }
  return `0x${text}`;
};

const blocks = new Map();
/* the curves of all results of one function and dtype: {id: curve} */
const curvesOf = key => {
  if (!data.blocks[key]) return Promise.resolve(new Map());
  if (!blocks.has(key)) blocks.set(key, inflated(data.blocks[key].data).then(buffer => decoded(key, new Uint8Array(buffer))));
  return blocks.get(key);
};
const decoded = (key, bytes) => {
  const dtype = key.split("/")[1], layout = data.layouts[dtype], n = bins(dtype), m = layout.witness.length, size = layout.width / 8;
  const length = 4 * n + 3 * m * size, found = new Map();
  data.blocks[key].ids.forEach((id, i) => found.set(id, curve(bytes, i * length, layout, n, m, size, data.blocks[key].nonfinite[i])));
  return found;
};
const curve = (bytes, start, layout, n, m, size, nonfinite) => {
  const levels = new Array(n), signs = new Int8Array(n), means = new Array(n);
  for (let k = 0; k < n; k++) {
    const level = word(bytes, start, n, k), mean = word(bytes, start + 2 * n, n, k) << 16 >> 16;
    const size = level & (KNOWN - 1);
    levels[k] = size === 0 ? null : size === KNOWN - 1 ? data.ceiling : size / data.levels + data.floor; // log2 |E|
    signs[k] = level & KNOWN ? level & NEGATIVE ? -1 : 1 : 0;
    means[k] = mean === 0 ? 0 : Math.sign(mean) * 2 ** (Math.abs(mean) / data.meanLevels + data.floor);
  }
  const bits = start + 4 * n, part = m * size;
  /* the worst input near a bin: {from, to, x, want, got} with the bins that it stands for; x is null where all is correct */
  const worst = bin => {
    let at = layout.witness.length - 1;
    while (layout.witness[at] > bin) at--;
    const from = layout.witness[at], to = layout.witness[at + 1] ?? n;
    const x = hexText(bytes, bits, m, at, size), want = hexText(bytes, bits + part, m, at, size);
    const got = hexText(bytes, bits + part, m, at, size, bits + 2 * part);
    const level = Math.max(...levels.slice(from, to).map(v => v ?? -Infinity));
    return { from, to, level, x: /[^0x]/.test(x + want + got) ? x : null, want, got };
  };
  return { levels, signs, means, nonfinite, worst };
};

/* every result in full, by id */
const loadResults = async () => {
  const text = new TextDecoder().decode(await inflated(data.results));
  const found = JSON.parse(text);
  for (const [id, each] of Object.entries(found)) Object.assign(each, { id, key: `${each.function}/${each.dtype}`, place: data.places[each.target] });
  return found;
};
const cells = {}; // edges of bins as numbers, by dtype
const edgesOf = dtype => cells[dtype] ??= data.layouts[dtype].edges.map(Number);
/* where a value of x lies on the axis of bins */
const positionOf = (dtype, x) => {
  const edges = edgesOf(dtype);
  if (x <= edges[0]) return 0;
  if (x >= edges.at(-1)) return edges.length - 1;
  let low = 0, high = edges.length - 1;
  while (high - low > 1) { const middle = low + high >> 1; if (edges[middle] <= x) low = middle; else high = middle; }
  return low + (x - edges[low]) / (edges[high] - edges[low]);
};
