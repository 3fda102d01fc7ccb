// Bits coloured by field, the number line between two floats, the function with the point on it.
import { curve } from "./api.js";
import { catalogue } from "./catalogue.js";
import { element, svg, ulpText } from "./dom.js";

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
      nan: "f(x) is not a number (NaN).",
      inf: answer.exact === answer.y ? "f(x) is infinite." : `f(x) is too large for ${answer.dtype}: it overflows to infinity.`,
    };
    const exactly = `f(x) is exactly representable in ${answer.dtype}: there is no rounding error.`;
    return element("p", { class: "note" }, texts[answer.y.replace("-", "")] ?? exactly);
  }
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
      beside(54, won ? "y, nearest" : name === "down" ? "rounded down" : "rounded up"),
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

const BOX = { left: 58, right: 490, top: 12, bottom: 190 };
const curves = new Map();

// The function around the point, from correctly rounded values.
export async function plot(fn, answer) {
  const x = Number(answer.x_hex.includes("p") ? hexValue(answer.x_hex) : answer.x);
  const y = Number(answer.y_hex.includes("p") ? hexValue(answer.y_hex) : answer.y);
  const reach = [6, 12, 48].find((each) => Math.abs(x) <= each) || 6;
  const points = Array.from({ length: 301 }, (_, i) => -reach + (2 * reach * i) / 300);
  const key = `${fn} ${reach}`;
  if (!curves.has(key)) curves.set(key, await curve(fn, points));
  const values = curves.get(key).map((value) => (Math.abs(value) <= 4 * reach ? value : NaN));
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...finite), Math.max(0.1, ...finite)];
  const across = (value) => BOX.left + ((value + reach) / (2 * reach)) * (BOX.right - BOX.left);
  const along = (value) => BOX.bottom - ((value - low) / (high - low)) * (BOX.bottom - BOX.top);
  const picture = svg("svg", { viewBox: "0 0 500 215", role: "img", "aria-labelledby": "plot-caption" });
  for (const tick of [-reach, -reach / 2, 0, reach / 2, reach]) {
    picture.append(svg("line", { class: "grid", x1: across(tick), x2: across(tick), y1: BOX.top, y2: BOX.bottom }), label(across(tick), 206, String(tick)));
  }
  for (const tick of [low, 0, high]) {
    if (tick === low && Math.abs(low) < 0.06 * (high - low)) continue;
    picture.append(svg("line", { class: tick === 0 ? "axis" : "grid", x1: BOX.left, x2: BOX.right, y1: along(tick), y2: along(tick) }),
      svg("text", { x: BOX.left - 5, y: along(tick) + 4, "text-anchor": "end" }, String(Number(tick.toPrecision(4)))));
  }
  let path = "";
  values.forEach((value, i) => {
    if (Number.isFinite(value)) path += `${path ? "L" : "M"}${across(points[i]).toFixed(1)} ${along(value).toFixed(1)}`;
  });
  picture.append(svg("path", { class: "curve", d: path }));
  const slope = catalogue.functions.find((each) => each.gradient_of === fn)?.name;
  if (slope) {
    const slopes = await curve(slope, points);
    const line = slopes.map((value, i) => [across(points[i]), along(value)]).filter(([, y]) => y >= BOX.top && y <= BOX.bottom);
    picture.append(svg("path", { class: "slope", d: line.map(([at, y], i) => `${i ? "L" : "M"}${at.toFixed(1)} ${y.toFixed(1)}`).join("") }));
  }
  const inside = Math.abs(x) <= reach && Number.isFinite(y) && y <= high + 1 && y >= low - 1;
  if (inside) {
    picture.append(svg("line", { class: "mid", x1: across(x), x2: across(x), y1: BOX.top, y2: BOX.bottom }), svg("circle", { class: "exactly", cx: across(x), cy: along(y), r: 5 }));
  }
  const also = slope ? `, dashed its derivative ${slope}` : "";
  const caption = inside ? `${fn} from ${-reach} to ${reach}, and the point${also}.` : `${fn} from ${-reach} to ${reach}${also}; x lies outside.`;
  return element("div", {}, picture, element("p", { class: "note", id: "plot-caption" }, caption));
}

// A hex float as a number: the nearest double, for drawing.
function hexValue(text) {
  const [, sign, whole, part, exponent] = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)p([+-]?\d+)$/.exec(text);
  return (sign ? -1 : 1) * (parseInt(whole + part, 16) / 16 ** part.length) * 2 ** Number(exponent);
}
