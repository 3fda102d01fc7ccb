// Small tools for building pages out of text: nothing here ever parses HTML.

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

export function table(head, rows, label) {
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

// An error in ULP, three digits: never better than the truth where `bound` says what it is.
export function ulpText(value, bound = "") {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size >= 1e4 ? value.toExponential(2).replace("e+", "e") : size >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return (bound === ">=" ? "≥ " : "") + text;
}
