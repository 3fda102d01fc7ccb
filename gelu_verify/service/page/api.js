// The server, or a folder of static files that was exported from one: the same paths, relative to the page.
import { formatOf } from "./formats.js";
import * as files from "./files.js";

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
  if (catalogue.static) return files.lookUp(fn, dtype, x);
  const number = encodeURIComponent(x.trim().replaceAll("−", "-"));
  return getJson(`v1/reference/${fn}/${dtype}/${number}?digits=40&also=all`);
}

// Families of implementations that can be asked in this dtype.
export async function families(dtype) {
  if (catalogue.static || formatOf(dtype).width === 8) return [];
  return (await getJson("v1/answers")).families.map((each) => each.family);
}

const TRIES = 5; // when too many ask

// What one of them answers.
export async function answersOf(family, { function: fn, dtype, x_bits: bits }, signal) {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(`v1/answers/${fn}/${dtype}/${bits}?family=${family}`, { signal });
    if (response.ok) return response.json();
    if (![429, 503].includes(response.status) || tries === TRIES) throw new Error(await problemOf(response));
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("retry-after") || 1)));
    signal.throwIfAborted();
  }
}

// Results for float32 inputs, as bits of float32; of float16 where only tables are there.
export async function curve(fn, points) {
  if (catalogue.static) return files.curve(fn, points);
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
