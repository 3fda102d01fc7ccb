// Exact arithmetic on binary formats, for the page without a server. Values are doubles; bits are numbers, for
// float64 BigInt.
import { catalogue } from "./catalogue.js";

const binary64 = new DataView(new ArrayBuffer(8));

// float64 is what a browser computes in.
function doubles(name, width, precision) {
  const isNan = (bits) => (BigInt(bits) & 0x7fffffffffffffffn) > 0x7ff0000000000000n;
  const value = (bits) => (binary64.setBigUint64(0, BigInt(bits)), binary64.getFloat64(0));
  const bitsOfValue = (number) => (binary64.setFloat64(0, number), binary64.getBigUint64(0));
  return { name, width, precision, isNan, value, bitsOfValue };
}

export function formatOf(name) {
  const { width, precision, emin, emax, has_infinity: infinite } = catalogue.dtypes.find((each) => each.name === name);
  if (width === 64) return doubles(name, width, precision);
  const sign = 2 ** (width - 1);
  const field = 2 ** (precision - 1);
  const top = (2 ** (width - precision) - 1) * field;
  const infinity = infinite ? top : top + field - 1; // where there is none: the NaN of overflow
  const format = { name, width, precision, emin, emax, sign, infinite, infinity, nan: infinite ? top + field / 2 : infinity };
  format.isNan = (bits) => bits % sign > infinity - (infinite ? 0 : 1);
  format.value = (bits) => {
    const magnitude = bits % sign;
    const minus = bits >= sign ? -1 : 1;
    if (format.isNan(bits)) return NaN;
    if (magnitude === infinity) return minus * Infinity;
    const exponent = Math.floor(magnitude / field);
    const significand = (magnitude % field) + (exponent ? field : 0);
    return minus * significand * 2 ** (Math.max(exponent, 1) - 1 + emin - precision + 1);
  };
  format.next = (bits, step) => {
    if (format.isNan(bits)) return null;
    const rank = (bits >= sign ? -(bits % sign) : bits) + step;
    const next = Math.abs(rank) + (rank < 0 ? sign : 0);
    return format.isNan(next) ? null : next;
  };
  return format;
}

// numerator / denominator of a decimal or a hex float, as BigInt.
function rational(text) {
  const hex = /^0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d{1,5})$/.exec(text);
  const decimal = /^(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/.exec(text);
  const found = hex || decimal;
  if (!found || !(found[1] || found[2])) throw new Error(`${text} is not a number`);
  const digits = BigInt((hex ? "0x" : "") + found[1] + found[2]);
  const exponent = Number(found[3] || 0) - (hex ? 4 : 1) * found[2].length;
  const power = (hex ? 2n : 10n) ** BigInt(Math.abs(exponent));
  return exponent >= 0 ? [digits * power, 1n] : [digits, power];
}

const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d{1,8})?|0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d{1,8}|inf(inity)?|nan)$/;

// What becomes of the text in a dtype: "" if it is a number of the dtype, else a sentence.
export function conversion(name, text, answer) {
  const word = text.trim().toLowerCase().replaceAll("−", "-").replace(/^[+-]/, "");
  if (answer.x === "nan") return word === "nan" ? "NaN: not a number. Every function of it is NaN." : word.startsWith("0x") && !word.includes("p") ? "These bits are a NaN: not a number." : `${text} is beyond the largest number of ${name}, which has no infinity: it becomes NaN.`;
  if (/^(inf|nan|0x[0-9a-f]+$)/.test(word)) return "";
  if (answer.x.endsWith("inf")) return `${text} is beyond the largest number of ${name}: it becomes infinite.`;
  try {
    const [n, d] = rational(word);
    const [m, e] = rational(answer.x_hex.replace(/^-/, ""));
    if (n * e === m * d) return "";
    return m === 0n ? `${text} is too small for ${name}: it becomes zero.` : `${text} is not a number of ${name}: it is rounded to ${answer.x}.`;
  } catch {
    return "";
  }
}

// A number as source text: C, Python, and what the page shows.
export function literals(name, { bits, hex, decimal }) {
  const suffix = name === "float64" ? "" : "f";
  const special = { nan: ["NAN", 'float("nan")'], inf: ["INFINITY", 'float("inf")'], "-inf": ["-INFINITY", 'float("-inf")'] }[hex];
  const [c, python] = special ?? [`${hex}${suffix}`, `float.fromhex("${hex}")`];
  return [["bits", bits], ["hex", hex], ["decimal", decimal], ["C", c], ["Python", python]];
}

