// The server, or a folder of static files that was exported from one: the same paths, relative to the page.
import { bitsOf, formatOf, texts } from "./formats.js";

export let catalogue = { functions: [], dtypes: [], plans: [], static: false };

async function problemOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `the server answered ${response.status}`;
  }
}

export async function get(path) {
  let response;
  try {
    response = await fetch(path, { headers: { Accept: "application/json" } });
  } catch {
    throw new Error("the server cannot be reached");
  }
  if (!response.ok) throw new Error(await problemOf(response));
  return response;
}

export const getJson = async (path) => (await get(path)).json();

export async function load() {
  catalogue = await getJson("v1/functions.json");
  return catalogue;
}

// The answer in `dtype`, with those of all other dtypes in `also`.
export async function lookUp(fn, dtype, x) {
  if (catalogue.static) return staticLookUp(fn, dtype, x);
  const number = encodeURIComponent(x.trim().replaceAll("−", "-"));
  return getJson(`v1/reference/${fn}/${dtype}/${number}?digits=40&also=all`);
}

export async function libraries(fn, dtype, bits) {
  return catalogue.static || formatOf(dtype).width === 8 ? [] : (await getJson(`v1/answers/${fn}/${dtype}/${bits}`)).answers;
}

// Results for float32 inputs, as bits of float32; of float16 where only tables are there.
export async function curve(fn, points) {
  if (catalogue.static) {
    const whole = await tableOf(fn, "float16");
    return points.map((x) => formatOf("float16").value(whole[bitsOf("float16", String(x))]));
  }
  const response = await fetch(`v1/reference/${fn}/float32`, {
    method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: Float32Array.from(points).buffer,
  });
  if (!response.ok) throw new Error(await problemOf(response));
  return Array.from(new Float32Array(await response.arrayBuffer()));
}

export async function upload(query, file, token) {
  const headers = { "Content-Type": "application/octet-stream", Prefer: "respond-async" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`v1/verify?${query}`, { method: "POST", headers, body: file });
  if (!response.ok) throw new Error(await problemOf(response));
  return response.json();
}

// ---- without a server: tables of the narrow dtypes ----

const tables = new Map();

async function tableOf(fn, dtype) {
  const path = `v1/tables/${fn}/${dtype}.bin`;
  if (!tables.has(path)) {
    const buffer = await (await get(path)).arrayBuffer();
    tables.set(path, formatOf(dtype).width === 8 ? new Uint8Array(buffer) : new Uint16Array(buffer));
  }
  return tables.get(path);
}

async function staticLookUp(fn, dtype, x) {
  const narrow = catalogue.dtypes.filter((each) => each.width <= 16).map((each) => each.name);
  if (!narrow.includes(dtype)) throw new Error(`these are static files: ${dtype} needs a server (gelu-verify serve)`);
  const answers = {};
  for (const name of narrow) {
    const format = formatOf(name);
    const source = /^0x[0-9a-f]+$/i.test(x.trim()) && name !== dtype ? String(formatOf(dtype).value(bitsOf(dtype, x))) : x;
    const bits = bitsOf(name, source);
    const y = (await tableOf(fn, name))[bits];
    const [a, b] = [texts(format, bits), texts(format, y)];
    answers[name] = {
      function: fn, dtype: name, x_bits: a.bits, x_hex: a.hex, x: a.decimal, y_bits: b.bits, y_hex: b.hex, y: b.decimal,
      exact: null, rounding_error_ulp: null, round_down: b, round_up: b, kappa: null, region: null,
      neighbours: { below: neighbour(format, bits, -1), above: neighbour(format, bits, 1) },
    };
  }
  const { [dtype]: chosen, ...also } = answers;
  return { ...chosen, also };
}

function neighbour(format, bits, step) {
  const next = format.next(bits, step);
  return next === null ? null : { x_bits: texts(format, next).bits };
}
