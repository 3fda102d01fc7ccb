// What the server has: functions, dtypes, plans, and whether it is a folder of static files.
import { byId } from "./dom.js";
import { getJson } from "./http.js";

export const catalogue = { functions: [], dtypes: [], plans: [], static: false };

export async function load() {
  const here = byId("catalogue"); // the server writes it into the page, so that nothing else is asked for at the start
  return Object.assign(catalogue, here ? JSON.parse(here.textContent) : await getJson("v1/functions.json"));
}
