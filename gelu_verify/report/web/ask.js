/* The box at the top of the page: a question finds those of the section of questions that share words with it. Names of functions, dtypes and libraries choose the calls that an answer is about; a number is an x. */
const OTHER_NAMES = { fp16: "float16", half: "float16", bf16: "bfloat16", fp32: "float32", fp64: "float64", double: "float64" };
const BEFORE_X = ["at", "x", "f", "for"]; // "gelu at x = -6"
const SHOWN_QUESTIONS = 3, SHOWN_ROWS = 40;

const startAsking = results => {
  const box = byId("ask"), panel = byId("answers"), all = Object.values(results);
  const names = new Map(["function", "dtype", "family"].flatMap(name => [...new Set(all.map(d => d[name]))].map(value => [value, name])));
  const wordsOf = text => typed(text).split(/[^\w%.+-]+/).map(word => word.replace(/[.]+$/, "")).filter(Boolean);
  const listed = [...document.querySelectorAll("#questions .questions > div")].map(node => ({ node, ...node.dataset, words: wordsOf(`${node.querySelector("h3").textContent} ${node.dataset.words}`) }));
  const isOf = (word, question) => question.words.some(each => each === word || word.length > 2 && each.startsWith(word) || each.length > 3 && word.length - each.length < 4 && word.startsWith(each));

  /* a word counts as much as few questions have it */
  const matching = words => {
    const counted = words.map(word => listed.filter(question => isOf(word, question)));
    const score = question => counted.reduce((sum, having) => sum + (having.includes(question) ? 1 / having.length : 0), 0);
    const found = listed.map(question => [score(question), question]).filter(([size]) => size > 0).sort((a, b) => b[0] - a[0]);
    return found.filter(([size]) => size >= found[0][0] / 2).slice(0, SHOWN_QUESTIONS).map(([, question]) => question);
  };
  const rowsOf = (chosen, role) => {
    const left = all.filter(d => Object.entries(chosen).every(([name, values]) => values.includes(role === "gradient" && name === "function" ? d.function.replace(/_grad$/, "") : d[name])));
    const of = left.filter(d => role === "path" ? d.pair : d.role?.[0] === role);
    return (of.length ? of : left).sort((a, b) => functionRank.get(a.function) - functionRank.get(b.function) || (a.role?.[1] ?? a.target).localeCompare(b.role?.[1] ?? b.target) || dtypeRank.get(a.dtype) - dtypeRank.get(b.dtype));
  };
  const tableOf = ({ view, of }, chosen) => {
    const { columns } = VIEWS[view], found = rowsOf(chosen, of);
    return [
      simpleTable([of === "gradient" ? "gradient of" : of, "dtype", ...columns.map(each => each.title)], found.slice(0, SHOWN_ROWS).map(d => [make("a", { href: `#r=${d.id}` }, d.role?.[1] ?? d.target), d.dtype, ...columns.map(each => cellOf(each, d))])),
      found.length > SHOWN_ROWS && make("p", { class: "soft" }, `and ${found.length - SHOWN_ROWS} more: name a function, a dtype or a library`),
    ];
  };
  const answerOf = (question, chosen, isFirst) => {
    const copy = question.node.cloneNode(true);
    copy.querySelectorAll("[id]").forEach(node => node.removeAttribute("id"));
    if (question.view && isFirst) copy.firstElementChild.after(make("div", { class: "scroll" }, ...tableOf(question, chosen)));
    return copy;
  };
  const show = async () => {
    const text = box.value, chosen = {}, rest = [];
    for (const word of wordsOf(text)) {
      const name = OTHER_NAMES[word] ?? word;
      if (names.has(name)) (chosen[names.get(name)] ??= []).push(name); else rest.push(word);
    }
    const number = rest.find((word, i) => Number.isFinite(numberIn(word) ?? NaN) && (rest.length === 1 || BEFORE_X.includes(rest[i - 1])));
    const near = number ? await around(rowsOf(chosen, "call"), number) : [];
    if (box.value !== text) return; // typed on meanwhile
    const found = number ? [] : matching(rest.length ? rest : Object.keys(chosen).length ? ["right", "which"] : []);
    panel.hidden = !text.trim();
    panel.replaceChildren(...near, ...found.map((question, i) => answerOf(question, chosen, i === 0)),
      make("p", { class: "soft" }, ...(found.length || number ? [] : ["No question has these words. "]), make("a", { href: `#${new URLSearchParams({ q: text })}` }, "Look for them in the table of results"), " or see ", make("a", { href: "#questions" }, "all questions"), "."));
    panel.scrollTop = 0;
  };
  const clear = () => { box.value = ""; show(); };
  /* a link of an answer: to results with columns or words, or to a section */
  const follow = event => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const wanted = link.hash.slice(1);
    clear();
    if (wanted.includes("=")) change({ ...DEFAULT, ...Object.fromEntries(new URLSearchParams(wanted)) }, true);
    const part = byId(wanted.includes("=") ? "results" : wanted);
    if (part.closest("details")) part.closest("details").open = true;
    part.scrollIntoView();
  };
  panel.addEventListener("click", follow);
  byId("questions").addEventListener("click", follow);
  box.addEventListener("input", show);
  box.addEventListener("keydown", event => { if (event.key === "Escape") clear(); });
  box.form.addEventListener("submit", event => event.preventDefault());
  box.form.hidden = false;
};
