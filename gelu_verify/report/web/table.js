/* The ranked table: filters, order and columns, the opened result, what plots show: all of it in the hash of the address. */
const OR_BETTER = "-or-better"; // after a grade
const FILTERS = ["function", "dtype", "family", "grade"];
const PANEL = { with: "", zoom: "", signed: "" }; // of the plot of the opened result r
const COMPARED = { plot: "", "plot-with": "", "plot-zoom": "", "plot-signed": "" }; // of the plot of many
const DEFAULT = { q: "", function: "", dtype: "", family: "", grade: "", sort: "-grade", view: "summary", r: "", ...PANEL, ...COMPARED };
let state = { ...DEFAULT }, rows = [], visible = [];
const listeners = []; // called with the results that the filters leave

const parsed = () => {
  const hash = location.hash.slice(1);
  if (!hash.includes("=")) return null; // the name of a section
  return { ...DEFAULT, ...Object.fromEntries([...new URLSearchParams(hash)].filter(([name]) => name in DEFAULT)) };
};
const hashOf = state => {
  const set = Object.entries(state).filter(([name, value]) => value !== DEFAULT[name]);
  return set.length ? `#${new URLSearchParams(set)}` : "";
};
/* changes of the state that are shown already; `push` makes it a step that the browser's Back undoes */
const remember = (changes, push = false) => {
  state = { ...state, ...changes };
  const address = location.pathname + location.search + hashOf(state);
  if (push) history.pushState(null, "", address); else history.replaceState(null, "", address);
};
/* changes of the state that are to be shown */
const change = (changes, push = false) => {
  remember({ ...("r" in changes && changes.r !== state.r ? PANEL : {}), ...changes }, push);
  apply();
};
const column = key => [...FIXED, ...VIEWS[state.view].columns].find(each => each.k === key) || FIXED[0];

const compared = (a, b) => {
  if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
  return typeof a === "string" ? a.localeCompare(b) : Number(a) - Number(b);
};
/* rows of one grade stand by function and dtype, and the worst first */
const bestFirst = (a, b) => functionRank.get(a.d.function) - functionRank.get(b.d.function) || dtypeRank.get(a.d.dtype) - dtypeRank.get(b.d.dtype) || b.place - a.place;
const sorted = list => {
  const down = state.sort.startsWith("-"), { value } = column(state.sort.replace("-", ""));
  const keys = new Map(list.map(row => [row, value(row.d)]));
  return [...list].sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (nothing(x) || nothing(y)) return nothing(x) - nothing(y); // what is not known comes last either way
    return (down ? -1 : 1) * compared(x, y) || (state.sort === "grade" ? bestFirst(a, b) : a.place - b.place);
  });
};
/* as a keyboard has it: −∞ is found as -inf, ≥ as >= */
const typed = text => text.toLowerCase().replaceAll(MINUS, "-").replaceAll("∞", "inf").replaceAll("≤", "<=").replaceAll("≥", ">=");
const isOfGrade = d => state.grade.endsWith(OR_BETTER) ? ORDER[d.grade] <= ORDER[state.grade.replace(OR_BETTER, "")] : (d.grade ?? "ungraded") === state.grade;
const matches = d => FILTERS.every(name => !state[name] || (name === "grade" ? isOfGrade(d) : d[name] === state[name])) && (numberIn(state.q) !== null || typed(state.q).split(/\s+/).every(part => d.text.includes(part)));

const apply = () => {
  if (!(state.view in VIEWS)) state.view = "summary";
  for (const name of FILTERS) byId(`f-${name}`).value = state[name];
  if (byId("f-q").value !== state.q) byId("f-q").value = state.q;
  byId("f-view").value = state.view;
  byId("clear").hidden = !["q", ...FILTERS].some(name => state[name]);
  showView();
  visible = [];
  for (const body of byId("ranking").tBodies) {
    const members = rows.filter(row => row.body === body), left = sorted(members.filter(row => matches(row.d)));
    for (const row of members) row.tr.hidden = true;
    for (const row of left) row.tr.hidden = false;
    body.append(...left.map(row => row.tr));
    body.hidden = left.length === 0;
    visible.push(...left.map(row => row.d));
  }
  byId("nothing").hidden = visible.length > 0;
  byId("count").textContent = visible.length === rows.length ? `${rows.length}` : `${visible.length} of ${rows.length}`;
  markHeadings();
  listeners.forEach(listener => listener(visible));
};

