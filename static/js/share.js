// Fills the form with what was shared from another app, which the service worker has kept for this page, once.

import { setText } from "./composer.js";

// As in service-worker.js.
const SHARED = "sage-shared";
const SHARED_AT = "X-Shared-At";
const SHARED_MS = 10 * 60 * 1000;

const field = document.getElementById("shared");

async function fill() {
  if (!("caches" in window) || field.value) return;
  const store = await caches.open(SHARED);
  const kept = await store.match(location.pathname);
  if (!kept) return;
  await store.delete(location.pathname);
  const age = Date.now() - Number(kept.headers.get(SHARED_AT));
  // What was shared earlier may be somebody else's by now.
  if (age >= 0 && age < SHARED_MS && !field.value) setText(field, await kept.text());
}

fill();
