/* A plot of error against x: zoom on both axes, |E| or signed, budget lines, landmarks, overlays, and what lies under a click. */
const BUDGETS = [[0.5, "0.5 ULP: correct rounding"], [4, "4 ULP: accurate"]];
const X_RANGES = [["all x", null], ["x < −1", [-64, -1]], ["−8 to −1", [-8, -1]], ["−3 to 3", [-3, 3]], ["−1 to 1", [-1, 1]], ["x > 1", [1, 64]]];
const bent = e => Math.sign(e) * Math.log2(1 + 4 * Math.abs(e)); // the signed axis: linear near 0, logarithmic beyond
const unbent = v => Math.sign(v) * (2 ** Math.abs(v) - 1) / 4;

/* What a plot shows, in the address: `with` ids, `zoom` ends of x and perhaps of y as the axes count them, `signed`. */
const memoryOf = (prefix, always = () => ({})) => ({
  read: () => Object.fromEntries(Object.keys(PANEL).map(name => [name, state[prefix + name]])),
  write: found => remember({ ...always(), ...Object.fromEntries(Object.entries(found).map(([name, value]) => [prefix + name, value])) }),
});

/* `all`: results of one function and dtype; `shown`: ids drawn at first; `focus`: the one that the plot is about */
const errorPlot = async (root, all, shown, memory, focus = null) => {
  const curves = await curvesOf(all[0].key), dtype = all[0].dtype, n = bins(dtype), layout = data.layouts[dtype];
  const series = all.filter(d => curves.has(d.id)).map(d => ({ d, curve: curves.get(d.id), on: shown.has(d.id) }));
  if (!series.length) { root.replaceChildren(make("p", { class: "empty" }, "This run has no error tables for it.")); return null; }
  let isSigned = false, plot = null, zoomX = null, zoomY = null, isOwn = false, known = "";
  const chart = make("div", { class: "chart", tabindex: "0", role: "group", "aria-label": `error of ${all[0].function} in ${dtype} against x; arrow keys move the cursor, Enter shows the worst input there, Escape shows all` });
  const tools = make("div", { class: "tools" }), where = make("p", { class: "where", "aria-live": "polite" }, "\u00a0"), answer = make("div", { class: "answer-box", "aria-live": "polite" });
  const key = make("table", { class: "key-table" }), saved = make("div", { hidden: true });
  root.replaceChildren(tools, chart, where, answer, key, saved);

  /* ---- what is drawn ---- */
  const heightOf = (s, bin) => {
    const level = s.curve.levels[bin];
    if (level === null) return null;
    if (!isSigned) return Math.max(level, low());
    const size = 2 ** level;
    return bent(s.curve.signs[bin] ? s.curve.signs[bin] * size : s.curve.means[bin]);
  };
  const low = () => -3;
  const drawnSeries = () => series.filter(s => s.on);
  const values = () => [Array.from({ length: n + 1 }, (_, i) => i), ...series.map(s => {
    const heights = Array.from({ length: n }, (_, bin) => heightOf(s, bin));
    return [...heights, heights[n - 1]];
  })];
  const fullY = () => {
    const levels = drawnSeries().flatMap(s => s.curve.levels).filter(v => v !== null);
    const top = Math.min(Math.max(3, ...levels) + 0.5, data.ceiling);
    return isSigned ? [-bent(2 ** top), bent(2 ** top)] : [low(), top];
  };
  const title = isSigned => isSigned ? "signed error E, ULP" : "largest error |E|, ULP";

  const xTicks = (u, axis, from, to) => {
    const inside = layout.ticks.filter(t => t[0] >= from && t[0] <= to), room = Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 64));
    if (inside.length >= 4) return (inside.length > room ? inside.filter(t => /^−?(64|8|1|0)$/.test(t[1])) : inside).map(t => t[0]);
    const step = Math.max(1, Math.ceil((to - from) / Math.max(2, room - 1))), splits = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) splits.push(at);
    return splits;
  };
  const xLabel = at => (layout.ticks.find(t => t[0] === at) || [0, signed(Number(layout.edges[at] ?? "NaN").toPrecision(4).replace(/\.?0+$|\.?0+(?=e)/, ""))])[1];
  const yTicks = (u, axis, from, to) => {
    if (!isSigned) {
      const step = Math.max(1, Math.ceil((to - from) / 8)), splits = [];
      for (let k = Math.ceil(from); k <= to; k++) if ((k + 1) % step === 0) splits.push(k);
      return splits;
    }
    const ends = Math.max(Math.abs(unbent(from)), Math.abs(unbent(to))), step = Math.max(1, Math.ceil(Math.log2(ends + 1) / 4)), sizes = [0.5];
    for (let k = step - 1 || 1; 2 ** k <= ends * 2; k += step) sizes.push(2 ** k);
    return [...sizes.map(s => -bent(s)).reverse(), 0, ...sizes.map(bent)].filter(v => v >= from && v <= to);
  };
  const yLabel = v => {
    if (!isSigned) return power(v);
    const e = unbent(v);
    return e === 0 ? "0" : `${e < 0 ? MINUS : "+"}${Math.abs(e) < 2000 ? Number(Math.abs(e).toPrecision(3)) : `2${raised(Math.round(Math.log2(Math.abs(e))))}`}`;
  };

  /* regions, landmarks, budgets, and where outputs are not finite */
  const overlays = u => {
    const { ctx, bbox } = u, px = devicePixelRatio, right = bbox.left + bbox.width, bottom = bbox.top + bbox.height;
    const vertical = (x, dash, colour) => {
      const at = Math.round(u.valToPos(positionOf(dtype, x), "x", true));
      if (at <= bbox.left || at >= right) return null;
      ctx.strokeStyle = colour; ctx.setLineDash(dash.map(v => v * px));
      ctx.beginPath(); ctx.moveTo(at, bbox.top); ctx.lineTo(at, bottom); ctx.stroke();
      return at;
    };
    ctx.save();
    ctx.lineWidth = px;
    ctx.font = `${11 * px}px ${variable("--sans")}`;
    for (const x of [-8, -5, -3, -1, 0, 1]) vertical(x, [], variable("--rule"));
    const texts = [];
    for (const [label, x] of Object.entries(data.landmarks[all[0].function] || {})) texts.push([vertical(x, [1, 3], variable("--soft")), label]);
    if (focus?.zero_from) texts.push([vertical(focus.zero_from.x, [4, 2], variable("--bad")), "zero from here"]);
    if (focus?.zero_threshold) texts.push([vertical(focus.zero_threshold.x, [4, 2], variable("--good")), "zero is right from here"]);
    ctx.textAlign = "left";
    const ends = [0, 0, 0];
    for (const [at, label] of texts.filter(([at]) => at !== null).sort((a, b) => a[0] - b[0])) {
      ctx.fillStyle = variable("--soft");
      const width = ctx.measureText(label).width, left = Math.min(at + 3 * px, right - width), row = ends.findIndex(end => end < left);
      if (row < 0) continue;
      ends[row] = left + width + 6 * px;
      ctx.fillText(label, left, bbox.top + (11 + 12 * row) * px);
    }
    ctx.strokeStyle = ctx.fillStyle = variable("--soft");
    for (const [size, label] of BUDGETS) for (const e of isSigned ? [size, -size] : [size]) {
      const y = Math.round(u.valToPos(isSigned ? bent(e) : Math.log2(e), "y", true));
      if (y < bbox.top || y > bottom) continue;
      ctx.setLineDash([3 * px, 3 * px]);
      ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(right, y); ctx.stroke();
      ctx.textAlign = "right";
      if (e > 0) ctx.fillText(label, right - 3 * px, y - 3 * px);
    }
    ctx.setLineDash([]);
    if (focus?.accurate_range) {
      const [from, to] = [focus.accurate_range.low, focus.accurate_range.high].map(x => Math.min(Math.max(u.valToPos(positionOf(dtype, x), "x", true), bbox.left), right));
      ctx.fillStyle = variable("--good");
      ctx.fillRect(from, bottom - 4 * px, Math.max(to - from, px), 4 * px);
    }
    ctx.textAlign = "center";
    for (const s of drawnSeries()) {
      ctx.fillStyle = strokeOf(s.d.place);
      for (const [a, b] of s.curve.nonfinite) {
        const from = Math.max(u.valToPos(a, "x", true), bbox.left), to = Math.min(u.valToPos(b + 1, "x", true), right);
        if (to <= from) continue;
        ctx.fillRect(from, bbox.top, Math.max(to - from, 2 * px), 3 * px);
        ctx.fillText("✕", (from + to) / 2, bbox.top + 13 * px);
      }
    }
    ctx.restore();
  };

  /* ---- the key: what is drawn, its maximum in view and at the cursor ---- */
  const body = make("tbody");
  key.append(make("thead", {}, make("tr", {}, ...["target", "grade", "max |E|", "max |E| in view", "at the cursor"].map((text, i) => make("th", { scope: "col", class: i > 1 ? "num" : null }, text)))), body);
  for (const s of series) {
    s.box = make("input", { type: "checkbox", on: { change: () => { s.on = s.box.checked; refresh(); write(); } } });
    s.box.checked = s.on;
    s.inView = make("td", { class: "num" });
    s.here = make("td", { class: "num" });
    s.row = make("tr", { class: s.d === focus ? "focus" : null }, make("th", { scope: "row" }, make("label", {}, s.box, swatch(s.d.place), make("span", {}, ...breakable(s.d.target)))),
      make("td", {}, chip(s.d.grade ?? "ungraded", s.d.title)), make("td", { class: "num" }, `${sign(s.d.bound)} ${ulp(s.d.max_ulp, s.d.bound)}`), s.inView, s.here);
    s.row.addEventListener("mouseenter", () => { if (s.on) plot.setSeries(series.indexOf(s) + 1, { focus: true }); });
    s.row.addEventListener("mouseleave", () => plot.setSeries(null, { focus: false }));
    body.append(s.row);
  }
  const readView = () => {
    const { min, max } = plot.scales.x;
    const from = Math.max(0, Math.floor(min)), to = Math.min(n, Math.ceil(max));
    for (const s of series) {
      const level = s.curve.levels.slice(from, to).reduce((a, b) => b === null ? a : Math.max(a, b), -Infinity);
      const broken = s.curve.nonfinite.some(([a, b]) => a < to && b >= from);
      s.inView.textContent = `${broken ? "✕ " : ""}${level === -Infinity ? NONE : sizeText(level, s.d)}`;
    }
  };
  const sizeText = (level, d) => level <= data.floor + 1 ? "0" : level >= data.ceiling ? `> 2${raised(data.ceiling)}` : ulp(Math.min(2 ** level, d.max_ulp ?? Infinity));
  const binAt = u => u.cursor.idx === null || u.cursor.idx === undefined ? null : Math.min(u.cursor.idx, n - 1);
  const readCursor = u => {
    const bin = binAt(u);
    where.textContent = bin === null ? "\u00a0" : `x from ${signed(layout.edges[bin])} to ${signed(layout.edges[bin + 1])}`;
    for (const s of series) {
      const level = bin === null ? null : s.curve.levels[bin];
      const broken = bin !== null && s.curve.nonfinite.some(([a, b]) => a <= bin && bin <= b);
      s.here.textContent = bin === null ? "" : `${broken ? "✕ " : ""}${level === null ? NONE : sizeText(level, s.d)}`;
    }
  };

  /* ---- a click: the worst input there ---- */
  const pick = (u, top) => {
    const bin = binAt(u);
    const near = drawnSeries().filter(s => s.curve.levels[bin] !== null);
    if (bin === null || !near.length) return;
    const s = top === null && focus ? near.find(each => each.d === focus) || near[0] : near.reduce((a, b) => Math.abs(u.valToPos(heightOf(a, bin), "y") - (top ?? 0)) <= Math.abs(u.valToPos(heightOf(b, bin), "y") - (top ?? 0)) ? a : b);
    const worst = s.curve.worst(bin), from = signed(layout.edges[worst.from]), to = signed(layout.edges[worst.to]);
    const head = make("p", {}, swatch(s.d.place), " ", make("b", {}, s.d.target), ` for x from ${from} to ${to}: `);
    if (worst.x === null) {
      answer.replaceChildren(head, make("p", {}, worst.level > -0.99 ? `no inputs are kept here: it is a recorded result, or a kernel of ours that nobody named.` : `the outputs for all inputs tried there are correctly rounded (|E| ≤ 0.5), or nothing was tried.`));
      return;
    }
    head.append(`worst input, |E| ${worst.level >= data.ceiling ? `> 2${raised(data.ceiling)}` : `≈ ${ulp(Math.min(2 ** worst.level, s.d.max_ulp ?? Infinity))}`} ULP`);
    answer.replaceChildren(head, bitsTable(dtype, worst), asking(s.d, worst.x));
  };

  /* ---- building ---- */
  const build = () => {
    plot?.destroy();
    const axis = { stroke: variable("--soft"), grid: { stroke: variable("--faint"), width: 1 }, ticks: { stroke: variable("--rule"), width: 1, size: 4 }, font: `12px ${variable("--sans")}`, labelSize: 20, labelGap: 0, labelFont: `12px ${variable("--sans")}` };
    isOwn = true;
    plot = new uPlot({
      width: Math.max(chart.clientWidth, 240), height: innerWidth < 576 ? 260 : 360, legend: { show: false },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      cursor: { y: false, drag: { x: true, y: true, uni: 24 }, points: { size: 6 }, focus: { prox: 16 }, dataIdx: (u, s, at, x) => Math.max(0, Math.min(Math.floor(x), n - 1)), bind: { dblclick: () => () => { reset(); return null; } } },
      focus: { alpha: 0.25 },
      axes: [{ ...axis, splits: xTicks, values: (u, splits) => splits.map(xLabel), size: 28, gap: 4, label: "x, in the order of the floats" },
        { ...axis, splits: yTicks, values: (u, splits) => splits.map(yLabel), size: 52, gap: 4, label: title(isSigned) }],
      series: [{}, ...series.map(s => ({ label: s.d.target, show: s.on, stroke: strokeOf(s.d.place), width: s.d === focus ? 2 : 1.4, dash: dashOf(s.d.place), paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, spanGaps: false }))],
      hooks: { setCursor: [readCursor], draw: [overlays], setScale: [(u, name) => {
        if (!isOwn && plot) { if (name === "x") zoomX = endsOf("x"); else zoomY = endsOf("y"); write(); }
        if (name === "x" && plot) readView();
      }] },
    }, values(), chart);
    zoom(zoomX ?? [0, n], zoomY ?? fullY());
    let pressed = null;
    plot.over.addEventListener("mousedown", event => { pressed = [event.clientX, event.clientY]; });
    plot.over.addEventListener("mouseup", event => {
      if (pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4) pick(plot, event.offsetY);
      pressed = null;
    });
  };
  const endsOf = name => [plot.scales[name].min, plot.scales[name].max];
  const zoom = (x, y) => {
    isOwn = true;
    plot.batch(() => {
      if (x) plot.setScale("x", { min: x[0], max: x[1] });
      if (y) plot.setScale("y", { min: y[0], max: y[1] });
    });
    isOwn = false;
  };
  /* as a button or a key asks for: null is all of it */
  const zoomTo = (x, y) => { [zoomX, zoomY] = [x, y]; zoom(x ?? [0, n], y ?? fullY()); write(); };
  const reset = () => zoomTo(null, null);

  /* ---- what the address has of it ---- */
  const write = () => {
    const drawn = drawnSeries().map(s => s.d.id), isDefault = drawn.length === shown.size && drawn.every(id => shown.has(id));
    const ends = zoomX || zoomY ? [...(zoomX ?? [0, n]), ...(zoomY ?? [])].map(end => Number(end.toFixed(2))).join("_") : "";
    memory.write({ with: isDefault ? "" : drawn.join(".") || "-", zoom: ends, signed: isSigned ? "1" : "" });
    known = JSON.stringify(memory.read());
  };
  const read = () => {
    const found = memory.read(), ids = new Set(found.with.split(".")), isKnown = found.with === "-" || series.some(s => ids.has(s.d.id));
    for (const s of series) s.on = (isKnown ? ids : shown).has(s.d.id);
    const ends = found.zoom.split("_").map(Number), pair = (k, most) => -most <= ends[k] && ends[k] < ends[k + 1] && ends[k + 1] <= most ? [ends[k], ends[k + 1]] : null;
    [zoomX, zoomY, isSigned, known] = [ends[0] >= 0 ? pair(0, n) : null, pair(2, 2 ** 12), found.signed === "1", JSON.stringify(found)];
  };
  const refresh = () => {
    for (const s of series) { s.box.checked = s.on; s.row.classList.toggle("off", !s.on); plot.setSeries(series.indexOf(s) + 1, { show: s.on }); }
    zoom(null, zoomY ?? fullY());
    readView();
  };
  read();
  const signedButton = make("button", { type: "button", "aria-pressed": String(isSigned) }, "signed");
  signedButton.addEventListener("click", () => { isSigned = !isSigned; zoomY = null; draw(); write(); });
  /* what is in view, as an element beside it */
  const asSvg = () => {
    const [x, y] = ["x", "y"].map(name => ({ from: plot.scales[name].min, to: plot.scales[name].max }));
    const found = plotSvg({
      x: { ...x, ticks: xTicks(plot, 0, x.from, x.to).map(at => [at, xLabel(at)]), title: "x, in the order of the floats" }, y: { ...y, ticks: yTicks(plot, 1, y.from, y.to).map(at => [at, yLabel(at)]), title: title(isSigned) },
      rules: BUDGETS.flatMap(([size]) => isSigned ? [[bent(size), `${size} ULP`], [-bent(size), `${MINUS}${size} ULP`]] : [[Math.log2(size), `${size} ULP`]]),
      curves: drawnSeries().map((s, k) => ({ label: s.d.target, colour: colourOf(s.d.place), dash: dashOf(k), // those of the page repeat after seven
        heights: Array.from({ length: n }, (_, bin) => heightOf(s, bin)), crosses: s.curve.nonfinite.map(([a, b]) => (a + b + 1) / 2) })),
    });
    saved.replaceChildren(found);
    return found;
  };
  const draw = () => { signedButton.setAttribute("aria-pressed", String(isSigned)); build(); refresh(); };
  const button = (label, action, pressed) => {
    const node = make("button", { type: "button", "aria-pressed": pressed }, label);
    node.addEventListener("click", () => action(node));
    return node;
  };
  tools.append(make("span", { class: "set" }, ...X_RANGES.map(([label, range]) => button(label, () => zoomTo(range?.map(x => positionOf(dtype, x)) ?? null, null)))),
    make("span", { class: "set" }, "y:", button("× ½", () => { const { min, max } = plot.scales.y; zoomTo(zoomX, isSigned ? [min / 2, max / 2] : [min, min + (max - min) / 2]); }), button("× 2", () => { const { min, max } = plot.scales.y; zoomTo(zoomX, isSigned ? [min * 2, max * 2] : [min, min + (max - min) * 2]); }),
      signedButton),
    saveButton(asSvg, () => `${all[0].function}, ${dtype}: ${title(isSigned).split(",")[0]} against x`),
    make("span", { class: "hint" }, "Drag to zoom, double-click for all, click for the worst input."));
  chart.addEventListener("keydown", event => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); reset(); return; }
    if (event.key === "Enter") { pick(plot, null); return; }
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const { min, max } = plot.scales.x, at = plot.cursor.left >= 0 ? Math.floor(plot.posToVal(plot.cursor.left, "x")) : Math.floor((min + max) / 2);
    const next = Math.min(Math.max(at + move * (event.shiftKey ? 10 : 1), Math.ceil(min)), Math.floor(max) - 1);
    plot.setCursor({ left: plot.valToPos(next + 0.5, "x"), top: plot.bbox.height / devicePixelRatio / 2 });
  });
  draw();
  const resized = new ResizeObserver(() => { if (chart.clientWidth) plot.setSize({ width: chart.clientWidth, height: plot.height }); });
  resized.observe(chart);
  const dark = matchMedia("(prefers-color-scheme: dark)"), end = () => { resized.disconnect(); dark.removeEventListener("change", draw); plot.destroy(); };
  dark.addEventListener("change", draw);
  return {
    /* hides the targets that are not among these results */
    keep: ids => { for (const s of series) { s.row.hidden = !ids.has(s.d.id); if (s.row.hidden) s.on = false; } if (!series.some(s => s.on)) for (const s of series.filter(s => !s.row.hidden).slice(0, 4)) s.on = true; refresh(); },
    end,
    /* what the address says now */
    again: () => { if (JSON.stringify(memory.read()) !== known) { read(); draw(); } },
  };
};

/* x, got and want with decimal, hex float and bits */
const bitsTable = (dtype, witness) => make("table", { class: "bits" }, make("tbody", {}, ...["x", "got", "want"].map(name =>
  make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, decimal(dtype, witness[name])), make("td", { class: "hex" }, hexFloat(dtype, witness[name])), make("td", {}, make("code", {}, witness[name])), make("td", {}, copyButton("copy", () => witness[name], `copy the bits of ${name}`))))));
const commandLine = command => make("p", { class: "command" }, make("code", {}, command), " ", copyButton("copy command", () => command));
