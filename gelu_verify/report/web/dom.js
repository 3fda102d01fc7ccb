/* Elements. Texts enter the page as text, never as markup. */
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return node;
};
const drawn = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const byId = id => document.getElementById(id);
const breakable = name => name.split(/(?<=[._])/).flatMap((part, i) => i ? [make("wbr"), part] : [part]);
const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const chip = (grade, title) => make("b", { class: `chip ${grade}` }, title);

/* A button that copies what `text` gives, and says so. */
const copyButton = (label, text, title) => {
  const node = make("button", { type: "button", class: "copy", title: title || "copy to the clipboard" }, label);
  node.addEventListener("click", async event => {
    event.stopPropagation();
    const done = await copied(text());
    node.textContent = done ? "copied" : "press Ctrl+C";
    setTimeout(() => { node.textContent = label; }, 1400);
  });
  return node;
};
/* file:// pages may have no clipboard API: the old command is the other way */
const copied = async text => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "vh", "aria-hidden": "true" });
    area.value = text;
    (document.querySelector("dialog[open]") || document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};
