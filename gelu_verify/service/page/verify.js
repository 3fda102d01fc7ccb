// Verify: drop a file of outputs, see the grade.
import { upload } from "./api.js";
import { catalogue, gradeText } from "./catalogue.js";
import { byId, copy, element, options, show, table, ulpText } from "./dom.js";
import { formatOf } from "./formats.js";
import { getJson, problemOf } from "./http.js";
import * as parameters from "./parameters.js";
import { languages, program } from "./programs.js";

const fields = ["function", "dtype", "plan", "name"];

export function start() {
  options(byId("verify-function"), catalogue.functions.map((each) => each.name), "gelu");
  options(byId("verify-dtype"), catalogue.dtypes.map((each) => each.name), "float32");
  options(byId("verify-plan"), catalogue.plans, "default");
  byId("verify-function").addEventListener("change", () => parameters.fill(byId("verify-parameters"), byId("verify-function").value, {}, describe));
  parameters.fill(byId("verify-parameters"), byId("verify-function").value, {}, describe);
  for (const name of fields) byId(`verify-${name}`).addEventListener("change", describe);
  options(byId("language"), languages, "C");
  byId("language").addEventListener("change", showProgram);
  for (const name of ["program", "commands"]) byId(`copy-${name}`).addEventListener("click", () => copy(byId(name).textContent, byId("copied"), "Copied.", "The browser does not permit it: select the text."));
  for (const id of ["verify-form", "token-form", "language-form"]) byId(id).addEventListener("submit", (event) => event.preventDefault());
  byId("file").addEventListener("change", () => byId("file").files.length && send(byId("file").files[0]));
  const drop = byId("drop");
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
  if (catalogue.static) show(byId("verify-problem"), "This is a static copy: verification needs a server (gelu-verify serve).");
}

export function open(query) {
  const { base, values, unknown } = parameters.asked(query, byId("verify-function").value, fields);
  for (const name of fields) {
    const value = name === "function" ? base : query.get(name);
    if (value === null) continue;
    const field = byId(`verify-${name}`);
    if (field.options && ![...field.options].some((each) => each.value === value)) unknown.push(`the ${name} “${value}”, which is not known here`);
    else field.value = value;
  }
  parameters.fill(byId("verify-parameters"), byId("verify-function").value, values, describe);
  if (unknown.length) show(byId("verify-problem"), `The link has ${unknown.join(", and ")}.`);
  else if (!catalogue.static) show(byId("verify-problem"), "");
  describe();
}

