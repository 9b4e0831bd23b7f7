// The service worker: shows the offline page where a page can't be reached, and notifications. It stores that page
// and its static files, and no page that is somebody's; shared words wait here for the page that shows them.

const { version, offline, files, isFinal, home, share, reminders, notification } = self.shell;
const PREFIX = "sage-shell-";
const STORE = PREFIX + version;
const SHARED = "sage-shared"; // as in share.js
const stored = new Set(files.map((file) => new URL(file, location).href));

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (isShared(request)) event.respondWith(takeShared(request));
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(openPage(event));
  else if (stored.has(request.url)) event.respondWith(readFile(request));
});
self.addEventListener("push", (event) => event.waitUntil(notify(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clients.openWindow(event.notification.data.page));
});

async function install() {
  const requests = [new Request(offline, { cache: "reload" }), ...files.map((file) => new Request(file))];
  const responses = await Promise.all(requests.map(fetchShared));
  const store = await caches.open(STORE);
  await Promise.all(requests.map((request, place) => store.put(request.url, responses[place])));
  // No page depends on this worker, so it needn't wait until the old one's pages are closed.
  await self.skipWaiting();
}

async function fetchShared(request) {
  const response = await fetch(request);
  const isPrivate = /no-store|private/.test(response.headers.get("Cache-Control") ?? "");
  if (!response.ok || response.redirected || isPrivate) throw new Error(`${request.url} isn't part of the shell`);
  return response;
}

async function takeOver() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== STORE) await caches.delete(name);
  }
  // The browser requests a page while it starts this worker.
  await self.registration.navigationPreload?.enable();
  await clients.claim();
}

async function openPage({ request, preloadResponse }) {
  try {
    return (await preloadResponse) ?? (await fetch(request));
  } catch (error) {
    const page = await caches.match(offline, { cacheName: STORE, ignoreVary: true });
    if (!page) throw error;
    return page;
  }
}

function isShared({ method, mode, url }) {
  return method === "POST" && mode === "navigate" && new URL(url).pathname === share;
}

// The share menu's POST doesn't reach the server: the page shows its words first.
async function takeShared(request) {
  const given = await request.formData();
  const parts = ["title", "text", "url"].map((name) => String(given.get(name) ?? "").trim());
  const words = [...new Set(parts.filter(Boolean))].join("\n");
  const headers = { "Content-Type": "text/plain; charset=utf-8", "X-Shared-At": String(Date.now()) };
  const store = await caches.open(SHARED);
  await store.put(share, new Response(words, { headers }));
  return Response.redirect(share, 303);
}

async function readFile(request) {
  const readStored = () => caches.match(request, { cacheName: STORE, ignoreVary: true });
  if (isFinal) return (await readStored()) ?? fetch(request);
  // Names without a hash: a file may have changed.
  return fetch(request).catch(readStored);
}

async function notify(data) {
  const { kind, name = kind, title, text } = { ...notification, ...read(data) };
  await self.registration.showNotification(title, {
    body: text,
    icon: notification.icon,
    badge: notification.badge,
    // A later one of a name replaces the earlier.
    tag: `sage-${name}`,
    data: { page: reminders[kind] ?? home },
  });
}

function read(data) {
  try {
    return data.json();
  } catch {
    return {};
  }
}
