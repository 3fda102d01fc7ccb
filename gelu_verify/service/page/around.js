// Errors of implementations around x, on an axis of floats: every step is the same number of floats, so that the tail,
// where results are tiny, is as wide as the middle. Zoom, drag, keyboard; a click goes to that x.
import { agreement, families } from "./api.js";
import { formatOf } from "./formats.js";
import { byId, element, options, svg, ulpText } from "./dom.js";

const SIDE = 32; // inputs on each side of the middle
const BOX = { left: 62, right: 950, top: 30, bottom: 256 };
const widthOf = () => BOX.right + 50;
const ALL = "all"; // of each library the implementation of its own name
const TICKS = [0.5, 4, 1e2, 1e4, 1e6, 1e9, 1e12, 1e15];
let view = null; // { answer, format, middle, step }: middle and step in ordinals
let turn = 0;
let go = () => {};

export function start(goTo) {
  go = goTo;
  for (const [id, change] of Object.entries({ closer: () => zoom(-2n), wider: () => zoom(2n), left: () => pan(-16n), right: () => pan(16n) })) {
    byId(`around-${id}`).addEventListener("click", change);
  }
  byId("around-family").addEventListener("change", draw);
  const place = byId("around");
  let from = null;
  place.addEventListener("pointerdown", (event) => (from = event.clientX));
  place.addEventListener("pointerup", (event) => {
    const picture = place.querySelector("svg");
    if (from === null || !picture || !view) return;
    const inputs = ((event.clientX - from) / picture.clientWidth) * (widthOf() / (BOX.right - BOX.left)) * 2 * SIDE;
    from = null;
    if (Math.abs(inputs) >= 1) pan(BigInt(Math.round(-inputs)));
    else pick(((event.offsetX / picture.clientWidth) * widthOf() - BOX.left) / (BOX.right - BOX.left));
  });
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    zoom(event.deltaY < 0 ? -1n : 1n);
  }, { passive: false });
  place.addEventListener("keydown", (event) => {
    const change = { ArrowLeft: () => pan(-4n), ArrowRight: () => pan(4n), "+": () => zoom(-1n), "-": () => zoom(1n) }[event.key];
    if (!change) return;
    event.preventDefault();
    change();
  });
}

export function clear() {
  turn += 1;
  view = null;
  byId("around-part").hidden = true;
}

// The look-up that was answered is the new middle.
export async function show(answer) {
  clear();
  const mine = turn;
  if (formatOf(answer.dtype).width === 8 || answer.x.includes("nan") || answer.x.includes("inf")) return;
  const names = await families(answer).catch(() => []);
  if (mine !== turn || !names.length) return;
  const chosen = byId("around-family").value;
  options(byId("around-family"), [ALL, ...names], [ALL, ...names].includes(chosen) ? chosen : names[0]);
  const { width } = formatOf(answer.dtype);
  view = { answer, width, middle: ordinal(BigInt(answer.x_bits), width), step: width === 16 ? 1n : 1n << BigInt(width - 14) };
  byId("around-part").hidden = false;
  draw();
}

const ordinal = (bits, width) => (bits >> BigInt(width - 1) ? -(bits & ((1n << BigInt(width - 1)) - 1n)) : bits);
const bitsOf = (rank, width) => (rank < 0n ? (1n << BigInt(width - 1)) - rank : rank);

function zoom(by) {
  if (!view) return;
  const step = by < 0n ? view.step >> -by : view.step << by;
  view.step = step < 1n ? 1n : step > 1n << BigInt(view.width - 7) ? view.step : step;
  draw();
}

function pan(inputs) {
  if (!view) return;
  view.middle += inputs * view.step;
  draw();
}

function pick(share) {
  const rank = view.middle + BigInt(Math.round((share - 0.5) * 2 * SIDE)) * view.step;
  go(`0x${bitsOf(rank, view.width).toString(16).padStart(view.width / 4, "0")}`);
}

