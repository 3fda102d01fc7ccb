// Runs: the matrix of the newest results, and the list of published runs.
import { catalogue, gradeText } from "./catalogue.js";
import { byId, element, options, table, ulpText } from "./dom.js";
import { getJson } from "./http.js";

const [GOOD, BAD] = [["correctly_rounded", "faithful", "accurate"], ["coarse", "broken"]];
let cells = null;

export function start() {
  options(byId("matrix-function"), catalogue.functions.map((each) => each.name), "gelu");
  byId("matrix-function").addEventListener("change", go);
  byId("matrix-target").addEventListener("input", draw);
  byId("compare-form").addEventListener("change", choose);
}

function go() {
  location.hash = `#/runs?${new URLSearchParams({ function: byId("matrix-function").value })}`;
}

export async function open(query) {
  if (query.has("function")) byId("matrix-function").value = query.get("function");
  try {
    const [matrix, runs] = await Promise.all([getJson("v1/matrix.json"), getJson("v1/runs.json")]);
    cells = matrix.results;
    list(runs.runs);
    draw();
  } catch (error) {
    byId("matrix").replaceChildren(element("p", { class: "problem" }, error.message));
  }
}

function draw() {
  if (cells === null) return;
  const [fn, part] = [byId("matrix-function").value, byId("matrix-target").value.toLowerCase()];
  const shown = cells.filter((cell) => cell.function === fn && cell.target.toLowerCase().includes(part));
  if (!shown.length) {
    const text = cells.length ? "No published run has this function." : "No runs are published here (gelu-verify serve --runs DIR).";
    byId("matrix").replaceChildren(element("p", { class: "empty" }, text));
    return;
  }
  const dtypes = catalogue.dtypes.map((each) => each.name).filter((name) => shown.some((cell) => cell.dtype === name));
  const rows = [...new Set(shown.map((cell) => cell.target))].map((target) => element("tr", {}, element("th", { scope: "row", class: "mono" }, target),
    ...dtypes.map((dtype) => entry(shown.find((cell) => cell.target === target && cell.dtype === dtype)))));
  byId("matrix").replaceChildren(table(["target", ...dtypes.map((name) => `${name}, ULP`)], rows, `largest errors, ${fn}`));
}

function entry(cell) {
  if (!cell) return element("td", {}, "–");
  const link = cell.witness
    ? element("a", { href: `#/lookup?${new URLSearchParams({ x: cell.witness.x_bits, function: cell.function, dtype: cell.dtype })}`, title: "look up the worst input" }, ulpText(cell.max_ulp, cell.bound))
    : ulpText(cell.max_ulp, cell.bound);
  return element("td", {}, element("span", { class: GOOD.includes(cell.grade) ? "ok" : BAD.includes(cell.grade) ? "bad" : "", title: cell.sentence || "" }, `${gradeText(cell.grade, cell.grade_bound)} `), link,
    element("small", {}, cell.failed_checks.length ? ` ${cell.failed_checks.join(", ")}` : ""));
}

function list(runs) {
  if (!runs.length) {
    byId("run-list").replaceChildren(element("p", { class: "empty" }, "None."));
  } else {
    const rows = runs.map((run) => element("tr", {},
      element("td", {}, element("input", { type: "checkbox", name: "run", value: run.id, "aria-label": `choose ${run.id}`, disabled: catalogue.static || run.damaged !== null })),
      element("th", { scope: "row", class: "mono" }, run.damaged === null ? element("a", { href: run.links.report.slice(1) }, run.id) : run.id),
      element("td", {}, run.damaged === null ? run.headline : `damaged: ${run.damaged}`), element("td", { class: "num" }, String(run.results)), element("td", { class: "mono" }, `${run.plan}, ${run.seed}`)));
    byId("run-list").replaceChildren(table(["choose", "run", "summary", "results", "plan, seed"], rows, "published runs"));
  }
  choose();
}

function choose() {
  const chosen = byId("compare-form").querySelectorAll("input:checked").length;
  byId("compare").disabled = chosen < 1 || chosen > 4;
}