/* ---- headings and columns ---- */
let shownView = "summary";
const showView = () => {
  if (shownView === state.view) return;
  shownView = state.view;
  const table = byId("ranking"), columns = state.view === "summary" ? [] : VIEWS[state.view].columns;
  table.classList.toggle("other", state.view !== "summary");
  table.querySelectorAll(".v").forEach(cell => cell.remove());
  table.tHead.rows[0].append(...columns.map(each => heading(make("th", { scope: "col", class: `v${each.num ? " num" : ""}`, "data-k": each.k }, each.title))));
  for (const row of table.querySelectorAll("tr.group th")) row.colSpan = FIXED.length + (columns.length || SUMMARY.length);
  for (const { tr, d } of rows) tr.append(...columns.map(each => make("td", { class: `v${each.num ? " num" : ""}` }, cellOf(each, d))));
  fillSorts();
};
const cellOf = (each, d) => each.show(d) ?? NONE;
const heading = th => {
  const inner = make("button", { type: "button", class: "sorter" });
  inner.append(...th.childNodes);
  th.append(inner);
  inner.addEventListener("click", () => {
    const key = th.dataset.k, first = column(key).worst ? `-${key}` : key;
    change({ sort: state.sort === first ? (first === key ? `-${key}` : key) : first });
  });
  return th;
};
const markHeadings = () => {
  const key = state.sort.replace("-", ""), down = state.sort.startsWith("-");
  for (const th of byId("ranking").tHead.rows[0].cells) {
    if (th.dataset.k === key) th.setAttribute("aria-sort", down ? "descending" : "ascending"); else th.removeAttribute("aria-sort");
  }
  const rule = key === "grade" ? (down ? "Worst grade first; equal grades by function and dtype, and the worst of them first." : "Best grade first; equal grades by function and dtype, and the best of them first.") : `By ${column(key).title}, ${typeof column(key).value(rows[0].d) === "string" ? (down ? "Z to A" : "A to Z") : down ? "largest first" : "smallest first"}.`;
  byId("rule").firstChild.textContent = `${rule} “=”: every input of the dtype was tried; “≥”: the largest error found.`;
  byId("f-sort").value = state.sort;
};
const fillSorts = () => {
  const columns = [...FIXED, ...VIEWS[state.view].columns];
  byId("f-sort").replaceChildren(...columns.flatMap(({ k, title }) => [make("option", { value: k }, `${title} ↑`), make("option", { value: `-${k}` }, `${title} ↓`)]));
};

const startTable = results => {
  prepareColumns(results);
  rows = [...document.querySelectorAll("#ranking tbody tr:not(.group)")].map((tr, place) => {
    const d = results[tr.id.slice(2)], says = tr.querySelector(".say").textContent;
    Object.assign(d, { says, title: tr.querySelector(".chip").textContent, text: typed(`${tr.textContent} ${tr.querySelector("th").title} ${Object.keys(d.checks).filter(name => d.checks[name] === "fail").join(" ")}`) });
    tr.tabIndex = 0;
    return { tr, d, place, body: tr.parentNode };
  });
  const table = byId("ranking");
  [...table.tHead.rows[0].cells].forEach(heading);
  const opened = event => {
    const tr = event.target.closest("tbody tr:not(.group)");
    if (!tr || event.target.closest("button") || String(getSelection())) return;
    if (event.type === "keydown" && event.key !== "Enter") return;
    event.preventDefault();
    change({ r: tr.id.slice(2) }, true);
  };
  table.addEventListener("click", opened);
  table.addEventListener("keydown", opened);
  byId("f-view").append(...Object.entries(VIEWS).filter(([, view]) => view.columns.length).map(([name, { title }]) => make("option", { value: name }, title)));
  for (const name of ["q", "view", ...FILTERS]) byId(`f-${name}`).addEventListener("input", event => change({ [name]: event.target.value, ...(name === "view" ? { sort: sortIn(event.target.value) } : {}) }));
  byId("f-sort").addEventListener("input", event => change({ sort: event.target.value }));
  byId("clear").addEventListener("click", () => change({ q: "", function: "", dtype: "", family: "", grade: "" }));
  byId("link").replaceWith(copyButton("copy link", () => location.href.split("#")[0] + hashOf(state), "copy a link to this table: these filters, columns and order"));
  document.querySelector(".filters").addEventListener("submit", event => event.preventDefault());
  document.querySelector(".filters").hidden = false;
  fillSorts();
};
const sortIn = view => [...FIXED, ...VIEWS[view].columns].some(each => each.k === state.sort.replace("-", "")) ? state.sort : DEFAULT.sort;
