// Sends a recording and waits for its words. The server takes the same sound with the same id once, so sending it again after
// a lost line never makes a second one. Another sound under a known id, such as one whose end this device couldn't keep, is
// another recording there, with an id of its own.

const FIRST_WAIT_MS = 400;
const MOST_WAIT_MS = 3000;
const ASK_MS = 2000;
const REFUSED = [422, 429];
const LINE_LOST = 0;
const MISSING = 404;

// `status` is 0 where the server wasn't reached; `sentence` is what the server says.
export class NotSent extends Error {
  constructor(status, sentence = "") {
    super(sentence || String(status));
    Object.assign(this, { status, sentence });
  }
}

// Returns why the server takes no recording now. Empty if it takes one, or can't be reached: then it waits on this device.
export async function refusalOf({ address }) {
  try {
    await ask(address, { signal: AbortSignal.timeout(ASK_MS) });
  } catch ({ status, sentence }) {
    if (REFUSED.includes(status)) return sentence;
  }
  return "";
}

// Returns the words. Raises `NotSent`, and what `signal` aborts. `onTaken` is told the id that the recording has on the server,
// which keeps it until that id is dropped: after a lost line it has the words. `onWait` is told whether no worker has begun for long.
export async function wordsOf(id, sound, { address, token, signal, onTaken, onWait }) {
  const body = new FormData();
  body.set("csrfmiddlewaretoken", token);
  body.set("id", id);
  body.set("audio", sound, "recording.wav");
  let said = await ask(address, { method: "POST", body, signal });
  const own = said.id;
  onTaken(own);
  for (let wait = FIRST_WAIT_MS; said.state === "waiting"; wait = Math.min(MOST_WAIT_MS, wait * 1.5)) {
    onWait(Boolean(said.is_late));
    await pause(wait, signal);
    said = await ask(`${address}${own}/`, { signal });
  }
  if (said.state !== "done") throw new NotSent(422, said.error);
  return said.text;
}

// The server needs nothing of it any more. If that doesn't arrive, the server erases it within a day.
export function drop(id, { address, token }) {
  const body = new URLSearchParams({ csrfmiddlewaretoken: token });
  return fetch(`${address}${id}/`, { method: "POST", body, keepalive: true }).catch(() => {});
}

// Whether the server answers, whatever it says.
export function isReached(id, { address }) {
  return fetch(`${address}${id}/`, { method: "HEAD" }).then(() => true, () => false);
}

async function ask(address, options) {
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "application/json" }, redirect: "error", ...options });
  } catch (error) {
    if (options.signal.aborted) throw error;
    throw new NotSent(LINE_LOST);
  }
  const said = await response.json().catch(() => ({}));
  if (response.ok && said.state) return said;
  throw new NotSent(response.status === MISSING ? LINE_LOST : response.status, said.error);
}

export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
