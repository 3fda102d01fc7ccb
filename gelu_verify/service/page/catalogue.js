// What the server has: functions, dtypes, plans, and whether it is a folder of static files.
import { byId } from "./dom.js";
import { getJson } from "./http.js";

export const catalogue = { functions: [], dtypes: [], plans: [], static: false };

export async function load() {
  const here = byId("catalogue"); // the server writes it into the page, so that nothing else is asked for at the start
  return Object.assign(catalogue, here ? JSON.parse(here.textContent) : await getJson("v1/functions.json"));
}

// A grade as a page shows it (docs/grades.md), with the mark of what it stands on; a run of an earlier version has none.
export const gradeText = (grade, bound) => (grade ? `${catalogue.marks[bound] ?? ""} ${catalogue.grades[grade]}`.trim() : "not graded");
