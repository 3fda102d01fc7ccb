/* Progressive enhancement: the page is complete without this. Replaces the static strips by one
   zoomable plot per function and dtype, and filters rows. Texts enter the page as text, never as markup. */
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("plot-data").textContent);
  const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3]];
  const COLOURS = 7;
  const MINUS = "−", SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const breakable = name => name.split(/(?<=[._])/).flatMap((part, i) => i ? [make("wbr"), part] : [part]);
  const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const power = k => k >= -4 && k <= 10 ? String(2 ** k) : "2" + [...String(k)].map(d => d === "-" ? "⁻" : SUPERSCRIPT[+d]).join("");
  const signed = text => text.replace("-", MINUS);
  const ulp = value => value >= 1e4 ? value.toExponential(1).replace("e+", "e") : value >= 10 ? value.toFixed(0) : value >= 0.01 ? value.toFixed(value < 1 ? 2 : 1) : value.toExponential(0);

  /* little-endian uint16 levels -> log2 |E|; null where there were no inputs */
  const decode = text => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Array.from({ length: bytes.length / 2 }, (_, i) => {
      const level = view.getUint16(2 * i, true);
      return level === 0 ? null : level / data.perOctave + data.floor;
    });
  };

  /* the same colour and dash for a target in every chart of a function: its place among all targets of that function */
  const places = new Map();
  for (const [id, figure] of Object.entries(data.figures)) {
    const name = id.slice(0, id.lastIndexOf("-"));
    if (!places.has(name)) places.set(name, new Map());
    const found = places.get(name);
    for (const s of figure.series) {
      if (!found.has(s.name)) found.set(s.name, found.size);
      s.place = found.get(s.name);
    }
  }

  const swatch = index => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    svg.setAttribute("viewBox", "0 0 28 10");
    svg.setAttribute("aria-hidden", "true");
    for (const [name, value] of Object.entries({ x1: 0, x2: 28, y1: 5, y2: 5, "stroke-width": 2, "stroke-dasharray": DASHES[index % DASHES.length].join(" ") })) line.setAttribute(name, value);
    line.style.stroke = `var(--c${index % COLOURS})`;
    svg.append(line);
    return svg;
  };

  /* shown at first: the plainest name of every framework, our best kernel, then others with another error, six in all */
  const firstShown = series => {
    const rank = s => s.family === data.own ? s.worst : s.name.length;
    const chosen = new Set();
    for (const family of new Set(series.map(s => s.family))) {
      chosen.add(series.filter(s => s.family === family).reduce((best, s) => rank(s) < rank(best) ? s : best));
    }
    for (const s of series) {
      if (chosen.size < 6 && ![...chosen].some(other => other.max === s.max)) chosen.add(s);
    }
    return series.map(s => chosen.has(s));
  };

  const filters = []; // of the plots that are built: each hides the targets that do not match
  const upgrade = figure => {
    const spec = data.figures[figure.id];
    const layout = data.layouts[spec.dtype];
    const strips = figure.querySelector(".strips");
    const bins = layout.edges.length - 1;
    const levels = spec.series.map(s => decode(s.levels));
    const shown = firstShown(spec.series);
    const [low, high] = spec.span;
    const xs = Array.from({ length: bins + 1 }, (_, i) => i);
    const drawn = levels.map(l => [...l.map(v => v === null ? null : Math.min(Math.max(v, low), high)), null]);
    drawn.forEach(d => { d[bins] = d[bins - 1]; });
    const tickAt = label => layout.ticks.find(t => t[1] === label)[0];

    const chart = make("div", { class: "chart", tabindex: "0", role: "group", "aria-label": `${figure.id.replace(/^p-/, "")}: error against x; arrow keys move the cursor, Escape shows all x` });
    const where = make("span", { class: "where", "aria-live": "polite" });
    const tools = make("div", { class: "tools" });
    const body = make("tbody");
    const key = make("div", { class: "key", tabindex: "0", role: "region", "aria-label": "targets" }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "target"), make("th", { scope: "col", class: "num" }, "max"), make("th", { scope: "col", class: "num" }, "max in this bin"))), body));
    const live = make("div", { class: "live" }, tools, chart, key);
    let plot = null;

    const rows = spec.series.map((s, i) => {
      const box = make("input", { type: "checkbox" });
      box.checked = shown[i];
      const here = make("td", { class: "num" }, "");
      const row = make("tr", {}, make("th", { scope: "row" }, make("label", {}, box, swatch(s.place), make("span", {}, ...breakable(s.name)))),
        make("td", { class: "num" }, `${s.bound === ">=" ? "≥" : s.bound} ${s.max}`), here);
      box.addEventListener("change", () => show(i, box.checked));
      row.addEventListener("mouseenter", () => { if (shown[i]) plot.setSeries(i + 1, { focus: true }); });
      row.addEventListener("mouseleave", () => plot.setSeries(null, { focus: false }));
      row.classList.toggle("off", !shown[i]);
      body.append(row);
      return { box, row, here };
    });
    const show = (i, on) => {
      shown[i] = on;
      rows[i].box.checked = on;
      rows[i].row.classList.toggle("off", !on);
      plot.setSeries(i + 1, { show: on && !rows[i].row.hidden });
    };
    filters.push(matches => rows.forEach(({ row }, i) => {
      row.hidden = !matches(spec.series[i].name);
      plot.setSeries(i + 1, { show: shown[i] && !row.hidden });
    }));

    const read = u => {
      const at = u.cursor.idx === null || u.cursor.idx === undefined ? null : Math.min(u.cursor.idx, bins - 1);
      where.textContent = at === null ? "" : `x from ${signed(layout.edges[at])} to ${signed(layout.edges[at + 1])}`;
      rows.forEach(({ here }, i) => {
        const level = at === null ? null : levels[i][at];
        const broken = at !== null && spec.series[i].nonfinite.some(([a, b]) => a <= at && at <= b);
        const text = at === null ? "" : level === null ? MINUS : level <= data.floor + 1 ? "0" : level >= data.ceiling ? `> 2${[...String(data.ceiling)].map(d => SUPERSCRIPT[+d]).join("")}` : ulp(2 ** level);
        here.textContent = broken ? `✕ ${level === null ? "" : text}` : text;
      });
    };

    const xTicks = (u, axis, from, to) => {
      const inside = layout.ticks.filter(t => t[0] >= from && t[0] <= to);
      const space = u.bbox.width / devicePixelRatio;
      const major = inside.filter(t => /^−?(64|8|1|0)$/.test(t[1]));
      if (inside.length >= 4) return (space < 60 * inside.length * 0.6 ? major : inside).map(t => t[0]);
      const step = Math.max(1, Math.ceil((to - from) / Math.max(2, Math.floor(space / 90))));
      const first = Math.ceil(from / step) * step, splits = [];
      for (let at = first; at <= to; at += step) splits.push(at);
      return splits;
    };
    const xLabel = at => (layout.ticks.find(t => t[0] === at) || [0, signed(layout.edges[at] ?? "")])[1];
    const yTicks = () => {
      const step = Math.max(1, Math.ceil((high - low) / 8)), splits = [];
      for (let k = low; k <= high; k++) if ((k + 1) % step === 0) splits.push(k);
      return splits;
    };

    const overlays = u => {
      const { ctx, bbox } = u, px = devicePixelRatio, y = Math.round(u.valToPos(-1, "y", true));
      ctx.save();
      ctx.strokeStyle = variable("--soft");
      ctx.lineWidth = px;
      ctx.setLineDash([3 * px, 3 * px]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.textAlign = "center";
      ctx.font = `${11 * px}px sans-serif`;
      spec.series.forEach((s, i) => {
        if (!shown[i] || rows[i].row.hidden) return;
        ctx.fillStyle = variable(`--c${s.place % COLOURS}`);
        for (const [a, b] of s.nonfinite) {
          const left = Math.max(u.valToPos(a, "x", true), bbox.left), right = Math.min(u.valToPos(b + 1, "x", true), bbox.left + bbox.width);
          if (right <= left) continue;
          ctx.fillRect(left, bbox.top + 10 * px, right - left, 2 * px);
          ctx.fillText("✕", (left + right) / 2, bbox.top + 9 * px);
        }
      });
      ctx.restore();
    };

    const build = () => {
      const axis = { stroke: variable("--soft"), grid: { stroke: variable("--faint"), width: 1 }, ticks: { stroke: variable("--rule"), width: 1, size: 4 }, font: `12px ${variable("--sans")}` };
      const title = { labelSize: 18, labelGap: 0, labelFont: axis.font };
      if (plot) plot.destroy();
      plot = new uPlot({
        width: Math.max(chart.clientWidth, 200), height: innerWidth < 576 ? 240 : 320, legend: { show: false },
        scales: { x: { time: false }, y: { range: [low, high + 0.25] } },
        cursor: { y: false, drag: { x: true, y: false }, points: { size: 6 }, focus: { prox: 16 }, dataIdx: (u, s, at, x) => Math.min(Math.floor(x), bins - 1) },
        focus: { alpha: 0.3 },
        axes: [{ ...axis, splits: xTicks, values: (u, splits) => splits.map(xLabel), size: 30, gap: 4, label: "x, in the order of the floats", ...title },
          { ...axis, splits: yTicks, values: (u, splits) => splits.map(power), size: 46, gap: 4, label: "largest |E|, ULP", ...title }],
        series: [{}, ...spec.series.map((s, i) => ({ label: s.name, show: shown[i] && !rows[i].row.hidden, stroke: variable(`--c${s.place % COLOURS}`), width: 1.5,
          dash: DASHES[s.place % DASHES.length], paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, spanGaps: false }))],
        hooks: { setCursor: [read], draw: [overlays] },
      }, [xs, ...drawn], chart);
    };

    const button = (label, action) => {
      const node = make("button", { type: "button" }, label);
      node.addEventListener("click", () => action(node));
      tools.append(node);
      return node;
    };
    const zoom = (from, to) => plot.setScale("x", { min: from, max: to });
    tools.append("x:");
    button("all", () => zoom(0, bins));
    button("below −1", () => zoom(tickAt("−64"), tickAt("−1")));
    button("−1 to 1", () => zoom(tickAt("−1"), tickAt("1")));
    button("above 1", () => zoom(tickAt("1"), tickAt("64")));
    tools.append(" targets:");
    button("all", () => rows.forEach((_, i) => show(i, true)));
    button("none", () => rows.forEach((_, i) => show(i, false)));
    tools.append(where);
    chart.addEventListener("keydown", event => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") zoom(0, bins);
      if (!move) return;
      event.preventDefault();
      const { min, max } = plot.scales.x;
      const at = plot.cursor.left >= 0 ? Math.floor(plot.posToVal(plot.cursor.left, "x")) : Math.floor((min + max) / 2);
      const next = Math.min(Math.max(at + move * (event.shiftKey ? 10 : 1), Math.ceil(min)), Math.floor(max) - 1);
      plot.setCursor({ left: plot.valToPos(next + 0.5, "x"), top: plot.bbox.height / devicePixelRatio / 2 });
    });

    const toggle = make("button", { type: "button", "aria-pressed": "false" }, "one strip per target");
    toggle.addEventListener("click", () => {
      live.hidden = !live.hidden;
      strips.hidden = !live.hidden;
      toggle.setAttribute("aria-pressed", String(live.hidden));
    });
    figure.querySelector("figcaption").append(" ", toggle);
    strips.hidden = true;
    strips.before(live);
    build();
    new ResizeObserver(() => { if (chart.clientWidth) plot.setSize({ width: chart.clientWidth, height: plot.height }); }).observe(chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
  };

  /* a plot is built when it comes near the window: a page may hold a hundred */
  const near = new IntersectionObserver(entries => entries.forEach(({ isIntersecting, target }) => {
    if (!isIntersecting) return;
    near.unobserve(target);
    upgrade(target);
    if (byTarget.value) filter();
  }), { rootMargin: "400px" });
  document.querySelectorAll("figure.plot").forEach(figure => near.observe(figure));

  /* filters */
  const panel = document.querySelector("nav .filter");
  const fine = ["correctly_rounded", "faithful", "accurate"];
  const [byFunction, byDtype, byTarget, failing] = ["f-function", "f-dtype", "f-target", "f-failing"].map(id => document.getElementById(id));
  const filter = () => {
    const wanted = byTarget.value.trim().toLowerCase(), dtype = byDtype.value;
    const matches = text => text.toLowerCase().includes(wanted);
    document.querySelectorAll("[data-fn]").forEach(node => {
      node.hidden = byFunction.value !== "" && node.dataset.fn !== byFunction.value;
      if (node.matches("details") && byFunction.value === node.dataset.fn) node.open = true;
    });
    document.querySelectorAll(".matrix [data-d], figure[data-d]").forEach(node => { node.hidden = dtype !== "" && node.dataset.d !== dtype; });
    document.querySelectorAll(".matrix tbody tr:not(.group)").forEach(row => {
      const cells = [...row.cells].slice(1).filter(cell => cell.dataset.v && !cell.hidden);
      row.hidden = !matches(row.cells[0].textContent) || cells.length === 0 || (failing.checked && cells.every(cell => fine.includes(cell.dataset.v)));
    });
    document.querySelectorAll(".tall .rows tbody tr:not(.group)").forEach(row => {
      row.hidden = !matches(row.cells[0].textContent) || (dtype !== "" && row.cells[1].textContent !== dtype) || (failing.checked && row.querySelector(".bad, .fails") === null);
    });
    document.querySelectorAll("details.m").forEach(node => {
      node.hidden = !matches(node.querySelector(".t").textContent) || (dtype !== "" && node.dataset.d !== dtype) || (failing.checked && fine.includes(node.dataset.v));
    });
    const shown = node => [...node.children].some(child => !child.hidden && !child.matches(".group, h3"));
    document.querySelectorAll("tbody:has(> .group), #repeat div[data-fn]").forEach(node => {
      node.hidden = !shown(node) || (byFunction.value !== "" && node.dataset.fn !== undefined && node.dataset.fn !== byFunction.value);
    });
    document.querySelectorAll("#verdicts .box").forEach(node => { node.hidden ||= [...node.querySelectorAll("tbody")].every(body => body.hidden); });
    document.querySelectorAll(".strip").forEach(node => { node.hidden = !matches(node.querySelector(".name").textContent); });
    filters.forEach(apply => apply(matches));
  };
  panel.hidden = false;
  for (const control of [byFunction, byDtype, byTarget, failing]) control.addEventListener("input", filter);

  /* a link to a measurement opens it, also in browsers that do not open <details> themselves */
  const reveal = () => {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    const closed = target ? target.closest("details:not([open])") : null;
    if (closed) { closed.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
