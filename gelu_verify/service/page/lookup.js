// Look up: one number in every dtype.
import * as answers from "./answers.js";
import * as around from "./around.js";
import { exactly, lookUp } from "./api.js";
import { catalogue } from "./catalogue.js";
import { checkNumber, conversion, literals } from "./formats.js";
import { bitsView, numberLine, plot } from "./figures.js";
import { byId, copy, element, options, show, table, ulpText } from "./dom.js";
import * as parameters from "./parameters.js";
import { ROUNDED, brief, trimmed } from "./texts.js";

const QUIET_MS = 200; // no other requests while the user steps through numbers
let current = null;
let turn = 0;
let stepping = false; // the answer to a step is not here yet
let held = false; // an arrow key in x
let rest = () => {}; // asks what is not asked while it is held

export function start() {
  options(byId("function"), catalogue.functions.map((each) => each.name), "gelu");
  options(byId("dtype"), catalogue.dtypes.map((each) => each.name), catalogue.static ? "bfloat16" : "float32");
  byId("lookup-form").addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  options(byId("rounding"), catalogue.static ? ["nearest"] : Object.keys(ROUNDED), "nearest");
  byId("function").addEventListener("change", () => {
    parameters.fill(byId("parameters"), byId("function").value, {}, go);
    go();
  });
  parameters.fill(byId("parameters"), byId("function").value, {}, go);
  byId("rounding").addEventListener("change", go);
  byId("dtype").addEventListener("change", () => {
    // bits stand for their value: in another dtype the same bits are another number
    if (current && byId("dtype").value !== current.dtype && byId("x").value.trim().toLowerCase() === current.x_bits) byId("x").value = current.x_hex;
    go();
  });
  byId("half").addEventListener("click", () => scale(-1));
  byId("double").addEventListener("click", () => scale(1));
  byId("x").addEventListener("keydown", keys);
  for (const name of ["keyup", "blur"]) byId("x").addEventListener(name, () => {
    if (!held) return;
    held = false;
    rest();
  });
  byId("more-digits").addEventListener("click", moreDigits);
  byId("previous").addEventListener("click", () => step("below"));
  byId("next").addEventListener("click", () => step("above"));
  byId("share").addEventListener("click", share);
  around.start((x) => {
    byId("x").value = x;
    go();
  });
}

// The URL holds the input, so that a link shows the same.
function go() {
  const hash = address();
  if (location.hash !== hash) history.pushState(null, "", hash);
  open(new URLSearchParams(hash.split("?")[1]));
}

// The link of what is asked for, or of that with some other x, function or dtype; parameters stay.
function address(other = {}) {
  const query = { x: byId("x").value, function: byId("function").value, ...parameters.written(byId("parameters")), dtype: byId("dtype").value, ...other };
  const rounding = byId("rounding").value;
  return `#/lookup?${new URLSearchParams(rounding === "nearest" ? query : { ...query, rounding })}`;
}

export function open(query) {
  if (query.has("x")) byId("x").value = query.get("x");
  byId("rounding").value = "nearest";
  const { base, values, unknown } = parameters.asked(query, byId("function").value, ["x", "function", "dtype", "rounding"]);
  for (const [name, value] of [["function", base], ["dtype", query.get("dtype")], ["rounding", query.get("rounding")]]) {
    if (value === null) continue;
    const names = [...byId(name).options].map((each) => each.value);
    if (!names.includes(value)) return refuse(`The link names the ${name} “${value}”, which is not known here (accepted: ${names.join(", ")}).`);
    byId(name).value = value;
  }
  if (unknown.length) return refuse(`The link has ${unknown.join(", and ")}.`);
  parameters.fill(byId("parameters"), base, values, go);
  return render();
}

function refuse(problem) {
  turn += 1;
  byId("lookup-result").hidden = true;
  show(byId("lookup-problem"), problem);
}

// Up and Down step by one float, with Shift by a factor of two.
function keys(event) {
  const up = { ArrowUp: true, ArrowDown: false }[event.key];
  if (up === undefined) return;
  event.preventDefault();
  held = true;
  if (event.shiftKey) scale(up ? 1 : -1, event.repeat);
  else step(up ? "above" : "below", event.repeat);
}

// x times 2 or a half: the exponent of the hex float, which is exact.
function scale(by, again) {
  const match = /^(.*p)([+-]?\d+)$/.exec(current?.x_hex ?? "");
  if (!match || current.x === "0" || current.x === "-0") return;
  const exponent = Number(match[2]) + by;
  move(`${match[1]}${exponent < 0 ? "" : "+"}${exponent}`, again);
}

async function moreDigits() {
  const [mine, answer] = [turn, current];
  try {
    const text = await exactly(answer.function, answer.dtype, answer.x_bits, 200);
    if (mine === turn) byId("exact").replaceChildren(...digits({ ...answer, exact: text }));
    byId("more-digits").hidden = true;
  } catch (error) {
    if (mine === turn) show(byId("lookup-problem"), error.message);
  }
}

function step(side, again) {
  const there = current?.neighbours[side];
  if (there) move(there.x_bits, again);
}

// To another x. While a key is held, each step waits for the answer of the one before: none is skipped, and there is one
// request at a time. The URL follows at the end, because browsers limit how often it may change.
async function move(x, again = false) {
  if (stepping) return;
  stepping = true;
  byId("x").value = x;
  if (!again) history.pushState(null, "", address());
  await render().finally(() => (stepping = false));
}

