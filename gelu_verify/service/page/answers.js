// Outputs of implementations: one request for each family, so that none waits for the slowest.
import { answersOf, families } from "./api.js";
import { byId, element, ulpText } from "./dom.js";
import { brief } from "./texts.js";

const AT_ONCE = 2; // requests; a browser has six connections, and the next look-up needs some
const UNFOLDED = 8; // rows of a family that are shown at first
let current = null;

// Requests for an earlier number are aborted.
export function clear() {
  current?.abort();
  byId("answers").replaceChildren();
}

// Shows them in `#answers`.
export async function show(answer) {
  clear();
  const mine = (current = new AbortController());
  const place = byId("answers");
  try {
    const names = await families(answer);
    if (mine.signal.aborted) return;
    if (!names.length) place.replaceChildren(element("p", { class: "empty" }, answer.function.includes("[") ? "Implementations are asked with the usual parameters only." : "This server calls no implementations."));
    else await fill(place, names, answer, mine.signal);
  } catch (error) {
    if (!mine.signal.aborted) place.replaceChildren(element("p", { class: "empty" }, error.message));
  }
}

async function fill(place, names, answer, signal) {
  const status = element("p", { class: "note", role: "status" });
  const head = ["implementation", "error at x, ULP", "bits", "value", "largest error anywhere, ULP"];
  const bodies = new Map(names.map((name) => [name, group(name, [note("queued")])]));
  const made = element("table", { class: "answers" }, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: COLUMNS[i] }, text)))), ...bodies.values());
  place.replaceChildren(status, element("div", { class: "box", tabindex: "0", role: "region", "aria-label": "answers, as a table" }, made));
  const waiting = [...names];
  const busy = new Set();
  const say = () => {
    const left = [...busy, ...waiting];
    status.textContent = left.length ? `Waiting for ${left.join(", ")}: a library that has not been used for a while is loaded first.` : summary(made);
  };
  const work = async () => {
    while (waiting.length && !signal.aborted) {
      const name = waiting.shift();
      busy.add(name);
      bodies.get(name).replaceChildren(...group(name, [note("computing")]).childNodes);
      say();
      const rows = await rowsOf(name, answer, signal);
      if (signal.aborted) return;
      busy.delete(name);
      bodies.get(name).replaceChildren(...group(name, rows).childNodes);
      say();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const COLUMNS = ["", "right", "", "value", "right"];

function summary(made) {
  const right = made.querySelectorAll(".ok").length;
  const all = made.querySelectorAll("tr[data-answer]").length;
  return all ? `${right} of ${all} are correctly rounded to nearest.` : "No implementation computes this function.";
}

async function rowsOf(name, answer, signal) {
  try {
    const { answers, absent } = await answersOf(name, answer, signal);
    if (absent[name]) return [note(`not available: ${absent[name]}`)];
    return answers.length ? answers.map((row) => line(row, answer)) : [note("does not have this function")];
  } catch (error) {
    return [note(error.message)];
  }
}

const note = (text) => element("tr", { class: "aside" }, element("td", { colspan: "5" }, text));

// The rows of a family under its name; beyond the first few they are folded.
function group(name, rows) {
  const made = element("tbody", {});
  const aside = rows.length === 1 && rows[0].className === "aside";
  if (aside) {
    made.append(element("tr", { class: "group" }, element("th", { scope: "rowgroup" }, name), element("td", { colspan: "4", class: "note" }, rows[0].textContent)));
    return made;
  }
  const title = element("th", { scope: "rowgroup", colspan: "5" }, name, " ");
  made.append(element("tr", { class: "group" }, title), ...rows);
  const folded = rows.length > UNFOLDED ? rows.slice(UNFOLDED) : [];
  if (folded.length) {
    for (const row of folded) row.hidden = true;
    const button = element("button", { type: "button", class: "link", "aria-expanded": "false" }, `${folded.length} more`);
    button.addEventListener("click", () => {
      const open = folded[0].hidden;
      for (const row of folded) row.hidden = !open;
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "fewer" : `${folded.length} more`;
    });
    title.append(button);
  }
  return made;
}

function line(row, answer) {
  const description = [row.target, row.form, row.note, row.version].filter(Boolean).join("; ");
  const name = row.target.replace(/^\w+\./, ""); // the family is in the row above
  const right = row.y_bits === answer.y_bits;
  const error = row.error_ulp === null ? "not finite" : ulpText(row.error_ulp);
  const there = row.y_bits === null ? element("td", { class: "bad", colspan: "3" }, row.failure) : null;
  const cells = there ? [there] : [
    element("td", { class: "num" }, element("span", { class: right ? "ok" : "bad" }, right ? "right" : error), row.failure ? element("small", {}, ` ${row.failure}`) : ""),
    element("td", { class: "mono" }, row.y_bits.slice(0, 10), element("wbr"), row.y_bits.slice(10)), element("td", { class: "mono value" }, brief(row.y)),
  ];
  return element("tr", { "data-answer": true }, element("th", { scope: "row", class: "mono", title: description }, name), ...cells,
    element("td", { class: "num" }, row.max_ulp === null ? "–" : element("a", { href: `v1/runs/${row.run}/report.html` }, ulpText(row.max_ulp, row.bound))));
}