async function draw() {
  if (!view) return;
  const mine = ++turn;
  const { answer, width, middle, step } = view;
  const top = (1n << BigInt(width - 1)) - 1n;
  const ranks = Array.from({ length: 2 * SIDE + 1 }, (_, i) => middle + BigInt(i - SIDE) * step).filter((rank) => rank <= top && rank >= -top);
  const bits = ranks.map((rank) => `0x${bitsOf(rank, width).toString(16).padStart(width / 4, "0")}`);
  const chosen = byId("around-family").value;
  const names = chosen === ALL ? [...byId("around-family").options].map((each) => each.value).filter((each) => each !== ALL) : [chosen];
  const found = new Map(); // by library: rows, or what went wrong
  const at = ranks.findIndex((rank) => rank >= middle);
  const paint = () => {
    if (mine !== turn) return;
    const [rows, waiting] = [names.flatMap((name) => found.get(name)?.rows ?? []), names.filter((name) => !found.has(name))];
    const notes = names.filter((name) => found.get(name)?.problem).map((name) => `${name}: ${found.get(name).problem}`);
    if (waiting.length) notes.push(`Waiting for ${waiting.join(", ")}.`);
    else if (!rows.length && !notes.length) notes.push("No implementation computes this function.");
    byId("around").replaceChildren(...(rows.length ? [picture(rows, bits, at)] : []), ...notes.map((text) => element("p", { class: "empty" }, text)));
  };
  await Promise.all(names.map(async (name) => {
    try {
      const all = (await agreement(name, answer, bits)).answers.filter((row) => row.y_bits !== null);
      const own = all.find((row) => row.target === `${name}.${answer.function}`) ?? all[0];
      found.set(name, { rows: chosen !== ALL ? all : own ? [own] : [] });
    } catch (error) {
      found.set(name, { problem: error.message });
    }
    paint();
  }));
}

const styleOf = (index) => `line line${index % 6} dash${index % 7}`; // neighbours differ without colour
const level = (error) => Math.sign(error) * Math.log10(1 + Math.abs(error) * 2);

function picture(rows, bits, at) {
  BOX.right = byId("around").clientWidth < 560 ? 420 : 950; // letters stay as large where the page is narrow
  const sizes = rows.map((row) => Math.max(0.5, ...row.error_ulp.map((each) => Math.abs(each ?? 0))));
  const most = level(Math.max(0.5, ...sizes)) * 1.05;
  const across = (i) => BOX.left + (i / (2 * SIDE)) * (BOX.right - BOX.left);
  const along = (error) => (BOX.top + BOX.bottom) / 2 - (level(error) / most) * ((BOX.bottom - BOX.top) / 2);
  const made = svg("svg", { viewBox: `0 0 ${widthOf()} 300`, role: "img", "aria-labelledby": "around-caption" });
  for (const tick of [0, ...TICKS.flatMap((each) => [each, -each])].filter((each) => !each || (Math.abs(level(each)) <= most && Math.abs(along(each) - along(0)) > 14))) {
    made.append(svg("line", { class: tick ? "grid" : "axis", x1: BOX.left, x2: BOX.right, y1: along(tick), y2: along(tick) }),
      svg("text", { x: BOX.left - 6, y: along(tick) + 4, "text-anchor": "end" }, tick === 0 ? "0" : Math.abs(tick) < 1e4 ? String(tick) : tick.toExponential(0).replace("e+", "e")));
  }
  made.append(svg("line", { class: "mid", x1: across(at), x2: across(at), y1: BOX.top, y2: BOX.bottom }));
  made.append(svg("text", { x: 4, y: 11 }, "error, ULP"), svg("text", { x: across(SIDE), y: 297, "text-anchor": "middle" }, "x, in the order of the floats"));
  for (const [i, end] of [[0, "start"], [bits.length - 1, "end"]]) made.append(svg("text", { x: across(i), y: 280, "text-anchor": end }, bits[i]));
  rows.forEach((row, index) => {
    const points = row.error_ulp.map((error, i) => (error === null ? null : `${across(i).toFixed(1)} ${along(error).toFixed(1)}`)).filter(Boolean);
    const line = svg("path", { class: styleOf(index), d: points.length ? `M${points.join("L")}` : "" });
    line.append(svg("title", {}, row.target));
    made.append(line);
  });
  const legend = element("ul", { class: "legend" }, ...rows.map((row, index) =>
    element("li", {}, svg("svg", { viewBox: "0 0 26 6", width: 26, height: 6, "aria-hidden": "true" }, svg("line", { class: styleOf(index), x1: 0, x2: 26, y1: 3, y2: 3 })), ` ${row.target}: up to ${ulpText(sizes[index], "=")} ULP here`)));
  const caption = `Error in ULP of ${rows.length} implementations at ${bits.length} floats from ${bits[0]} to ${bits.at(-1)}, every ${view.step.toLocaleString("en")}th; the dashed line is x.`;
  return element("div", {}, made, element("p", { class: "note", id: "around-caption" }, caption), legend);
}