function share() {
  const link = new URL(address(current ? { x: current.x_bits } : {}), location.href);
  copy(link.href, byId("shared"), "Copied.");
}

async function render() {
  const mine = ++turn;
  const [base, dtype, x, rounding] = ["function", "dtype", "x", "rounding"].map((name) => byId(name).value);
  const fn = parameters.nameOf(base, parameters.written(byId("parameters")));
  const hash = address();
  byId("shared").textContent = "";
  let answer;
  try {
    checkNumber(dtype, x);
    answer = await lookUp(fn, dtype, x, rounding);
  } catch (error) {
    if (mine !== turn) return;
    byId("lookup-result").hidden = true;
    show(byId("lookup-problem"), error.message);
    for (const near of error.nearby ?? []) byId("lookup-problem").append(element("br"), element("a", { href: address({ x: near.bits }) }, `${near.bits} = ${near.decimal}`));
    return;
  }
  if (mine !== turn) return;
  current = answer;
  show(byId("lookup-problem"), "");
  byId("lookup-result").hidden = false;
  headline(answer);
  byId("conversion").textContent = conversion(dtype, x, answer);
  byId("copies").replaceChildren(copies("x", dtype, { bits: answer.x_bits, hex: answer.x_hex, decimal: answer.x }), copies("y", dtype, { bits: answer.y_bits, hex: answer.y_hex, decimal: answer.y }));
  byId("line").replaceChildren(numberLine(answer));
  byId("dtypes").replaceChildren(...catalogue.dtypes.map((each) => each.name).map((name) => (name === dtype ? answer : answer.also[name])).filter(Boolean).map((each) => card(each, each.dtype === dtype)));
  byId("neighbours").replaceChildren(neighbours(answer));
  byId("previous").disabled = !answer.neighbours.below;
  byId("next").disabled = !answer.neighbours.above;
  answers.clear();
  around.clear();
  const picture = await plot(answer.function, answer).catch((error) => element("p", { class: "empty" }, error.message));
  if (mine !== turn) return;
  byId("plot").replaceChildren(picture);
  rest = () => setTimeout(() => mine === turn && !byId("lookup").hidden && settle(answer, hash), QUIET_MS);
  if (!held) rest();
}

// What implementations return: asked for when the user stays at a number.
async function settle(answer, hash) {
  const mine = turn;
  if (location.hash && location.hash !== hash) history.replaceState(null, "", hash);
  around.show(answer);
  try {
    const { function: fn, dtype, x_bits: x, rounding = "nearest" } = answer;
    const nearest = rounding === "nearest" ? answer : await lookUp(fn, dtype, x, "nearest");
    if (mine === turn) answers.show(nearest);
  } catch (error) {
    if (mine === turn) show(byId("lookup-problem"), error.message);
  }
}

// x and the floats beside it, with their results.
function neighbours(answer) {
  const number = (bits, decimal) => element("td", {}, bits, element("span", {}, ` ${brief(decimal)}`));
  const row = (name, { x_bits: x, x: value, y_bits: y, y: result }) => element("tr", { class: name === "x" ? "strong" : null }, element("th", { scope: "row" }, name), number(x, value), y ? number(y, result) : element("td", {}, "–"));
  const { below, above } = answer.neighbours;
  return table(["float", "x", "y"], [below && row("x −", below), row("x", answer), above && row("x +", above)].filter(Boolean), "x and its neighbours");
}

// Buttons that copy a number as bits, hex float, decimal, and as literals.
function copies(name, dtype, number) {
  const buttons = literals(dtype, number).map(([kind, text]) => {
    const button = element("button", { type: "button", class: "link", title: text }, kind);
    button.addEventListener("click", () => copy(text, byId("shared")));
    return button;
  });
  return element("span", { class: "copies" }, `copy ${name} as `, ...buttons.flatMap((each) => [each, " "]));
}

function headline(answer) {
  const [entry, values] = [parameters.entryOf(answer.function), parameters.valuesOf(answer.function)];
  const slope = catalogue.functions.find((each) => each.gradient_of === entry.name);
  const linked = (name) => element("a", { href: address({ x: answer.x_hex, function: name }) }, name);
  byId("formula").replaceChildren(`${entry.name}(x) = ${parameters.formulaOf(answer.function)}`);
  if (slope) byId("formula").append(element("br"), "derivative ", linked(slope.name), `(x) = ${parameters.formulaOf(parameters.nameOf(slope.name, values))}`);
  if (entry.gradient_of) byId("formula").append(element("br"), "the derivative of ", linked(entry.gradient_of));
  if (entry.approximates) byId("formula").append(element("br"), "an approximation of ", linked(entry.approximates));
  byId("more-digits").hidden = catalogue.static || ["0", "-0", "inf", "-inf", "nan", null].includes(answer.exact);
  byId("exact-title").textContent = `${answer.function}(${trimmed(answer.x)}) =`;
  byId("exact").replaceChildren(...(answer.exact === null ? [answer.y, element("span", { class: "beyond" }, " rounded")] : digits(answer)));
  const facts = [
    [`${answer.dtype}, ${ROUNDED[answer.rounding ?? "nearest"]}`, `${answer.y_hex} = ${answer.y_bits}`],
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
