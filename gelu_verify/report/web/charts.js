/* The static charts of accuracy against speed: colours, filters, and the panel of a point. */
const startCharts = () => {
  document.querySelectorAll("#speed [data-c]").forEach(node => { node.style.setProperty("--k", colourOf(Number(node.dataset.c))); });
  byId("speed").addEventListener("click", event => {
    const link = event.target.closest("a.pt");
    if (!link) return;
    event.preventDefault();
    change({ r: link.dataset.r }, true);
  });
  listeners.push(left => {
    const ids = new Set(left.map(d => d.id));
    document.querySelectorAll("#speed [data-r]").forEach(node => { node.classList.toggle("out", !ids.has(node.dataset.r)); });
    document.querySelectorAll("#speed figure").forEach(node => { node.hidden = (state.function && node.dataset.fn !== state.function) || (state.dtype && node.dataset.d !== state.dtype); });
    document.querySelectorAll("#speed details").forEach(node => {
      node.hidden = state.function && node.dataset.fn !== state.function;
      if (node.dataset.fn === state.function) node.open = true;
    });
  });
};
