// Bits coloured by field, the number line between two floats, the function with the point on it.
import { curve } from "./api.js";
import { catalogue } from "./catalogue.js";
import { element, svg, ulpText } from "./dom.js";
import { baseOf, nameOf, valuesOf } from "./parameters.js";
import { ROUNDED } from "./texts.js";

// Spans of sign, exponent and significand, with the value of each for those who do not see colours.
export function bitsView(bits, dtype) {
  const { width, precision } = catalogue.dtypes.find((each) => each.name === dtype);
  const word = BigInt(bits).toString(2).padStart(width, "0");
  const parts = [["sign", word.slice(0, 1)], ["exponent", word.slice(1, 1 + width - precision)], ["significand", word.slice(1 + width - precision)]];
  return element("span", { class: "bits" }, ...parts.map(([name, digits]) =>
    element("span", { class: name, title: `${name}: ${digits}` }, digits)));
}

const short = (text) => {
  const match = /^(-?[\d.]+)(e[+-]?\d+)?$/.exec(text);
  if (!match) return text;
  return match[1].slice(0, 12).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") + (match[2] || "");
};

// The two floats around f(x), their midpoint, and where f(x) is.
export function numberLine(answer) {
  const { round_down: down, round_up: up, rounding_error_ulp: error } = answer;
  if (down === null) return element("p", { class: "note" }, "A static copy does not have the exact value: gelu-verify serve computes it.");
  if (down.bits === up.bits || error === null || answer.y.endsWith("inf")) {
    const texts = {
      nan: answer.exact === "nan" ? "f(x) is not a number (NaN)." : `f(x) is too large for ${answer.dtype}, which has no infinity: it overflows to NaN.`,
      inf: answer.exact === answer.y ? "f(x) is infinite." : `f(x) is too large for ${answer.dtype}: it overflows to infinity.`,
    };
    const exactly = `f(x) is exactly representable in ${answer.dtype}: there is no rounding error.`;
    return element("p", { class: "note" }, texts[answer.y.replace("-", "")] ?? exactly);
  }
  const y = answer.rounding === "nearest" ? "y, nearest" : `y, ${ROUNDED[answer.rounding]}`;
  const rounded = answer.y_bits === down.bits ? "down" : "up";
  // between two floats of one binade E is a part of their distance; near a power of two the drawing is clipped
  const place = Math.min(Math.max(rounded === "down" ? -error : 1 - error, 0), 1);
  const at = (share) => 70 + share * 360;
  const picture = svg("svg", { viewBox: "0 0 500 150", role: "img", "aria-labelledby": "line-caption" });
  picture.append(svg("line", { class: "axis", x1: 20, x2: 480, y1: 80, y2: 80 }));
  for (const [share, name, number] of [[0, "down", down], [1, "up", up]]) {
    const won = name === rounded;
    const edge = share ? { x: 496, "text-anchor": "end" } : { x: 4, "text-anchor": "start" };
    const beside = (y, text) => svg("text", { ...edge, y, ...(won ? { class: "strong" } : {}) }, text);
    picture.append(
      svg("line", { class: "float", x1: at(share), x2: at(share), y1: 66, y2: 94 }),
      beside(112, number.bits), beside(130, short(number.decimal)),
      beside(54, won ? y : name === "down" ? "rounded down" : "rounded up"),
    );
    if (won) picture.append(svg("circle", { class: "winner", cx: at(share), cy: 80, r: 6 }));
  }
  picture.append(
    svg("line", { class: "mid", x1: at(0.5), x2: at(0.5), y1: 60, y2: 100 }), label(at(0.5), 146, "midpoint"),
    svg("path", { class: "exactly", d: `M${at(place)} 78l-6 -12h12z` }), label(at(place), 30, "exact f(x)", true),
    svg("line", { class: "mid", x1: at(place), x2: at(place), y1: 36, y2: 64 }),
  );
  const caption = `The exact value lies ${ulpText(Math.abs(error))} ULP from y = ${answer.y_bits}.`;
  return element("div", {}, picture, element("p", { class: "note", id: "line-caption" }, caption));
}

const label = (x, y, text, strong = false) =>
  svg("text", { x, y, "text-anchor": "middle", ...(strong ? { class: "strong" } : {}) }, text);

const BOX = { left: 66, right: 490, top: 28, bottom: 196 };
const POINTS = 300;
const FAMILIAR = 4; // GELU from -4 to 4 is the picture that everybody knows
const curves = new Map();

// Where numbers are on an axis of floats, in binades from 2^lowest, below which all counts as zero.
const binades = (value, lowest) => (Math.abs(value) < 2 ** lowest ? 0 : Math.sign(value) * (Math.log2(Math.abs(value)) - lowest + 1));

// Axes: the inputs that are drawn, how far along each axis a number is, and the numbers that are written.
function linearAxes(x) {
  const reach = [FAMILIAR, 12, 48].find((each) => Math.abs(x) <= each) || FAMILIAR;
  const points = Array.from({ length: POINTS + 1 }, (_, i) => -reach + (2 * reach * i) / POINTS);
  return { points, at: (value) => value, up: (value) => value, most: 4 * reach, least: 0.1, ticks: [-reach, -reach / 2, 0, reach / 2, reach], heights: (low, high) => [low, 0, high] };
}

