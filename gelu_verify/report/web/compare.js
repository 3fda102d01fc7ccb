/* The plot of many results, of one function and dtype, that follows the filters. */
const startCompare = results => {
  const root = byId("compare"), all = Object.values(results).filter(d => data.blocks[d.key]);
  const keys = Object.keys(data.blocks);
  if (!keys.length) { root.append(make("p", { class: "empty" }, "This run has no error tables.")); return; }
  const choose = name => make("select", { "aria-label": `${name} of the plot` });
  const [byFunction, byDtype] = ["function", "dtype"].map(choose), place = make("div");
  root.append(make("p", { class: "choice" }, make("label", {}, "function ", byFunction), make("label", {}, "dtype ", byDtype)), place);
  let chosen = ["", ""], shown = null, plot = null, near = false, ids = new Set();
  const dtypesOf = name => keys.filter(key => key.startsWith(`${name}/`)).map(key => key.split("/")[1]);
  byFunction.append(...[...new Set(keys.map(key => key.split("/")[0]))].map(name => make("option", {}, name)));
  const fill = (name, dtype) => {
    const dtypes = dtypesOf(name);
    byDtype.replaceChildren(...dtypes.map(each => make("option", {}, each)));
    byFunction.value = name;
    byDtype.value = dtypes.includes(dtype) ? dtype : dtypes.includes("float32") ? "float32" : dtypes[0];
    chosen = [byFunction.value, byDtype.value];
  };
  const memory = memoryOf("plot-", () => ({ plot: chosen.join(".") }));
  const draw = async () => {
    const key = chosen.join("/");
    if (!near) return;
    if (state.plot && key !== state.plot.replace(".", "/")) remember(COMPARED);
    if (key !== shown) {
      shown = key;
      plot?.end();
      plot = null;
      const members = all.filter(d => d.key === key).sort((a, b) => a.place - b.place), left = members.filter(d => ids.has(d.id));
      const made = await errorPlot(place, members, firstShown(left.length ? left : members), memory);
      if (shown !== key) { made?.end(); return; }
      plot = made;
    }
    plot?.again();
    if (plot && ids.size) plot.keep(ids);
  };
  for (const select of [byFunction, byDtype]) select.addEventListener("input", () => { fill(byFunction.value, byDtype.value); remember({ ...COMPARED, plot: chosen.join(".") }); draw(); });
  listeners.push(left => {
    ids = new Set(left.map(d => d.id));
    const here = left.filter(d => data.blocks[d.key]);
    const [name, dtype] = state.plot.split("."), isAsked = data.blocks[`${name}/${dtype}`] && [name, ""].includes(state.function) && [dtype, ""].includes(state.dtype);
    const stays = here.some(d => d.key === chosen.join("/"));
    if (isAsked) fill(name, dtype);
    else if (state.function && dtypesOf(state.function).length || !stays) fill(state.function || here[0]?.function || keys[0].split("/")[0], state.dtype || chosen[1] || "float32");
    else if (state.dtype) fill(chosen[0], state.dtype);
    draw();
  });
  new IntersectionObserver((entries, observer) => { if (entries.some(e => e.isIntersecting)) { near = true; observer.disconnect(); draw(); } }, { rootMargin: "300px" }).observe(root);
};
/* the plainest name of every family, ours, then others with another error: six in all */
const firstShown = list => {
  const chosen = new Set(), plainest = new Map();
  for (const d of list) if (d.group !== "specimen" && !plainest.has(d.family)) plainest.set(d.family, d);
  for (const d of [...plainest.values(), ...list]) {
    if (chosen.size < 6 && (plainest.get(d.family) === d || chosen.size < 3)) chosen.add(d);
  }
  return new Set([...chosen].map(d => d.id));
};
