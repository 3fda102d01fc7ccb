// Shows the view that the URL names: #/view?query.
import { load } from "./catalogue.js";
import { byId } from "./dom.js";
import * as lookup from "./lookup.js";
import * as runs from "./runs.js";
import * as verify from "./verify.js";

const views = { lookup, verify, runs, api: { start: () => {}, open: () => {} } };
let opened = "";

function route() {
  const [, name, query] = /^#\/(\w+)\??(.*)$/.exec(location.hash) || [null, "lookup", ""];
  const view = name in views ? name : "lookup";
  for (const each of Object.keys(views)) byId(each).hidden = each !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `gelu-verify: ${byId(`${view}-title`).textContent}`;
  if (opened && opened !== view) byId("main").focus({ preventScroll: true });
  opened = view;
  views[view].open(new URLSearchParams(query));
}

async function start() {
  for (const place of document.querySelectorAll(".origin")) place.textContent = location.href.replace(/[#?].*$/, "").replace(/\/(index\.html)?$/, "");
  try {
    const catalogue = await load();
    byId("version").textContent = `gelu-verify ${catalogue.version}`;
  } catch (error) {
    byId("lookup-problem").hidden = false;
    byId("lookup-problem").textContent = error.message;
    return;
  }
  for (const view of Object.values(views)) view.start();
  window.addEventListener("hashchange", route);
  route();
}

start();
