// Requests to the server, or to a folder of static files that was exported from one: paths are relative to the page.

// What went wrong, in the words of the server.
export async function problemOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `the server answered ${response.status}`;
  }
}

export async function get(path) {
  let response;
  try {
    response = await fetch(path, { headers: { Accept: "application/json" } });
  } catch {
    throw new Error("the server cannot be reached");
  }
  if (!response.ok) throw new Error(await problemOf(response));
  return response;
}

export const getJson = async (path) => (await get(path)).json();