// A program in the chosen language, and the commands that run and judge it.
function showProgram() {
  const { function: fn, ...values } = chosen();
  const dtype = byId("verify-dtype").value;
  let made;
  try {
    made = program(byId("language").value, parameters.nameOf(fn, values), dtype);
  } catch (error) { // of a parameter that is not a number
    made = { file: "", command: "", text: error.message };
  }
  const { file, command, text } = made;
  const origin = location.href.replace(/[#?].*$/, "").replace(/\/(index\.html)?$/, "");
  byId("program").textContent = text;
  byId("program-file").textContent = file;
  byId("commands").textContent = isGraded() ? `curl -fsS -o x.bin '${origin}/${inputsPath()}' &&
${command} &&
curl -sS -o verdict.json '${origin}/v1/verify?${new URLSearchParams(form())}' -H 'Content-Type: application/octet-stream' -H 'Prefer: wait=20' --data-binary @y.bin &&
(grep -o '"headline":"[^"]*"' verdict.json || cat verdict.json)
` : `for i in $(seq 0 255); do printf '%b' "\\0$(printf '%03o' $i)"; done > x.bin &&
${command} &&
curl -fsS -o want.bin '${origin}/v1/tables/${fn}/${dtype}.bin?${new URLSearchParams(values)}' &&
cmp -s y.bin want.bin && echo 'all 256 results are correctly rounded'
cmp -l y.bin want.bin | while read n y want; do printf 'x 0x%02x: 0x%02x, correct 0x%02x\\n' $((n - 1)) 0$y 0$want; done
`;
}

// Uploads are judged in dtypes of 16 bits and more.
const isGraded = () => formatOf(byId("verify-dtype").value).width > 8;

// The function and its parameters, as queries have them.
const chosen = () => ({ function: byId("verify-function").value, ...parameters.written(byId("verify-parameters")) });

// All fields of the form.
const form = () => ({ ...Object.fromEntries(fields.map((name) => [name, byId(`verify-${name}`).value])), ...chosen() });

const inputsPath = () => `v1/inputs/${byId("verify-plan").value}/${byId("verify-dtype").value}.bin?${new URLSearchParams(chosen())}`;

async function describe() {
  showProgram();
  for (const place of document.querySelectorAll("#verify .graded")) place.hidden = !isGraded();
  byId("ungraded").hidden = isGraded();
  const path = inputsPath();
  const link = byId("inputs-link");
  link.href = path;
  const name = Object.entries(chosen()).map(([key, text]) => (key === "function" ? text : `${key}=${text.replace("/", "_")}`)).join("_");
  link.download = `${byId("verify-plan").value}-${name}-${byId("verify-dtype").value}.bin`;
  byId("inputs-facts").textContent = "";
  if (catalogue.static || !isGraded()) return;
  if (byId("verify-plan").value === "exhaustive" && !["float16", "bfloat16"].includes(byId("verify-dtype").value)) {
    link.removeAttribute("href");
    byId("inputs-facts").textContent = "too many inputs for this page: install gelu-verify";
    return;
  }
  try {
    const response = await fetch(path, { method: "HEAD" });
    if (path !== inputsPath()) return;
    if (!response.ok) throw new Error(await problemOf(await fetch(path)));
    const count = Number(response.headers.get("x-inputs-count"));
    const { width } = formatOf(byId("verify-dtype").value);
    byId("inputs-facts").textContent = `${count.toLocaleString("en")} inputs, ${((count * width) / 8).toLocaleString("en")} bytes`;
  } catch (error) {
    link.removeAttribute("href");
    byId("inputs-facts").textContent = error instanceof TypeError ? "the server cannot be reached" : error.message;
  }
}

async function send(file) {
  show(byId("verify-problem"), "");
  byId("outcome").replaceChildren();
  byId("verify-progress").hidden = false;
  byId("bar").value = 0;
  try {
    let job = await upload(new URLSearchParams(form()), file, byId("token").value);
    while (job.state === "running") {
      byId("bar").value = job.progress.done / job.progress.total;
      await new Promise((done) => setTimeout(done, 150));
      job = await getJson(job.links.self.slice(1));
    }
    byId("outcome").replaceChildren(view(job));
  } catch (error) {
    show(byId("verify-problem"), error.message);
  }
  byId("verify-progress").hidden = true;
  byId("file").value = "";
}

function view(job) {
  const { result } = job;
  const facts = element("dl", { class: "facts" }, ...[
    ["largest error, ULP", ulpText(result.max_ulp, result.bound)],
    ["correctly rounded", percent(result.correctly_rounded)], ["faithful", percent(result.faithful)],
    ["inputs", result.n.toLocaleString("en")],
    ["worst x", result.witness ? result.witness.x_bits : "–"],
    ["got, want", result.witness ? `${result.witness.got_bits}, ${result.witness.want_bits}` : "–"],
  ].map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const rows = Object.entries(result.checks).sort((a, b) => (b[1] === "fail") - (a[1] === "fail")).map(([name, outcome]) => element("tr", {}, element("th", { scope: "row", class: "mono" }, name),
    element("td", { class: outcome === "fail" ? "bad" : outcome === "pass" ? "ok" : "" }, outcome),
    element("td", {}, result.findings[name]?.detail || ""), element("td", { class: "mono" }, result.findings[name]?.x_bits || "")));
  const where = result.witness ? element("a", { href: `#/lookup?${new URLSearchParams({ x: result.witness.x_bits, function: result.function, dtype: result.dtype })}` }, "Look up the worst input") : null;
  return element("div", {},
    element("div", { class: `outcome ${job.grade}` }, element("h2", {}, gradeText(job.grade, result.grade_bound)), element("p", {}, job.headline), facts),
    element("p", {}, element("a", { href: job.links.report.slice(1) }, "Full report"), " ", where, job.stored ? " Stored." : " Not stored: it is deleted after 15 minutes."),
    table(["check", "outcome", "finding", "x"], rows, "checks"));
}

const percent = (share) => (share === null ? "–" : share === 1 ? "100 %" : `${(Math.floor(share * 1e5) / 1e3).toFixed(3)} %`);
