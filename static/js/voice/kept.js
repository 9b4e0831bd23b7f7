// Recordings that aren't words yet, in IndexedDB: each belongs to a person and to the field that it was spoken into. They
// go when the words have come, when they are discarded, at sign-out and for another account, and after fourteen days.

const DATABASE = "sage-recordings";
const RECORDINGS = "recordings";
const PIECES = "pieces";
const KEPT_MS = 14 * 24 * 3600 * 1000;
const TAKEN = "sage-voice-taken";

let opened = null;
let isErased = false; // somebody has signed out, in this tab or another: nothing is stored here any more

// A recording is {id, person, place, at, isWhole}. Without storage it lives as long as its page.
export function keep(recording) {
  return inStores("readwrite", ({ recordings }) => recordings.put(recording));
}

// Not without its recording, which another tab may have deleted: nothing would find the piece again.
export function keepPiece(id, number, samples) {
  return inStores("readwrite", ({ recordings, pieces }) => {
    const found = recordings.getKey(id);
    found.onsuccess = () => found.result && pieces.put(samples, [id, number]);
    return found;
  });
}

export function readPieces(id) {
  return inStores("readonly", ({ pieces }) => pieces.getAll(rangeOf(id)));
}

export function forget(id) {
  return inStores("readwrite", ({ recordings, pieces }) => {
    recordings.delete(id);
    pieces.delete(rangeOf(id));
  });
}

// The recordings of a place, oldest first. Those of others, and old ones, are deleted.
export async function readKept(person, place) {
  if (!person || !(await isThere())) return [];
  const all = (await inStores("readonly", ({ recordings }) => recordings.getAll())) ?? [];
  const isOver = ({ id, person: owner, at }) => owner !== person || !(Date.now() - at < KEPT_MS) || wasTaken(id);
  for (const { id } of all.filter(isOver)) await forget(id);
  const ours = all.filter((each) => !isOver(each) && each.place === place);
  return ours.sort((one, other) => one.at - other.at);
}

// The words are in the field, and in its draft: a reload just now doesn't put them there again.
export function noteTaken(id) {
  try {
    sessionStorage.setItem(TAKEN, id);
  } catch {
    // Storage is off.
  }
}

function wasTaken(id) {
  try {
    return sessionStorage.getItem(TAKEN) === id;
  } catch {
    return false;
  }
}

// One tab at a time works on a recording. Returns what `work` returns; null where another tab works on it.
export function alone(id, work) {
  if (!navigator.locks) return work();
  return navigator.locks.request(`sage-recording-${id}`, { ifAvailable: true }, (lock) => (lock ? work() : null));
}

function rangeOf(id) {
  return IDBKeyRange.bound([id, 0], [id, Infinity]);
}

// Opening a database makes it, which nobody needs who never records.
async function isThere() {
  try {
    const known = await indexedDB.databases?.();
    return !known || known.some(({ name }) => name === DATABASE);
  } catch {
    return false;
  }
}

// Returns the result of the request that `work` returns, undefined where storage is off.
async function inStores(mode, work) {
  if (isErased) return undefined;
  try {
    opened ??= open();
    const transaction = (await opened).transaction([RECORDINGS, PIECES], mode, { durability: "relaxed" });
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const request = work({
      recordings: transaction.objectStore(RECORDINGS),
      pieces: transaction.objectStore(PIECES),
    });
    await ended;
    return request?.result;
  } catch {
    opened = null;
    return undefined;
  }
}

function open() {
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(RECORDINGS, { keyPath: "id" });
    request.result.createObjectStore(PIECES);
  };
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      request.result.onversionchange = ({ newVersion }) => {
        isErased = newVersion === null;
        opened = null;
        request.result.close();
      };
      resolve(request.result);
    };
  });
}
