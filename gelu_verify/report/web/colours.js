/* One colour and dash for a target, everywhere on the page: its place among all targets. */
const COLOURS = 9, DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [14, 3], [8, 2.5, 2, 2.5, 2, 2.5], [3, 6]]; // of show/chart.py
const colourOf = place => `var(--c${place % COLOURS})`;
const strokeOf = place => variable(`--c${place % COLOURS}`);
const dashOf = place => DASHES[place % DASHES.length]; // neighbours differ without colour
const swatch = place => {
  const line = drawn("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.2, "stroke-dasharray": dashOf(place).join(" ") });
  line.style.stroke = colourOf(place);
  return drawn("svg", { viewBox: "0 0 26 10", "aria-hidden": "true", class: "swatch" }, line);
};
