// What the server has: functions, dtypes, plans, and whether it is a folder of static files.
import { getJson } from "./http.js";

export let catalogue = { functions: [], dtypes: [], plans: [], static: false };

export async function load() {
  catalogue = await getJson("v1/functions.json");
  return catalogue;
}
