/* What the table can show of a result beside its name: sets of columns, each with a value to sort by and a text. */
const ORDER = data.grades;
const reach = d => d.accurate_range ? Math.min(-d.accurate_range.low, 1e6) + Math.min(d.accurate_range.high, 1e6) : -1;
const nothing = value => value === null || value === undefined;

const FIXED = [
  { k: "grade", title: "grade", value: d => ORDER[d.grade] ?? -1, worst: 1 },
  { k: "target", title: "target", value: d => d.target },
  { k: "function", title: "function", value: d => functionRank.get(d.function) },
  { k: "dtype", title: "dtype", value: d => dtypeRank.get(d.dtype) },
];
const SUMMARY = [
  { k: "sentence", title: "what a user must know", value: d => d.says },
  { k: "range", title: "accurate range", value: reach },
  { k: "max_ulp", title: "max ULP", value: d => d.max_ulp, worst: 1 },
  { k: "units", title: "max abs.", value: d => d.max_abs_error?.units, worst: 1 },
  { k: "bits", title: "bits", value: d => d.mean_bits?.normal ?? d.mean_bits?.plan },
  { k: "rate", title: "speed", value: d => d.throughput?.elements_per_s, worst: 1 },
];
const outcome = (d, name) => {
  const found = d.checks[name];
  return found === "pass" ? "✓" : found === "fail" ? make("span", { class: `sev ${d.findings[name]?.severity || "loss"}`, title: d.findings[name]?.detail || "" }, "✗ ", d.findings[name]?.severity || "") : NONE;
};
const check = name => ({ k: name, title: name, value: d => ["fail", "pass"].indexOf(d.checks[name]), show: d => outcome(d, name) });
const special = (name, title) => ({ k: name, title, value: d => ["fail", "pass"].indexOf(d.checks[name]), show: d => {
  const finding = d.findings[name];
  if (!finding?.got_bits) return outcome(d, name);
  const got = decimal(d.dtype, finding.got_bits), failed = d.checks[name] === "fail";
  return make("span", { class: failed ? `sev ${finding.severity || "loss"}` : null, title: finding.detail || null }, failed ? "✗ " : "✓ ", got, failed && finding.want_bits ? `, want ${decimal(d.dtype, finding.want_bits)}` : "");
} });
const region = name => ({ k: name, title: typographic(name).replace("inf", "∞"), num: 1, value: d => d.regions?.find(r => r.region === name)?.max_ulp, show: d => ulp(d.regions?.find(r => r.region === name)?.max_ulp, d.bound), worst: 1 });
/* of the worst input of a region: where its output is the correct one, what the error makes at most */
const relativeIn = (d, name) => {
  const found = d.regions?.find(r => r.region === name);
  if (!found || nothing(found.max_ulp)) return null;
  const [got, want] = ["got_bits", "want_bits"].map(bits => found.witness?.[bits] ? valueOf(d.dtype, found.witness[bits]) : NaN);
  return got === want || !Number.isFinite(got - want) ? found.max_ulp * 2 ** (1 - data.layouts[d.dtype].precision) : Math.abs(got - want) / Math.abs(want);
};
const inPercent = value => value === null ? NONE : value === Infinity ? "∞" : value < 1e-4 ? number(value, 2) : `${number(100 * value, 2)}\u00a0%`;
const plain = (k, title, value, show, more = {}) => ({ k, title, value, show, ...more });

