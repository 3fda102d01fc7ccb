// Look up: one number in every dtype.
import * as answers from "./answers.js";
import { lookUp } from "./api.js";
import { catalogue } from "./catalogue.js";
import { checkNumber } from "./formats.js";
import { bitsView, numberLine, plot } from "./figures.js";
import { byId, element, options, show, ulpText } from "./dom.js";
import { brief, trimmed } from "./texts.js";

let current = null;
let turn = 0;

export function start() {
  options(byId("function"), catalogue.functions.map((each) => each.name), "gelu");
  options(byId("dtype"), catalogue.dtypes.map((each) => each.name), catalogue.static ? "bfloat16" : "float32");
  byId("lookup-form").addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  for (const id of ["function", "dtype"]) byId(id).addEventListener("change", go);
  byId("previous").addEventListener("click", () => step("below"));
  byId("next").addEventListener("click", () => step("above"));
  byId("share").addEventListener("click", share);
}

// The URL holds the input, so that a link shows the same.
function go() {
  const query = new URLSearchParams({ x: byId("x").value, function: byId("function").value, dtype: byId("dtype").value });
  const hash = `#/lookup?${query}`;
  if (location.hash === hash) open(query);
  else location.hash = hash;
}

export function open(query) {
  if (query.has("x")) byId("x").value = query.get("x");
  for (const name of ["function", "dtype"]) {
    if (query.has(name) && [...byId(name).options].some((each) => each.value === query.get(name))) byId(name).value = query.get(name);
  }
  return render();
}

function step(side) {
  const there = current?.neighbours[side];
  if (!there) return;
  byId("x").value = there.x_bits;
  go();
}

async function share() {
  const link = new URL(`#/lookup?${new URLSearchParams({ x: current ? current.x_bits : byId("x").value, function: byId("function").value, dtype: byId("dtype").value })}`, location.href);
  try {
    await navigator.clipboard.writeText(link.href);
    byId("shared").textContent = "Copied.";
  } catch {
    byId("shared").textContent = link.href;
  }
}

async function render() {
  const mine = ++turn;
  const [fn, dtype, x] = [byId("function").value, byId("dtype").value, byId("x").value];
  byId("shared").textContent = "";
  let answer;
  try {
    checkNumber(dtype, x);
    answer = await lookUp(fn, dtype, x);
  } catch (error) {
    if (mine !== turn) return;
    byId("lookup-result").hidden = true;
    show(byId("lookup-problem"), error.message);
    for (const near of error.nearby ?? []) byId("lookup-problem").append(element("br"), element("a", { href: `#/lookup?${new URLSearchParams({ x: near.bits, function: fn, dtype })}` }, `${near.bits} = ${near.decimal}`));
    return;
  }
  if (mine !== turn) return;
  current = answer;
  show(byId("lookup-problem"), "");
  byId("lookup-result").hidden = false;
  headline(answer);
  byId("line").replaceChildren(numberLine(answer));
  byId("dtypes").replaceChildren(...catalogue.dtypes.map((each) => each.name).map((name) => (name === dtype ? answer : answer.also[name])).filter(Boolean).map((each) => card(each, each.dtype === dtype)));
  byId("previous").disabled = !answer.neighbours.below;
  byId("next").disabled = !answer.neighbours.above;
  answers.show(answer);
  const picture = await plot(fn, answer).catch((error) => element("p", { class: "empty" }, error.message));
  if (mine === turn) byId("plot").replaceChildren(picture);
}

function headline(answer) {
  byId("exact-title").textContent = `${answer.function}(${trimmed(answer.x)}) =`;
  byId("exact").replaceChildren(...(answer.exact === null ? [answer.y, element("span", { class: "beyond" }, " rounded")] : digits(answer)));
  const facts = [
    [`${answer.dtype}, correctly rounded`, `${answer.y_hex} = ${answer.y_bits}`],
    ["its error", answer.rounding_error_ulp === null ? "–" : `${ulpText(answer.rounding_error_ulp)} ULP`],
    ["condition number κ", answer.kappa === null ? "–" : ulpText(answer.kappa)],
    ["region of x", answer.region ?? "–"],
  ];
  byId("facts").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

// The digits on which the rounded result agrees, and those beyond.
function digits(answer) {
  let same = 0;
  while (same < answer.exact.length && answer.exact[same] === answer.y[same]) same += 1;
  return [answer.exact.slice(0, same), element("span", { class: "beyond", title: "digits beyond the rounded result" }, answer.exact.slice(same))];
}

function card(answer, chosen) {
  const error = answer.rounding_error_ulp === null ? "" : `${ulpText(answer.rounding_error_ulp)} ULP`;
  const row = (name, bits, hex, decimal) => element("div", { class: "row" }, element("b", {}, name),
    element("div", {}, element("div", {}, bitsView(bits, answer.dtype)),
      element("div", { class: "text" }, bits, element("i", {}, " = "), hex, element("i", {}, " = "), brief(decimal))));
  return element("article", { class: chosen ? "card chosen" : "card" },
    element("h3", {}, answer.dtype, element("span", {}, error)),
    row("x", answer.x_bits, answer.x_hex, answer.x), row("y", answer.y_bits, answer.y_hex, answer.y));
}
