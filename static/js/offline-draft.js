// What somebody writes on the offline page: one text for each person, on this device. Pages tell whose browser this is.

const PERSON = "sage-person";
const DRAFT = "sage-offline-draft:";
const KEPT_DAYS = 14;

// The person who was signed in last; empty after they signed out, or if storage is off.
export function readPerson() {
  try {
    return localStorage.getItem(PERSON) ?? "";
  } catch {
    return "";
  }
}

// Note who is signed in, nobody if empty, and forget what others wrote.
export function notePerson(person) {
  try {
    if (person) localStorage.setItem(PERSON, person);
    else localStorage.removeItem(PERSON);
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(DRAFT) && (!person || key !== DRAFT + person)) localStorage.removeItem(key);
    }
  } catch {
    // Storage is off: nothing is stored.
  }
}

export function readDraft(person) {
  try {
    const { text, at } = JSON.parse(localStorage.getItem(DRAFT + person) ?? "{}");
    const isOld = !(Date.now() - at < KEPT_DAYS * 24 * 3600 * 1000);
    if (isOld) localStorage.removeItem(DRAFT + person);
    return isOld ? "" : text;
  } catch {
    return "";
  }
}

// Returns whether it is stored.
export function keepDraft(person, text) {
  try {
    // Another tab may have signed out meanwhile.
    if (!person || readPerson() !== person) return false;
    if (text.trim()) localStorage.setItem(DRAFT + person, JSON.stringify({ text, at: Date.now() }));
    else localStorage.removeItem(DRAFT + person);
    return true;
  } catch {
    return false;
  }
}