const VIEWS = {
  summary: { title: "summary", columns: SUMMARY },
  regions: { title: "regions: max ULP", columns: data.regions.map(region) },
  relative: { title: "regions: relative error", columns: data.regions.map(name => ({ ...region(name), k: `relative ${name}`, value: d => relativeIn(d, name), show: d => inPercent(relativeIn(d, name)) })) },
  tail: { title: "tail", columns: [
    plain("zero_from", "zero from x =", d => d.zero_from?.x, d => d.zero_from ? decimal(d.dtype, d.zero_from.x_bits) : "never too early"),
    plain("zero_right", "zero is right from x =", d => d.zero_threshold?.x, d => d.zero_threshold ? decimal(d.dtype, d.zero_threshold.x_bits) : NONE),
    ...["tail_zero", "plateau", "monotone", "sign"].map(check)] },
  special: { title: "special values", columns: [special("plus_infinity", "f(+∞)"), special("minus_infinity", "f(−∞)"), special("nan", "f(NaN)"), special("signed_zero", "f(−0)"),
    plain("nonfinite", "NaN or ∞ at finite x", d => d.nonfinite?.count, d => d.nonfinite?.count ? `${count(d.nonfinite.count)}, from ${decimal(d.dtype, d.nonfinite.x_bits || "0x0")}` : "none", { worst: 1 }),
    plain("flush", "flushes", d => d.flush?.flushed ?? "", d => d.flush ? `subnormal ${d.flush.flushed}` : "no")] },
  checks: { title: "failed checks", columns: [["defect", "defects"], ["loss", "losses"], ["convention", "conventions"]].map(([kind, title]) => ({ k: kind, title, worst: 1,
    value: d => failures(d, kind).length, show: d => { const names = failures(d, kind); return names.length ? make("span", { class: `sev ${kind}` }, names.join(", ")) : "none"; } })) },
  shares: { title: "shares, percentiles", columns: [
    plain("correct", "correctly rounded", d => d.correctly_rounded, d => share(d.correctly_rounded), { num: 1 }), plain("faithful_share", "faithful", d => d.faithful, d => share(d.faithful), { num: 1 }),
    plain("mean_ulp", "mean E", d => d.mean_ulp, d => plus(d.mean_ulp), { num: 1 }), plain("p50", "median |E| ≤", d => d.p50_ulp, d => number(d.p50_ulp), { num: 1, worst: 1 }),
    plain("p99", "99 % of |E| ≤", d => d.p99_ulp, d => number(d.p99_ulp), { num: 1, worst: 1 }), plain("apart", "floats apart", d => d.max_rank, d => count(d.max_rank), { num: 1, worst: 1 }), plain("n", "inputs", d => d.n, d => count(d.n), { num: 1 })] },
  attribution: { title: "where the error is from", columns: [
    ...[["constants", "constants"], ["formula", "formula"], ["flushing", "flushing"], ["rest", "blocks, unexplained"]].map(([k, title]) => plain(k, `${title}, ULP`, d => d.attribution && Math.abs(d.attribution[k]), d => plus(d.attribution?.[k]), { num: 1, worst: 1 })),
    plain("main", "main cause", d => d.attribution?.main, d => d.attribution?.main ?? NONE), plain("working", "formula, computed in", d => d.attribution?.form, d => d.attribution ? `${d.attribution.form}, ${d.attribution.working}` : NONE)] },
  tests: { title: "tests in use elsewhere", columns: [] },
  how: { title: "how it is computed", columns: [
    plain("form", "formula", d => d.form, d => d.form), plain("note", "called", d => d.note, d => d.note), plain("computes_in", "computes in", d => d.computes_in, d => [d.computes_in, d.rounding].filter(Boolean).join(", ") || NONE),
    plain("rounding_mode", "rounds", d => d.rounding_mode, d => d.rounding_mode?.replaceAll("_", " ") ?? NONE), plain("version", "version", d => d.version, d => d.version)] },
  paths: { title: "differences between paths", columns: [
    plain("with", "first path", d => d.pair?.with, d => d.pair?.with ?? NONE), plain("differ", "inputs that differ", d => d.pair && d.pair.differ / d.pair.inputs, d => d.pair ? `${count(d.pair.differ)} of ${count(d.pair.inputs)}` : NONE, { num: 1, worst: 1 }),
    plain("floats", "floats apart", d => d.pair?.floats, d => count(d.pair?.floats), { num: 1, worst: 1 }), plain("pair_x", "at x =", d => d.pair?.witness?.x_bits, d => d.pair?.witness ? decimal(d.dtype, d.pair.witness.x_bits) : NONE, { num: 1 })] },
  approximation: { title: "approximation error", columns: [
    plain("approximates", "approximates", d => d.approximation?.function, d => d.approximation?.function ?? NONE), plain("approx_ulp", "max ULP", d => d.approximation?.max_ulp, d => ulp(d.approximation?.max_ulp, ">="), { num: 1, worst: 1 }),
    plain("approx_abs", "max |difference|", d => d.approximation?.max_abs, d => number(d.approximation?.max_abs), { num: 1, worst: 1 }), plain("approx_x", "at x =", d => d.approximation?.x_bits, d => d.approximation ? decimal(d.dtype, d.approximation.x_bits) : NONE, { num: 1 })] },
  speed: { title: "speed", columns: [
    plain("elements", "elements/s", d => d.throughput?.elements_per_s, d => rate(d.throughput?.elements_per_s), { num: 1 }), plain("iqr", "IQR", d => d.throughput?.spread, d => d.throughput ? `${(100 * d.throughput.spread).toFixed(1)} %` : NONE, { num: 1 }),
    plain("gbs", "GB/s", d => d.throughput?.elements_per_s, d => d.throughput ? number(d.throughput.elements_per_s * 2 * data.layouts[d.dtype]?.width / 8e9) : NONE, { num: 1 }),
    plain("copy", "ratio to copy", d => d.throughput?.copy_ratio, d => nothing(d.throughput?.copy_ratio) ? NONE : `${number(d.throughput.copy_ratio)}×`, { num: 1 }), plain("size", "array size", d => d.throughput?.n, d => count(d.throughput?.n), { num: 1 })] },
};
const failures = (d, kind) => Object.keys(d.checks).filter(name => d.checks[name] === "fail" && (d.findings[name]?.severity || "loss") === kind);
const functionRank = new Map(), dtypeRank = new Map();
/* what depends on the results: ranks in the order of the filters, a column for each test in use elsewhere */
const prepareColumns = results => {
  for (const [name, ranks] of [["function", functionRank], ["dtype", dtypeRank]]) [...byId(`f-${name}`).options].forEach((option, i) => ranks.set(option.value, i));
  const names = new Set(Object.values(results).flatMap(d => Object.keys(d.tolerances || {})));
  VIEWS.tests.columns = [...names].map(name => plain(`t-${name}`, name, d => d.tolerances?.[name], d => {
    const found = d.tolerances?.[name];
    return found === undefined ? NONE : found ? make("span", { class: "noticed" }, "notices") : make("span", { class: "sev loss" }, "misses");
  }));
};
