// This browser's address at its push service, to which the server sends notifications. It stays when a session
// expires, but not when its person signs out, or somebody else signs in.

const OWNER = "sage-device-of";
const NOBODY = "nobody";

export async function readDevice() {
  const registration = await navigator.serviceWorker?.getRegistration();
  return (await registration?.pushManager?.getSubscription()) ?? null;
}

export async function keepDevice(address, key, token) {
  noteOwner(document.body.dataset.user);
  const { pushManager } = await navigator.serviceWorker.ready;
  const known = await pushManager.getSubscription();
  // One that was made for another key of the server reaches nobody.
  if (known && !isFor(known, key)) await known.unsubscribe();
  const device = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { p256dh, auth } = device.toJSON().keys;
  try {
    await send(address, { do: "add", endpoint: device.endpoint, p256dh, auth }, token);
  } catch (error) {
    await device.unsubscribe();
    throw error;
  }
}

export async function forgetDevice(address, token) {
  const device = await readDevice();
  if (!device) return;
  await send(address, { do: "forget", endpoint: device.endpoint }, token);
  await device.unsubscribe();
}

// At sign-out: the next page drops the address, and the push service then reports it as gone.
export function leaveDevice() {
  if (readOwner()) noteOwner(NOBODY);
}

export async function dropDeviceOfOthers(person) {
  const owner = readOwner();
  if (!owner || owner === person || (!person && owner !== NOBODY)) return;
  const device = await readDevice().catch(() => null);
  await device?.unsubscribe().catch(() => {});
  noteOwner("");
}

function readOwner() {
  try {
    return localStorage.getItem(OWNER) ?? "";
  } catch {
    return "";
  }
}

function noteOwner(owner) {
  try {
    if (owner) localStorage.setItem(OWNER, owner);
    else localStorage.removeItem(OWNER);
  } catch {
    // Storage is off, and push with it.
  }
}

function isFor(device, key) {
  const bytes = new Uint8Array(device.options.applicationServerKey ?? []);
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text === key;
}

async function send(address, form, token) {
  const body = new URLSearchParams({ ...form, csrfmiddlewaretoken: token });
  const response = await fetch(address, { method: "POST", body, redirect: "error" });
  if (!response.ok) throw new Error(String(response.status));
}
