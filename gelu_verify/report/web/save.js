/* A figure as an SVG file for a paper: on white, with its title, and with the colours of its style as attributes. */
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-size", "font-weight", "text-anchor"];
const HEAD = 22; // height of the title

const svgFile = (shown, title) => {
  const copy = shown.cloneNode(true), { x, y, width, height } = shown.viewBox.baseVal;
  copy.classList.add("chart", "paper");
  copy.prepend(drawn("rect", { x, y: y - HEAD, width, height: height + HEAD, fill: "#fff" }), drawn("text", { class: "title", x: x + 8, y: y - 6 }, title));
  shown.after(copy); // its style is that of the page there
  const nodes = [...copy.querySelectorAll("rect, path, line, circle, text, tspan")], styles = nodes.map(node => PAINTED.map(name => getComputedStyle(node)[name]));
  copy.remove();
  copy.querySelectorAll("a").forEach(link => { const group = drawn("g"); group.append(...link.childNodes); link.replaceWith(group); });
  nodes.forEach((node, i) => PAINTED.forEach((name, k) => node.setAttribute(name, styles[i][k])));
  copy.querySelectorAll("*").forEach(node => { for (const { name } of [...node.attributes]) if (/^(class|style|tabindex|data-.*|aria-.*)$/.test(name)) node.removeAttribute(name); });
  const file = drawn("svg", { viewBox: `${x} ${y - HEAD} ${width} ${height + HEAD}`, width, height: height + HEAD, "font-family": "Helvetica, Arial, sans-serif" }, ...copy.childNodes);
  return new XMLSerializer().serializeToString(file);
};
/* `shown` gives the element, which is in the page */
const saveButton = (shown, title) => make("button", { type: "button", class: "copy save", title: "save this figure for a paper; gelu-verify report RUN --format svg (or pdf) writes all of them", on: { click: () => {
  const link = make("a", { href: URL.createObjectURL(new Blob([svgFile(shown(), title())], { type: "image/svg+xml" })), download: `${title().split(":")[0].replace(/\W+/g, "-")}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
} } }, "save SVG");
const startSaving = () => document.querySelectorAll("#speed figure, #gallery figure").forEach(figure => {
  const caption = figure.querySelector("figcaption"), title = (caption.querySelector("b") || caption).textContent.trim();
  caption.append(" ", saveButton(() => figure.querySelector("svg"), () => title));
});

/* A plot as an element, as it is drawn on its canvas. `axis`: {from, to, ticks: [[at, label]], title}; `curves`: {label, colour, dash, heights, crosses} by bin; `rules`: [[at, label]] */
const plotSvg = ({ x, y, curves, rules }) => {
  const width = 760, height = 340, left = 60, right = 64, letter = 5.8, parts = [];
  const places = curves.reduce((rows, { label }) => { // of the key
    const wide = 46 + letter * label.length, last = rows.at(-1);
    if (last.end + wide > width && last.found.length) rows.push({ end: 8 + wide, found: [8] }); else { last.found.push(last.end); last.end += wide; }
    return rows;
  }, [{ end: 8, found: [] }]);
  const top = 30 + 15 * places.length, bottom = height - 34 + 15 * places.length;
  const xOf = at => left + (Math.min(Math.max(at, x.from), x.to) - x.from) / (x.to - x.from) * (width - left - right);
  const yOf = at => bottom - (Math.min(Math.max(at, y.from), y.to) - y.from) / (y.to - y.from) * (bottom - top);
  const text = (at, down, content, anchor = "start") => parts.push(drawn("text", { x: at.toFixed(1), y: down.toFixed(1), "text-anchor": anchor }, content));
  const path = (name, d, attributes = {}) => parts.push(drawn("path", { class: name, d, ...attributes }));
  for (const [at, label] of y.ticks) { path("grid", `M${left} ${yOf(at).toFixed(1)}H${width - right}`); text(left - 6, yOf(at) + 3.5, label, "end"); }
  for (const [at, label] of x.ticks) { path("grid", `M${xOf(at).toFixed(1)} ${top}V${bottom}`); text(xOf(at), bottom + 13, label, "middle"); }
  for (const [at, label] of rules) if (at > y.from && at < y.to) { path("rule", `M${left} ${yOf(at).toFixed(1)}H${width - right}`); text(width - right + 4, yOf(at) + 3.5, label); }
  text(2, top - 10, y.title);
  text(width - right, bottom + 28, x.title, "end");
  const named = places.flatMap(({ found }, row) => found.map(at => [at, 12 + 15 * row]));
  curves.forEach(({ label, colour, dash, heights, crosses }, i) => {
    const style = { style: `--k: ${colour}; stroke-dasharray: ${dash.join(" ") || "none"}` };
    let d = "", isOpen = false;
    for (let bin = Math.max(0, Math.floor(x.from)); bin < Math.min(heights.length, x.to); bin++) {
      if (heights[bin] === null) { isOpen = false; continue; }
      d += `${isOpen ? "L" : "M"}${xOf(bin).toFixed(1)} ${yOf(heights[bin]).toFixed(1)}H${xOf(bin + 1).toFixed(1)}`;
      isOpen = true;
    }
    path("curve", d, style);
    for (const at of crosses) if (at >= x.from && at <= x.to) path("mark cross", `M${xOf(at) - 3} ${top - 3}l6 6m0 -6l-6 6`, { style: `--k: ${colour}` });
    path("curve", `M${named[i][0]} ${named[i][1] - 3}h26`, style);
    text(named[i][0] + 31, named[i][1], label);
  });
  return drawn("svg", { viewBox: `0 0 ${width} ${height + 15 * places.length}`, class: "chart" }, ...parts);
};
