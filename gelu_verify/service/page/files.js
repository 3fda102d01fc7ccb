// Look-ups without a server: complete tables for up to 16 bits; only hard cases and landmarks for float32 and float64.
import { catalogue } from "./catalogue.js";
import { bitsOf, formatOf, hexFloat, texts } from "./formats.js";
import { get } from "./http.js";

const tables = new Map();
const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
const NEARBY = 3; // inputs suggested on each side of one that is not in the table

async function tableOf(fn, dtype) {
  if (fn.includes("[")) throw new Error("This is a static copy without a server: it has functions with their usual parameters.");
  const path = `v1/tables/${fn}/${dtype}.bin`;
  if (!tables.has(path)) tables.set(path, new ARRAYS[formatOf(dtype).width](await (await get(path)).arrayBuffer()));
  return tables.get(path);
}

export async function curve(fn, points) {
  const whole = await tableOf(fn, "float16");
  return points.map((x) => formatOf("float16").value(whole[bitsOf("float16", String(x))]));
}

export async function lookUp(fn, dtype, x) {
  const wide = formatOf(dtype).width > 16;
  const bits = bitsOf(dtype, x);
  const y = wide ? await inTable(fn, dtype, bits) : null;
  const exactly = /^0x[0-9a-f]+$/i.test(x.trim()) ? hexFloat(formatOf(dtype).value(bits)) : x;
  const answers = {};
  for (const { name, width } of catalogue.dtypes) {
    if (name === dtype && wide) answers[name] = answer(fn, name, bits, y);
    else if (width <= 16) {
      const there = name === dtype ? bits : bitsOf(name, exactly);
      answers[name] = answer(fn, name, there, (await tableOf(fn, name))[there]);
    }
  }
  const { [dtype]: chosen, ...also } = answers;
  return { ...chosen, also };
}

// y of an input in the table; otherwise an error with the nearest inputs that are in it.
async function inTable(fn, dtype, bits) {
  const pairs = await tableOf(fn, dtype);
  const format = formatOf(dtype);
  const same = (each) => BigInt(each) === BigInt(bits);
  for (let i = 0; i < pairs.length; i += 2) if (same(pairs[i])) return typeof bits === "bigint" ? pairs[i + 1] : Number(pairs[i + 1]);
  const there = format.value(bits);
  const inputs = Array.from({ length: pairs.length / 2 }, (_, i) => [format.value(pairs[2 * i]), pairs[2 * i]]).filter(([value]) => Number.isFinite(value));
  inputs.sort((a, b) => a[0] - b[0]);
  const place = Math.max(inputs.findIndex(([value]) => value > there), 0);
  const text = `This is a static copy without a server. For ${dtype} it has ${(pairs.length / 2).toLocaleString("en")} hard cases and landmarks, and this input is not one of them; gelu-verify serve answers every input. The nearest inputs it has:`;
  throw Object.assign(new Error(text), { nearby: inputs.slice(Math.max(place - NEARBY, 0), place + NEARBY).map(([, each]) => texts(format, each)) });
}

function answer(fn, name, bits, y) {
  const format = formatOf(name);
  const [a, b] = [texts(format, bits), texts(format, y)];
  return {
    function: fn, dtype: name, x_bits: a.bits, x_hex: a.hex, x: a.decimal, y_bits: b.bits, y_hex: b.hex, y: b.decimal,
    exact: null, rounding_error_ulp: null, round_down: null, round_up: null, kappa: null, region: null,
    neighbours: { below: neighbour(format, bits, -1), above: neighbour(format, bits, 1) },
  };
}

function neighbour(format, bits, step) {
  const next = format.width > 16 ? null : format.next(bits, step);
  if (next === null) return null;
  const { bits: x_bits, decimal: x } = texts(format, next);
  return { x_bits, x };
}
