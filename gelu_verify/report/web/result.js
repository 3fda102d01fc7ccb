/* The panel of one result: everything that is known of it. */
const startResult = results => {
  const dialog = byId("result");
  let plot = null, open = null, cameFrom = null;
  const close = () => change({ r: "" });
  dialog.addEventListener("cancel", event => { event.preventDefault(); close(); });
  dialog.addEventListener("click", event => { if (event.target === dialog) close(); });
  listeners.push(left => {
    if (state.r === (open ?? "")) { plot?.again(); return; }
    plot?.end();
    plot = null;
    open = results[state.r] ? state.r : null;
    if (!open) { dialog.close(); dialog.replaceChildren(); cameFrom?.focus(); return; }
    if (!dialog.open) cameFrom = byId(`r-${open}`);
    dialog.replaceChildren(...panel(results[open], left, close));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    dialog.querySelector(".close").focus();
    const d = results[open], shown = open, all = Object.values(results).filter(each => each.key === d.key);
    if (data.blocks[d.key]) errorPlot(dialog.querySelector(".plot"), [d, ...all.filter(each => each !== d).sort((a, b) => a.place - b.place)], new Set([d.id]), memoryOf(""), d).then(made => { if (open === shown) plot = made; else made?.end(); });
  });
};

const section = (title, ...content) => {
  const filled = content.flat().filter(Boolean);
  return filled.length ? make("section", {}, make("h3", {}, title), ...filled) : null;
};
const fact = (name, value, tip) => nothing(value) || value === "" ? [] : [make("dt", { title: tip }, name), make("dd", {}, ...[value].flat())];
const simpleTable = (headings, rows, numeric = []) => rows.length ? make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...headings.map((text, i) => make("th", { scope: "col", class: numeric.includes(i) ? "num" : null }, text)))),
  make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map((cell, i) => make(i ? "td" : "th", { class: numeric.includes(i) ? "num" : null, scope: i ? null : "row" }, ...[cell].flat())))))) : null;
const at = (d, bits) => bits ? [decimal(d.dtype, bits), " ", make("code", {}, bits)] : [NONE];

const asking = (d, bits) => commandLine(d.ask ? d.ask.replace("X_BITS", bits) : d.repeat);

const panel = (d, left, close) => {
  const place = left.findIndex(each => each.id === d.id);
  const step = (label, to) => make("button", { type: "button", disabled: !to, title: to ? `${to.target}, ${to.function}, ${to.dtype}` : null, on: { click: () => change({ r: to.id }) } }, label);
  const head = make("header", {}, make("div", { class: "bar" }, step("‹ previous", left[place - 1]), step("next ›", place < 0 ? undefined : left[place + 1]), copyButton("copy link", () => location.href, "copy a link to this result"), copyButton("copy as text", () => d.evidence, "copy what is known, for a bug report"), make("button", { type: "button", class: "close", on: { click: close } }, "close ✕")),
    make("h2", {}, chip(d.grade ?? "ungraded", d.title), " ", ...breakable(d.target)), make("p", { class: "what" }, make("b", {}, d.function), ` in ${d.dtype}`, d.group === "library" ? `, ${d.family} ${d.version}` : "", d.recorded ? ` · ${d.recorded}` : ""),
    make("p", { class: "sentence" }, typographic(d.sentence ?? d.says), ...(d.conventions || []).flatMap(tag => [" ", make("span", { class: "tag" }, typographic(tag))])));
  return [head,
    d.failure && section(d.failure_kind || "failed", make("p", {}, d.failure)),
    make("section", {}, make("dl", { class: "facts" }, ...facts(d))),
    d.witness && section("Worst input", bitsTable(d.dtype, { x: d.witness.x_bits, got: d.witness.got_bits, want: d.witness.want_bits }), asking(d, d.witness.x_bits), d.program && make("pre", { class: "program" }, d.program), d.program && copyButton("copy program", () => d.program, "a program of the library alone")),
    data.blocks[d.key] && section("Error against x", make("p", { class: "soft" }, "Vertical lines: ends of regions, landmarks of the function (dotted), where outputs become zero. Green: the accurate range. Tick other targets in the table under the plot to lay them over it. Signed: where the worst output of a bin is the correctly rounded one, the mean error is drawn."), make("div", { class: "plot" })),
    make("div", { class: "columns" }, histogramSection(d), regionSection(d), specialSection(d), tailSection(d), attributionSection(d), toleranceSection(d), pairSection(d), moreSection(d)),
    checkSection(d),
    section("Repeat", commandLine(d.repeat), make("details", {}, make("summary", {}, "all of it as text"), make("pre", {}, d.evidence))),
  ].filter(Boolean);
};

