// The questions of the page: to the server, or to static files.
import { catalogue } from "./catalogue.js";
import { formatOf } from "./formats.js";
import * as files from "./files.js";
import { ask, getJson, problemOf } from "./http.js";
import { baseOf, valuesOf } from "./parameters.js";

const given = (fn) => [...new URLSearchParams(valuesOf(fn))].map(([name, text]) => `&${name}=${encodeURIComponent(text)}`).join("");

// The reference value in `dtype`, with those of all other dtypes in `also`.
export async function lookUp(fn, dtype, x, rounding) {
  if (catalogue.static) return files.lookUp(fn, dtype, x);
  const number = encodeURIComponent(x.trim().replaceAll("−", "-"));
  return getJson(`v1/reference/${baseOf(fn)}/${dtype}/${number}?also=all&v=${catalogue.version}${rounding === "nearest" ? "" : `&rounding=${rounding}`}${given(fn)}`);
}

// Target families of the server for this dtype; they are asked for functions with their usual parameters.
export async function families({ function: fn, dtype }) {
  if (catalogue.static || formatOf(dtype).width === 8 || fn !== baseOf(fn)) return [];
  return (await getJson("v1/answers")).families.map((each) => each.family);
}

// The exact value of f(x) to many digits.
export async function exactly(fn, dtype, bits, digits) {
  return (await getJson(`v1/reference/${baseOf(fn)}/${dtype}/${bits}?digits=${digits}&v=${catalogue.version}${given(fn)}`)).exact;
}

// The outputs of one family.
export async function answersOf(family, { function: fn, dtype, x_bits: bits }, signal) {
  const response = await ask(`v1/answers/${fn}/${dtype}/${bits}?family=${family}`, { signal });
  if (response.ok) return response.json();
  throw new Error(await problemOf(response));
}

// The outputs of one family for several inputs.
export async function agreement(family, { function: fn, dtype }, inputs) {
  const response = await ask(`v1/answers/${fn}/${dtype}?family=${family}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ x_bits: inputs }),
  });
  if (!response.ok) throw new Error(await problemOf(response));
  return response.json();
}

// Reference values in float64; for float16 inputs if there are only tables.
export async function curve(fn, points) {
  if (catalogue.static) return files.curve(fn, points);
  const response = await ask(`v1/reference/${baseOf(fn)}/float64.bin?${given(fn).slice(1)}`, {
    method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: Float64Array.from(points).buffer,
  });
  if (!response.ok) throw new Error(await problemOf(response));
  return Array.from(new Float64Array(await response.arrayBuffer()));
}

export async function upload(query, file, token) {
  const headers = { "Content-Type": "application/octet-stream", Prefer: "respond-async" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await ask(`v1/verify?${query}`, { method: "POST", headers, body: file });
  if (!response.ok) throw new Error(await problemOf(response));
  return response.json();
}
