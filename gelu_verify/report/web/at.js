/* A number in the search box is an x: how wrong each result is around it, and the command that asks for its very output. */
const AT_MOST = 60;
const numberIn = text => {
  const words = typed(text).trim();
  return /^[-+]?(inf|\d*\.?\d+(e[-+]?\d+)?|\d+\.)$/.test(words) ? Number(words.replace("inf", "Infinity")) : null;
};

const showAt = async list => {
  const x = numberIn(state.q), root = byId("at");
  root.hidden = x === null;
  if (x === null) return;
  const found = await Promise.all(list.slice(0, AT_MOST).map(async d => {
    const curve = (await curvesOf(d.key)).get(d.id), n = data.blocks[d.key] ? bins(d.dtype) : 0;
    const bin = Math.min(Math.floor(positionOf(d.dtype, x)), n - 1);
    return [d, curve && Number.isFinite(x) ? curve.levels[bin] : null];
  }));
  if (numberIn(state.q) !== x) return; // typed on meanwhile
  const said = (d, level) => level === null || level === undefined ? "not known here" : level >= data.ceiling ? "no correct bit" : `up to ${ulp(2 ** level)} ULP`;
  root.replaceChildren(
    make("h3", {}, `Around x = ${signed(x)}`), make("p", { class: "soft" }, "The largest error of what was tried in the same part of the axis. The command prints what is returned for this x, and what is right."),
    make("table", { class: "plain" }, make("tbody", {}, ...found.map(([d, level]) => make("tr", {}, make("th", { scope: "row" }, swatch(d.place), " ", ...breakable(d.target)), make("td", {}, `${d.function} ${d.dtype}`), make("td", { class: "num" }, said(d, level)), make("td", {}, d.ask ? make("code", {}, d.ask.replace("X_BITS", typed(state.q).trim())) : ""))))),
    ...(list.length > AT_MOST ? [make("p", { class: "soft" }, `and ${list.length - AT_MOST} more: choose a function or a dtype`)] : []));
};
