(() => {
"use strict";
/* A bar opens what it leads to below its row; without scripts it is a link to the same further down the page. */
const homes = new Map();
let opener = null;

const close = () => {
  if (!opener) return;
  const row = document.querySelector("tr.opened"), panel = row.querySelector(".panel"), home = homes.get(panel);
  panel.querySelector(".close").remove();
  home.before(panel);
  home.remove();
  row.remove();
  opener.removeAttribute("aria-expanded");
  opener = null;
};

const open = bar => {
  const panel = document.getElementById(bar.hash.slice(1));
  if (opener === bar) return close();
  close();
  if (!panel?.matches(".panel, .path")) return false;
  const shown = panel.matches(".panel") ? panel : panel.querySelector("details > :not(summary)").parentNode;
  const row = document.createElement("tr"), cell = document.createElement("td"), button = document.createElement("button");
  row.className = "opened";
  cell.colSpan = bar.closest("table").querySelectorAll("thead tr > *").length;
  button.className = "close";
  button.type = "button";
  button.textContent = "close";
  button.addEventListener("click", () => { const last = opener; close(); last.focus(); });
  const home = document.createElement("span");
  home.hidden = true;
  shown.before(home);
  shown.classList.add("panel");
  homes.set(shown, home);
  shown.prepend(button);
  if (shown.matches("details")) shown.open = true;
  cell.append(shown);
  row.append(cell);
  bar.closest("tr").after(row);
  bar.setAttribute("aria-expanded", "true");
  opener = bar;
};

const bars = row => [...(row?.querySelectorAll(".bar") ?? [])];

/* The row above or below that has bars and is shown. */
const beside = (row, step) => {
  const rows = [...row.closest("table").querySelectorAll("tr")].filter(each => bars(each).length && each.checkVisibility());
  return rows[rows.indexOf(row) + step];
};

const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

document.addEventListener("click", event => {
  const bar = event.target.closest?.(".bar");
  if (bar && !event.ctrlKey && !event.metaKey && !event.shiftKey && open(bar) !== false) event.preventDefault();
});
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && opener) {
    const last = opener;
    close();
    last.focus();
  }
  const bar = event.target.closest?.(".bar"), move = moves[event.key];
  if (!bar || !move || event.altKey || event.ctrlKey || event.metaKey) return;
  const row = bar.closest("tr"), middle = bar.getBoundingClientRect().left + 1;
  const there = move[1] ? bars(beside(row, move[1])).filter(each => each.getBoundingClientRect().left <= middle).at(-1) ?? bars(beside(row, move[1]))[0]
    : bars(row)[bars(row).indexOf(bar) + move[0]];
  there?.focus();
  event.preventDefault();
});

/* What an address names is opened, whatever it is folded in. */
const reveal = () => {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!node) return;
  for (let each = node; each; each = each.parentElement) if (each.matches("details")) each.open = true;
  const inside = node.querySelector(":scope > details");
  if (inside) inside.open = true;
  node.scrollIntoView();
};
addEventListener("hashchange", reveal);
for (const box of document.querySelectorAll(".timeline")) box.scrollLeft = box.scrollWidth;  // the newest
for (const more of document.querySelectorAll("details.more")) {
  more.addEventListener("toggle", () => { for (const box of more.querySelectorAll(".timeline")) box.scrollLeft = box.scrollWidth; }, { once: true });
}
reveal();
document.documentElement.dataset.ready = "";
})();