// Refuses what is not a number; does not round it.
export function checkNumber(name, text) {
  const word = text.trim().toLowerCase().replaceAll("−", "-");
  if (/^0x[0-9a-f]+$/.test(word)) {
    const { width } = formatOf(name);
    if (BigInt(word) >> BigInt(width)) throw new Error(`${text} is too wide for ${name} (${width} bits)`);
  } else if (!NUMBER.test(word)) {
    throw new Error(`“${text}” is not a number (accepted: decimal, hex float such as -0x1.ap+2, bits such as 0xc0d00000, inf, nan)`);
  }
}

// Bits that `text` names in a dtype: rounded once, to nearest, ties to even.
export function bitsOf(name, text) {
  const format = formatOf(name);
  const word = text.trim().toLowerCase().replaceAll("−", "-");
  if (/^0x[0-9a-f]+$/.test(word)) {
    const bits = format.width === 64 ? BigInt(word) : parseInt(word, 16);
    if (bits >= 2 ** format.width) throw new Error(`${text} is too wide for ${name} (${format.width} bits)`);
    return bits;
  }
  if (format.width === 64) return format.bitsOfValue(doubleOf(word));
  const sign = word.startsWith("-") ? format.sign : 0;
  const body = word.replace(/^[+-]/, "");
  if (body === "nan") return sign + format.nan;
  if (body === "inf" || body === "infinity") return sign + format.infinity;
  const [n, d] = rational(body);
  return sign + rounded(format, n, d);
}

// The nearest double: the browser reads decimals so, and a hex float is a power of two apart from an integer.
export function doubleOf(word) {
  const minus = word.startsWith("-") ? -1 : 1;
  const body = word.replace(/^[+-]/, "");
  if (body === "nan") return NaN;
  if (body.startsWith("inf")) return minus * Infinity;
  if (!body.startsWith("0x")) return minus * Number(body);
  const [whole, exponent] = significand({ precision: 53 }, ...rational(body), -1074);
  return minus * Number(whole) * 2 ** Math.trunc(exponent / 2) * 2 ** (exponent - Math.trunc(exponent / 2));
}

function rounded(format, n, d) {
  const least = format.emin - format.precision + 1;
  const [whole, exponent] = significand(format, n, d, least);
  const field = 2 ** (format.precision - 1);
  const magnitude = Number(whole) < field ? Number(whole) : (exponent - least) * field + Number(whole);
  return Math.min(magnitude, format.infinity);
}

// n / d as an integer of `precision` bits times a power of two, rounded once, to nearest, ties to even.
function significand(format, n, d, least) {
  let exponent = Math.max(n.toString(2).length - d.toString(2).length - format.precision, least);
  for (;;) {
    const [top, bottom] = exponent >= 0 ? [n, d << BigInt(exponent)] : [n << BigInt(-exponent), d];
    let whole = top / bottom;
    const rest = 2n * (top % bottom);
    if (whole >> BigInt(format.precision)) {
      exponent += 1;
      continue;
    }
    if (rest > bottom || (rest === bottom && whole % 2n)) whole += 1n;
    return [whole, exponent];
  }
}

export function hexFloat(value) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  let size = Math.abs(value);
  if (size === Infinity) return `${sign}inf`;
  if (size === 0) return `${sign}0x0p+0`;
  let exponent = 0;
  while (size >= 2) [size, exponent] = [size / 2, exponent + 1];
  while (size < 1) [size, exponent] = [size * 2, exponent - 1];
  let digits = "";
  for (let rest = size - 1; rest > 0; rest = (rest * 16) % 1) digits += Math.floor(rest * 16).toString(16);
  return `${sign}0x1${digits ? "." : ""}${digits}p${exponent < 0 ? "" : "+"}${exponent}`;
}

export function texts(format, bits) {
  const value = format.value(bits);
  const decimal = Number.isNaN(value) ? "nan" : Object.is(value, -0) ? "-0" : String(value).replace("Infinity", "inf");
  return { bits: `0x${bits.toString(16).padStart(format.width / 4, "0")}`, hex: hexFloat(value), decimal };
}