const facts = d => {
  const absolute = d.max_abs_error, speed = d.throughput;
  return [
    ...fact("largest error", d.max_ulp === undefined ? null : `${sign(d.bound)} ${ulp(d.max_ulp, d.bound)} ULP`, "abs(got − y)/u(y)"),
    ...fact("accurate range", d.rangeText ? typographic(d.rangeText) : "none", "the widest interval around 0 in which every input, but for few, is within 4 ULP; ● all of it was tried, ○ a sample"),
    ...fact("largest absolute error", absolute && [`${number(absolute.error)} at x = ${decimal(d.dtype, absolute.x_bits)}`, make("small", {}, ` for |x| ≤ 8; anywhere ${number(absolute.units)} u(max(1, |y|))`)]),
    ...fact("mean bits", d.mean_bits && `${d.mean_bits.normal === null ? "" : `${d.mean_bits.normal.toFixed(2)} for x ~ N(0,1), `}${d.mean_bits.plan.toFixed(2)} over the plan, of ${data.layouts[d.dtype]?.precision ?? ""}`),
    ...fact("correctly rounded", nothing(d.correctly_rounded) ? null : `${share(d.correctly_rounded)}; faithful ${share(d.faithful)}`),
    ...fact("mean error E", nothing(d.mean_ulp) ? null : `${plus(d.mean_ulp)} ULP, signed`),
    ...fact("farthest result", nothing(d.max_rank) ? null : `${count(d.max_rank)} ${d.max_rank === 1 ? "float" : "floats"} from the right one`),
    ...fact("speed", speed && `${rate(speed.elements_per_s)} ±${(50 * speed.spread).toFixed(1)} %${nothing(speed.copy_ratio) ? "" : `, ${number(speed.copy_ratio)}× a memory copy`}`, "median, and half the interquartile range"),
    ...fact("inputs", `${count(d.n)}, plan ${d.plan}, seed ${d.seed}${d.ranges ? `, only ${d.ranges.join(" ")}` : ""}; ${d.bound_kind ?? ""}`),
    ...fact("formula", d.form),
    ...fact("called", d.note),
    ...fact("version", d.version),
    ...fact("executed", d.executed),
    ...fact("executions", d.executions && `${d.executions.each.map(each => `${each.name} ${nothing(each.max_ulp) ? "–" : ulp(each.max_ulp, d.bound)} ULP`).join(", ")}; ${share(d.executions.same)} of outputs the same, others up to ${count(d.executions.floats)} floats apart`, "PTX leaves results open: at each x the worst of these was judged"),
    ...fact("second input", d.second && `${d.second.name} = ${number(d.second.value)}, the worst of ${count(d.second.values)} values${d.second.bound === "=" ? ", which are all" : ""}; ${share(d.second.correctly_rounded)} of ${count(d.second.pairs)} pairs correctly rounded, ${share(d.second.composed_correctly_rounded)} where each step is rounded to ${d.dtype}`, "all else here is of that value"),
    ...fact("code chosen", d.dispatch && [d.dispatch.level && `limited to ${d.dispatch.level}`, d.dispatch.seen ? Object.entries(d.dispatch.seen).map(([name, level]) => `${name}: ${level}`).join(", ") : "not seen"].filter(Boolean).join("; "), "which code the library chose for the processor"),
    ...fact("computes in", d.computes_in && `${d.computes_in}${d.rounding ? `, rounded ${d.rounding === "once" ? "once" : "at each step"}` : ""}`, "the dtype whose precision the results have"),
    ...fact("rounds", d.rounding_mode?.replaceAll("_", " ")),
    ...fact("computes", d.variant && d.variant !== d.function ? `${d.variant}, not ${d.function}` : null),
  ];
};

