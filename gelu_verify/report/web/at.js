/* A number in a search box is an x: how wrong each result is around it, and the command that asks for its very output. */
const AT_MOST = 60;
const numberIn = text => {
  const words = typed(text).trim();
  return /^[-+]?(inf|\d*\.?\d+(e[-+]?\d+)?|\d+\.)$/.test(words) ? Number(words.replace("inf", "Infinity")) : null;
};

/* of results, and of the x that `words` name: a heading and a table */
const around = async (list, words) => {
  const x = numberIn(words);
  const found = await Promise.all(list.slice(0, AT_MOST).map(async d => {
    const curve = (await curvesOf(d.key)).get(d.id);
    if (!curve || !Number.isFinite(x)) return [d, null, null];
    const bin = Math.min(Math.floor(positionOf(d.dtype, x)), bins(d.dtype) - 1);
    return [d, curve.levels[bin], curve.worst(bin)];
  }));
  const size = level => level === null ? "not known here" : level >= data.ceiling ? "no correct bit" : `up to ${ulp(2 ** level)} ULP`;
  const example = (d, worst) => worst?.x ? `f(${decimal(d.dtype, worst.x)}) = ${decimal(d.dtype, worst.got)}, not ${decimal(d.dtype, worst.want)}` : "";
  return [
    make("h3", {}, `Around x = ${signed(x)}`), make("p", { class: "soft" }, "The largest error of what was tried in the same part of the axis, and the worst input of a wider part. The command prints what is returned for this x, and what is right."),
    make("table", { class: "plain" }, make("tbody", {}, ...found.map(([d, level, worst]) => make("tr", {}, make("th", { scope: "row" }, swatch(d.place), " ", ...breakable(d.role?.[0] === "call" ? d.role[1] : d.target)), make("td", {}, `${d.function} ${d.dtype}`), make("td", { class: "num" }, size(level)), make("td", {}, example(d, worst)), make("td", {}, d.ask ? make("code", {}, d.ask.replace("X_BITS", typed(words).trim())) : ""))))),
    ...(list.length > AT_MOST ? [make("p", { class: "soft" }, `and ${list.length - AT_MOST} more: choose a function or a dtype`)] : []),
  ];
};

const showAt = async list => {
  const words = state.q, root = byId("at");
  root.hidden = numberIn(words) === null;
  if (root.hidden) return;
  const found = await around(list, words);
  if (state.q === words) root.replaceChildren(...found); // or typed on meanwhile
};
