// The reminder page: allows notifications on this device, or stops them. The server gets the browser's address.

import { forgetDevice, keepDevice, readDevice } from "./device.js";

const part = document.getElementById("notifications");

async function show() {
  const isSupported = "PushManager" in window && "Notification" in window && "serviceWorker" in navigator;
  const isDenied = isSupported && Notification.permission === "denied";
  const isOn = isSupported && !isDenied && (await isKnown(await readDevice()));
  for (const line of part.querySelectorAll("[data-state]")) {
    line.hidden = !isSupported || isDenied || (line.dataset.state === "on") !== isOn;
  }
  if (!isSecureContext) say(part.dataset.insecure);
  else if (!isSupported) say(part.dataset.unsupported);
  else say(isDenied ? part.dataset.denied : "");
}

// It may have been removed from the list, on this device or another one.
async function isKnown(device) {
  if (!device) return false;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(device.endpoint)));
  const digest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return part.dataset.known.split(" ").includes(digest);
}

function say(words) {
  part.querySelector("[role=status]").textContent = words;
}

async function change(work) {
  try {
    await work();
    // The form then offers notifications, or no longer does.
    location.reload();
  } catch {
    await show();
    if (Notification.permission !== "denied") say(part.dataset.failed);
  }
}

if (part) {
  const [allow, stop] = ["off", "on"].map((state) => part.querySelector(`[data-state=${state}] button`));
  const token = part.querySelector("[name=csrfmiddlewaretoken]").value;
  allow.addEventListener("click", () => change(() => keepDevice(part.dataset.action, part.dataset.key, token)));
  stop.addEventListener("click", () => change(() => forgetDevice(part.dataset.action, token)));
  show();
}