/* ---- the histogram of errors ---- */
const histogramSection = d => {
  if (!d.histogram) return null;
  const [low, high] = d.histogram, edges = data.histogramEdges, total = [...low, ...high].reduce((a, b) => a + b, 0);
  if (!total) return null;
  const last = edges.length - 1 - [...edges.keys()].reverse().findIndex(k => low[k] || high[k]);
  const bars = [...[...Array(last + 1).keys()].reverse().map(k => ["−", k, low[k]]), ...[...Array(last + 1).keys()].map(k => ["+", k, high[k]])];
  const width = 520, height = 166, step = (width - 40) / bars.length, decades = Math.log10(total) + 0.3;
  const tall = value => value ? Math.max(2, (height - 44) * (Math.log10(value) + 0.3) / decades) : 0;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height + 14}`, role: "img", "aria-label": "histogram of signed errors; the percentiles are in the table beside it" });
  bars.forEach(([side, k, value], i) => {
    const h = tall(value), x = 20 + i * step, from = k ? edges[k - 1] : 0, to = edges[k];
    const rect = drawn("rect", { x, y: height - 20 - h, width: Math.max(step - 1, 1), height: h, class: to !== null && to <= 0.5 ? "fine" : to !== null && to <= 4 ? "near" : "far" });
    rect.append(drawn("title"));
    rect.firstChild.textContent = `${side === "−" ? "E < 0" : "E ≥ 0"}: ${number(from)} < |E| ≤ ${to === null ? "∞" : number(to)}: ${count(value)}`;
    svg.append(rect);
  });
  const label = (i, text) => { const node = drawn("text", { x: 20 + i * step, y: height - 6, "text-anchor": "middle" }); node.textContent = text; svg.append(node); };
  for (const [x, y, anchor, text] of [[width - 20, height + 10, "end", "signed error E, ULP"], [2, 10, "start", "inputs, on a logarithmic axis"]]) svg.append(drawn("text", { x, y, "text-anchor": anchor }, text));
  const middle = bars.length / 2, apart = 30 / step; // bars from one label to the next, at least
  label(middle, "0");
  let labelled = 0;
  for (const mark of [0.5, 4, 64, 2 ** 16, 2 ** 24]) {
    const k = edges.indexOf(mark);
    if (k < 0 || k > last || k + 1 - labelled < apart) continue;
    labelled = k + 1;
    label(middle + k + 1, `+${mark < 1e4 ? mark : power(Math.log2(mark))}`);
    label(middle - k - 1, `−${mark < 1e4 ? mark : power(Math.log2(mark))}`);
  }
  const quantile = q => { let seen = 0; for (let k = 0; k < edges.length; k++) { seen += low[k] + high[k]; if (seen >= q * total) return edges[k]; } return null; };
  const negative = low.reduce((a, b) => a + b, 0);
  const exact = (data.layouts[d.dtype]?.width ?? 32) <= 16;
  return section("Signed errors", svg, saveButton(() => svg, () => `${d.target}, ${d.function} in ${d.dtype}: signed errors`), make("p", { class: "soft" }, exact ? "Counts on a logarithmic axis; each input under its own sign." : "Counts on a logarithmic axis. Signs are stored for buckets, not for inputs: each bucket's inputs stand under the sign of the bucket's mean error."),
    simpleTable(["|E| of this share of the inputs", "is at most, ULP"], [[0.5, "50 %"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9 %"], [0.9999, "99.99 %"]].map(([q, text]) => [text, quantile(q) === null ? "∞" : number(quantile(q))]), [1]),
    make("p", { class: "soft" }, `${count(negative)} of ${count(total)} scored inputs ${exact ? "have" : "lie in buckets with"} a negative ${exact ? "error" : "mean error"}; percentiles are upper edges of the histogram.`));
};

const regionSection = d => {
  const columns = (d.regions || []).map(r => [typographic(r.region).replace("inf", "∞"), count(r.n), ulp(r.max_ulp, d.bound), r.witness ? at(d, r.witness.x_bits) : NONE]);
  return section("Regions of x", simpleTable(["region", "inputs", "max ULP", "at x ="], columns, [1, 2]));
};
const SPECIALS = [["plus_infinity", "f(+∞)"], ["minus_infinity", "f(−∞)"], ["nan", "f(NaN)"], ["signed_zero", "f(−0)"]];
const specialSection = d => section("Special values", simpleTable(["input", "got", "want", "check"], SPECIALS.filter(([name]) => d.checks[name] && d.checks[name] !== "not applicable").map(([name, title]) => {
  const finding = d.findings[name] || {};
  return [title, at(d, finding.got_bits), at(d, finding.want_bits), outcome(d, name)];
})), d.nonfinite?.count ? make("p", {}, `${count(d.nonfinite.count)} NaN or infinite outputs where a finite value is due, nearest to zero at x = `, ...at(d, d.nonfinite.x_bits)) : null);
const tailSection = d => {
  if (!d.zero_threshold && !d.zero_from) return null;
  return section("Left tail", simpleTable(["the output", "x"], [["returns zero too early from", d.zero_from ? at(d, d.zero_from.x_bits) : "never"], ["may be zero from", at(d, d.zero_threshold?.x_bits)]]),
    d.flush ? make("p", {}, `Subnormal ${d.flush.flushed} become zero; the largest error of all others is ${ulp(d.flush.max_ulp, d.bound)} ULP.`) : null);
};
const attributionSection = d => {
  const parts = d.attribution;
  if (!parts) return null;
  const named = [["constants", "constants, rounded"], ["formula", `formula (${parts.form}), each step rounded in ${parts.working}`], ["flushing", "subnormals that become zeros"], ["rest", parts.known ? `what ${parts.known} does, whose bits are the same at the worst inputs` : "building blocks and what is unexplained"]].filter(([name]) => name !== "flushing" || parts.flushing);
  const most = Math.max(...named.map(([name]) => Math.abs(parts[name])), 1e-300);
  return section("Where the largest error comes from", simpleTable(["part", "ULP at the worst input", "its size"], named.map(([name, title]) => [title, plus(parts[name]), make("i", { class: "part", style: `width:${(100 * Math.abs(parts[name]) / most).toFixed(1)}%` })]), [1]));
};
const toleranceSection = d => {
  const found = Object.entries(d.tolerances || {});
  if (!found.length) return null;
  const missed = found.filter(([, noticed]) => !noticed).map(([name]) => name), seen = found.filter(([, noticed]) => noticed).map(([name]) => name);
  return section("Would known test suites have noticed?", make("p", {}, missed.length ? make("span", {}, make("b", {}, `${missed.length} of ${found.length} would have missed it: `), missed.join(", "), ". ") : "", seen.length ? `Noticed by: ${seen.join(", ")}.` : ""), make("p", { class: "soft" }, "Tolerances in the legend."));
};
const pairSection = d => d.pair ? section("Beside the first path", make("p", {}, `${count(d.pair.differ)} of ${count(d.pair.inputs)} fixed inputs give other bits than `, make("b", {}, d.pair.with), d.pair.differ ? `, at most ${count(d.pair.floats)} floats apart.` : "."),
  d.pair.witness ? simpleTable(["farthest apart", "value"], [["x", at(d, d.pair.witness.x_bits)], ["this path", at(d, d.pair.witness.got_bits)], [d.pair.with, at(d, d.pair.witness.other_bits)]]) : null) : null;
const moreSection = d => section("Also", d.approximation ? make("p", {}, `Approximates ${d.approximation.function}: at most ${number(d.approximation.max_abs)} away from it, ${ulp(d.approximation.max_ulp, ">=")} ULP at x = `, ...at(d, d.approximation.x_bits)) : null,
  d.root ? make("p", {}, `Near the root of the derivative: ${ulp(d.root.max_ulp, d.bound)} ULP of the exact value, ${ulp(d.root.max_ulp_absolute, d.bound)} ULP of 1/8, at x = `, ...at(d, d.root.x_bits)) : null);

const checkSection = d => {
  const failed = Object.keys(d.checks).filter(name => d.checks[name] === "fail"), passed = Object.keys(d.checks).filter(name => d.checks[name] === "pass"), without = Object.keys(d.checks).filter(name => d.checks[name] === "not applicable");
  if (!Object.keys(d.checks).length) return null;
  const order = ["defect", "loss", "convention"];
  const rows = failed.map(name => [name, d.findings[name] || {}]).sort((a, b) => order.indexOf(a[1].severity) - order.indexOf(b[1].severity)).map(([name, finding]) => [make("a", { href: `#c-${name}`, title: "what it means, why, how to fix it" }, name), make("span", { class: `sev ${finding.severity || "loss"}` }, finding.severity || "loss"),
    [typographic(finding.detail || "failed"), finding.x_bits ? make("small", { class: "bitsline" }, " x ", ...at(d, finding.x_bits), "; got ", ...at(d, finding.got_bits), "; want ", ...at(d, finding.want_bits)) : ""]]);
  return section("Checks", failed.length ? simpleTable(["failed", "is a", "what was found"], rows) : make("p", {}, "None failed."), make("p", { class: "soft" }, `Passed: ${passed.join(", ") || "none"}.${without.length ? ` Not applicable or not asked: ${without.join(", ")}.` : ""}`));
};
