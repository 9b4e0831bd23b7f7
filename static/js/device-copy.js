// A copy of a person's newest days and conversation, for reading offline: in IndexedDB, encrypted under a key that no
// script can export. It is erased for everybody else, and where the server wasn't reached for seven days.

import { readPerson } from "./offline-draft.js";

const DATABASE = "sage-device-copy";
// What is encrypted, with its key, and when it was made and its person last seen: that changes with every page.
const COPIES = "copies";
const SEEN = "seen";
const ADDRESS = "/offline/copy/";
const FRESH_MS = 10 * 60 * 1000;
const FRESH_LEAVING_MS = 60 * 1000;
const KEPT_MS = 7 * 24 * 3600 * 1000;
const CLOCK_CHANGE_MS = 24 * 3600 * 1000;
// After a failure, pages of the same tab don't try again for `FRESH_MS`. Whose copy this browser keeps.
const FAILED = "sage-copy-failed";
const KEPT_OF = "sage-copy-of";
const SIGNED_OUT = 401;
const NOT_KEPT = 204;

// Keys can be made on secure pages only, and pages are shown offline by the service worker.
export function canKeepCopy() {
  return Boolean(globalThis.indexedDB && globalThis.crypto?.subtle && navigator.serviceWorker);
}

// Note that this browser keeps the person's copy, which a page knows from the server.
export function noteKept(person) {
  try {
    localStorage.setItem(KEPT_OF, person);
  } catch {
    // Storage is off: nothing is stored.
  }
}

// Another tab may have signed out, signed somebody else in or erased the copy meanwhile.
export function isKept(person) {
  try {
    return Boolean(person) && readPerson() === person && localStorage.getItem(KEPT_OF) === person;
  } catch {
    return false;
  }
}

// Fetch the person's copy unless it is fresh: after the server has sent a page, or when the person is leaving one, where
// they may have written since; always where they `asked`. Returns how it ended: `kept`, `older` (there is one that
// couldn't be renewed), `unfetched` or `unstored`.
export async function renewCopy(person, { isLeaving = false, asked = false } = {}) {
  if (!canKeepCopy() || !isKept(person)) return "unstored";
  let before = "";
  try {
    before = await noteSeen(person, isLeaving);
  } catch {
    // There is none yet.
  }
  let ended = before ? "older" : "unfetched";
  if (!asked && before === "fresh") return "kept";
  if (!asked && failedLately()) return ended;
  try {
    const fetched = await fetchCopy();
    ended = before ? "older" : "unstored";
    await storeCopy(person, fetched);
    ended = "kept";
  } catch {
    // Nothing to say but how it ended.
  }
  noteFailure(ended !== "kept" && isKept(person));
  return ended;
}

function failedLately() {
  try {
    const since = Date.now() - Number(sessionStorage.getItem(FAILED) ?? 0);
    return since >= 0 && since < FRESH_MS;
  } catch {
    return false;
  }
}

function noteFailure(hasFailed) {
  try {
    if (hasFailed) sessionStorage.setItem(FAILED, String(Date.now()));
    else sessionStorage.removeItem(FAILED);
  } catch {
    // Storage is off.
  }
}

// Returns the copy's HTML, or why it can't be shown: `old` or `broken`. Without a copy it is neither.
export async function readCopy(person) {
  if (!isKept(person)) return {};
  try {
    const [copy, seen] = await inStores("readonly", ({ copies, seen: times }) =>
      Promise.all([done(copies.get(person)), done(times.get(person))]),
    );
    if (!copy || !seen) return {};
    const since = Date.now() - seen.at;
    if (!(since <= KEPT_MS && since >= -CLOCK_CHANGE_MS)) {
      await eraseCopies();
      return { fault: "old" };
    }
    const bytes = await crypto.subtle.decrypt(cipher(person, copy.iv), copy.key, copy.data);
    return { html: new TextDecoder().decode(bytes) };
  } catch (error) {
    return isMissing(error) ? {} : { fault: "broken" };
  }
}

export async function eraseCopies() {
  try {
    // First, so that nothing that was fetched before is stored afterwards.
    localStorage.removeItem(KEPT_OF);
  } catch {
    // Storage is off.
  }
  try {
    // Not where there is none: deleting would make it first. Where that isn't known, it is deleted.
    const known = await indexedDB.databases?.().catch(() => null);
    if (known && !known.some(({ name }) => name === DATABASE)) return;
    await new Promise((resolve) => {
      const request = indexedDB.deleteDatabase(DATABASE);
      // Blocked: another page is about to close it, and then it goes.
      request.onsuccess = request.onerror = request.onblocked = resolve;
    });
  } catch {
    // Storage is off: nothing is stored.
  }
}

// Note that the server knew the person just now; who is leaving may be offline. Returns whether there is a copy: `fresh`,
// `older` or none. Others' are erased.
function noteSeen(person, isLeaving) {
  const now = Date.now();
  return inStores("readwrite", async ({ copies, seen }) => {
    const rows = await done(seen.getAll());
    const own = rows.find((row) => row.person === person);
    if (rows.length > 1 || !own) {
      copies.clear();
      seen.clear();
      return "";
    }
    if (!isLeaving) seen.put({ ...own, at: now });
    const isFresh = now >= own.madeAt && now - own.madeAt < (isLeaving ? FRESH_LEAVING_MS : FRESH_MS);
    return isFresh ? "fresh" : "older";
  });
}

async function fetchCopy() {
  const response = await fetch(ADDRESS, { headers: { Accept: "application/json" }, redirect: "error" });
  if (response.status === SIGNED_OUT || response.status === NOT_KEPT) await eraseCopies();
  if (response.status !== 200) throw new Error(String(response.status));
  return response.json();
}

async function storeCopy(person, fetched) {
  if (fetched.person !== person) throw new Error("the copy is somebody else's");
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = await crypto.subtle.encrypt(cipher(person, iv), key, new TextEncoder().encode(fetched.html));
  assertKept(person); // before a database is made
  const now = Date.now();
  const work = ({ copies, seen }) => {
    assertKept(person);
    copies.clear();
    seen.clear();
    copies.put({ person, key, iv, data });
    seen.put({ person, at: now, madeAt: now });
  };
  await inStores("readwrite", work, { isNew: true });
}

function assertKept(person) {
  if (!isKept(person)) throw new Error("the copy was erased meanwhile");
}

function cipher(person, iv) {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(person) };
}

// Run `work` in one transaction with both stores; return what it returns once that is stored.
async function inStores(mode, work, { isNew = false } = {}) {
  const database = await open(isNew);
  try {
    const transaction = database.transaction([COPIES, SEEN], mode);
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    ended.catch(() => {});
    const result = await work({ copies: transaction.objectStore(COPIES), seen: transaction.objectStore(SEEN) });
    await ended;
    return result;
  } finally {
    database.close();
  }
}

// Unless `isNew`, a database that isn't there isn't made.
function open(isNew) {
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () => {
    if (isNew) for (const name of [COPIES, SEEN]) request.result.createObjectStore(name, { keyPath: "person" });
    else request.transaction.abort();
  };
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
  });
}

function isMissing(error) {
  return error?.name === "AbortError";
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