// Every binade is equally wide: the tail, where results are tiny, is as visible as the middle.
function floatAxes(x, dtype) {
  const { precision, emin } = catalogue.dtypes.find((each) => each.name === dtype);
  const near = x ? Math.log2(Math.abs(x)) : 0;
  const [lowest, highest, smallest] = [Math.min(-4, Math.floor(near) - 2), Math.max(7, Math.ceil(near) + 1), Math.max(emin - precision + 1, -1074)];
  const half = Array.from({ length: POINTS / 2 + 1 }, (_, i) => 2 ** (lowest + ((highest - lowest) * i) / (POINTS / 2)));
  const even = (from, to) => { // about four powers of ten between two powers of two
    const [low, high] = [Math.ceil(from * Math.log10(2)), Math.floor(to * Math.log10(2))];
    const by = Math.max(1, Math.ceil((high - low) / 4));
    return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, i) => Number(`1e${high - i * by}`));
  };
  const both = (sizes) => [...sizes.map((each) => -each), 0, ...sizes];
  const ticks = both(even(lowest + 3, highest));
  const heights = (low, high) => both(even(smallest + 4, Math.log2(Math.max(high, -low)))).filter((each) => each >= low && each <= high);
  return { points: [...half.map((each) => -each).reverse(), 0, ...half], at: (value) => binades(value, lowest), up: (value) => binades(value, smallest), most: Infinity, least: 2 ** smallest, ticks, heights };
}

const tickText = (value) => (value === 0 || (Math.abs(value) >= 0.01 && Math.abs(value) < 1e4) ? String(Number(value.toPrecision(4))) : value.toExponential(0).replace("e+", "e"));

// The function around the point, from correctly rounded values. `floats`: on axes of floats; null: where they show more.
export async function plot(fn, answer, floats = null) {
  const x = Number(answer.x_hex.includes("p") ? hexValue(answer.x_hex) : answer.x);
  const y = Number(answer.y_hex.includes("p") ? hexValue(answer.y_hex) : answer.y);
  const far = Math.abs(x) > FAMILIAR || Math.abs(x) < 0.05;
  const onFloats = floats ?? ((far && Math.abs(y) < 0.05) || Math.abs(x) > 48);
  const axes = onFloats && Number.isFinite(x) ? floatAxes(x, answer.dtype) : linearAxes(x);
  const { points } = axes;
  const values = (await curveOf(fn, points)).map((value) => (Math.abs(value) <= axes.most ? value : NaN));
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...finite), Math.max(axes.least, ...finite)];
  const scaled = (map, from, to, start, end) => (value) => start + ((map(value) - map(from)) / (map(to) - map(from))) * (end - start);
  const across = scaled(axes.at, points[0], points.at(-1), BOX.left, BOX.right);
  const along = scaled(axes.up, low, high, BOX.bottom, BOX.top);
  const picture = svg("svg", { viewBox: "0 0 500 234", role: "img", "aria-labelledby": "plot-caption" });
  picture.append(svg("text", { x: 4, y: 11 }, `${fn}(x)`), svg("text", { x: BOX.right, y: 229, "text-anchor": "end" }, "x"));
  for (const tick of axes.ticks) {
    picture.append(svg("line", { class: "grid", x1: across(tick), x2: across(tick), y1: BOX.top, y2: BOX.bottom }), svg("text", { x: across(tick), y: 212, "text-anchor": across(tick) > BOX.right - 14 ? "end" : "middle" }, tickText(tick)));
  }
  const heights = axes.heights(low, high);
  for (const tick of heights.filter((each) => each === 0 || Math.abs(along(each) - along(0)) > 11)) {
    picture.append(svg("line", { class: tick === 0 ? "axis" : "grid", x1: BOX.left, x2: BOX.right, y1: along(tick), y2: along(tick) }),
      svg("text", { x: BOX.left - 5, y: along(tick) + 4, "text-anchor": "end" }, tickText(tick)));
  }
  const drawn = (name, ys) => svg("path", { class: name, d: ys.map((value, i) => [across(points[i]), along(value)]).filter(([, at]) => at >= BOX.top - 1 && at <= BOX.bottom + 1).map(([at, up], i) => `${i ? "L" : "M"}${at.toFixed(1)} ${up.toFixed(1)}`).join("") });
  picture.append(drawn("curve", values));
  const derivative = catalogue.functions.find((each) => each.gradient_of === baseOf(fn))?.name;
  const slope = derivative && nameOf(derivative, valuesOf(fn));
  if (slope) picture.append(drawn("slope", await curveOf(slope, points)));
  const inside = x >= points[0] && x <= points.at(-1) && y <= high && y >= low;
  if (inside) {
    picture.append(svg("line", { class: "mid", x1: across(x), x2: across(x), y1: BOX.top, y2: BOX.bottom }), svg("circle", { class: "exactly", cx: across(x), cy: along(y), r: 5 }));
  }
  const range = `${fn} from ${tickText(points[0])} to ${tickText(points.at(-1))}${onFloats ? ", every binade equally wide" : ""}`;
  const caption = `${range}${inside ? ", and the point" : ""}${slope ? `, dashed its derivative ${slope}` : ""}${inside ? "." : "; x lies outside."}`;
  const other = element("button", { type: "button", class: "link" }, onFloats ? "linear axes" : "axes of floats");
  other.addEventListener("click", async () => made.replaceWith(await plot(fn, answer, !onFloats)));
  const made = element("div", {}, picture, element("p", { class: "note" }, element("span", { id: "plot-caption" }, caption), " ", other));
  return made;
}

async function curveOf(fn, points) {
  const key = `${fn} ${points[0]} ${points[1]}`;
  if (!curves.has(key)) curves.set(key, await curve(fn, points));
  return curves.get(key);
}

// A hex float as a number: the nearest double, for drawing.
function hexValue(text) {
  const [, sign, whole, part, exponent] = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)p([+-]?\d+)$/.exec(text);
  return (sign ? -1 : 1) * (parseInt(whole + part, 16) / 16 ** part.length) * 2 ** Number(exponent);
}
