/* Progressive enhancement: the page is complete without this. */
const start = async () => {
  if (!byId("ranking")) return;
  const results = await loadResults();
  startTable(results);
  listeners.push(showAt);
  startCharts(results);
  startSaving();
  startAsking(results);
  startCompare(results);
  startResult(results);
  document.querySelectorAll(".js-only").forEach(node => { node.hidden = false; });
  const read = () => {
    const found = parsed();
    if (found) { state = found; apply(); return; }
    const part = byId(location.hash.slice(1));
    if (part?.closest("details")) part.closest("details").open = true;
    if (!part) { state = { ...DEFAULT }; apply(); }
  };
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  document.querySelectorAll(".overview a").forEach(link => link.addEventListener("click", event => {
    event.preventDefault();
    const wanted = Object.fromEntries(new URLSearchParams(link.hash.slice(1)));
    const again = Object.entries(wanted).every(([name, value]) => state[name] === value);
    change(again ? { family: "", function: "", dtype: "" } : { q: "", grade: "", ...wanted });
    byId("results").scrollIntoView();
  }));
  /* a section is gone to without losing the filters in the address */
  document.querySelectorAll("nav a, header a[href='#provenance']").forEach(link => link.addEventListener("click", event => {
    event.preventDefault();
    byId(link.hash.slice(1)).scrollIntoView();
  }));
  read();
  if (!parsed()) apply();
  document.documentElement.dataset.ready = "yes";
};
start();
