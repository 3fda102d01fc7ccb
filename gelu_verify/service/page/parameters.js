// The parameters of a function: fields of a form, a part of a link, a part of its name ("gelu[mu=0.5,sigma=1/3]").
import { catalogue } from "./catalogue.js";
import { element } from "./dom.js";

export const entryOf = (fn) => catalogue.functions.find((each) => each.name === baseOf(fn));
export const baseOf = (fn) => fn.split("[")[0];
export const everyName = () => [...new Set(catalogue.functions.flatMap((each) => each.parameters.map(({ name }) => name)))];

// What a name says of them: { mu: "0.5", sigma: "1/3" }.
export function valuesOf(fn) {
  const inside = /\[(.*)\]$/.exec(fn)?.[1];
  return inside ? Object.fromEntries(inside.split(",").map((each) => each.split("="))) : {};
}

export function nameOf(base, values) {
  const texts = Object.entries(values).map(([name, text]) => `${name}=${text}`);
  return texts.length ? `${base}[${texts.join(",")}]` : base;
}

// The formula with what the parameters are.
export function formulaOf(fn) {
  const [entry, values] = [entryOf(fn), valuesOf(fn)];
  if (!Object.keys(values).length) return entry.formula;
  const texts = entry.parameters.map(({ name, default: usual }) => [name, values[name] ?? usual]).filter(([, text]) => text !== null);
  return [entry.general, ...texts.map(([name, text]) => `${name} = ${text}`)].join(", ");
}

// A field for each parameter of the function, with these values.
export function fill(place, base, values, changed) {
  place.replaceChildren(...entryOf(base).parameters.map(({ name, default: usual, meaning }) => {
    const field = element("input", { name, value: values[name] ?? "", placeholder: usual ?? "none", title: meaning, maxlength: 400, size: 7, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    field.addEventListener("change", changed);
    return element("label", {}, `${name} `, field);
  }));
}

// What is written in the fields.
export function written(place) {
  const texts = [...place.querySelectorAll("input")].map((each) => [each.name, each.value.trim().replaceAll("−", "-")]);
  return Object.fromEntries(texts.filter(([, text]) => text));
}

// The function that a link names, with its parameters, and what in the link is not known.
export function asked(query, base, known) {
  const fn = query.get("function") ?? base;
  const given = Object.fromEntries([...query].filter(([name]) => everyName().includes(name)));
  const values = { ...valuesOf(fn), ...given };
  const accepted = entryOf(fn)?.parameters.map(({ name }) => name) ?? [];
  const unknown = [...query.keys()].filter((name) => !known.includes(name) && !everyName().includes(name)).map((name) => `“${name}”, which is not known here`);
  if (entryOf(fn)) unknown.push(...Object.keys(values).filter((name) => !accepted.includes(name)).map((name) => `“${name}”, which ${baseOf(fn)} does not have`));
  return { base: baseOf(fn), values, unknown };
}
