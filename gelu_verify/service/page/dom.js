// Builds elements out of text; nothing here parses HTML.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// In a narrow window each cell is a line, which names its column.
export function table(head, rows, label) {
  for (const row of rows) [...row.cells].forEach((cell, i) => cell.setAttribute("data-column", head[i]));
  const made = element(
    "table", {},
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows),
  );
  return element("div", { class: "box", tabindex: "0", role: "region", "aria-label": label }, made);
}

export function options(select, values, chosen) {
  select.replaceChildren(...values.map((value) => element("option", { value, selected: value === chosen }, value)));
}

export function show(place, problem) {
  place.hidden = !problem;
  place.textContent = problem || "";
}

// Copies a text and says so; where the browser does not permit it, something else is said.
export async function copy(text, place, said = `Copied ${text}`, refused = text) {
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  place.textContent = copied ? said : refused;
}

// An error in ULP, three digits, or all before the point: "=" is rounded up and ">=" down, so that the statement stays true.
export function ulpText(value, bound = "") {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const unit = Math.abs(value) < 1e6 ? Math.min(1, 10 ** (Math.floor(Math.log10(Math.abs(value))) - 2)) : 10 ** (Math.floor(Math.log10(Math.abs(value))) - 2);
  const round = { "=": Math.ceil, ">=": Math.floor }[bound] || Math.round;
  const rounded = round(value / unit) * unit;
  const size = Math.abs(rounded);
  const text = size >= 1e6 || size < 1e-3 ? rounded.toExponential(2).replace("e+", "e") : size >= 100 ? rounded.toFixed(0) : rounded.toPrecision(3);
  return (bound === ">=" ? "≥\u00a0" : "") + text;
}
