// Requests to the server, or to a folder of static files that was exported from one: paths are relative to the page.

// What went wrong, in the words of the server.
export async function problemOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `the server answered ${response.status}`;
  }
}

const TRIES = 6; // while the server is busy
const BUSY = [429, 503];

// A response, also an error; while the server is busy it is asked again after the time it names, and the page says so.
export async function ask(path, options = {}) {
  for (let tries = 1; ; tries += 1) {
    let response;
    try {
      response = await fetch(path, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new Error("the server cannot be reached");
    }
    if (!BUSY.includes(response.status) || tries === TRIES) return response;
    await wait(Number(response.headers.get("retry-after") || 1), options.signal);
  }
}

async function wait(seconds, signal) {
  const place = document.getElementById("busy");
  for (let left = seconds; left > 0; left -= 1) {
    place.textContent = `The server is busy: asking again in ${left} s.`;
    await new Promise((done) => setTimeout(done, 1000));
    signal?.throwIfAborted();
  }
  place.textContent = "";
}

export async function get(path) {
  const response = await ask(path, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(await problemOf(response));
  return response;
}

export const getJson = async (path) => (await get(path)).json();
