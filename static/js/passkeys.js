// Creates and uses passkeys for the forms with `data-passkey`: asks the browser, puts its answer into the form and
// sends it. Without passkeys in this browser, or at an IP address, the page says so instead.

const isAddress = /^[\d.]+$|:/.test(location.hostname);
const isUsable =
  !isAddress && window.isSecureContext && "parseCreationOptionsFromJSON" in (window.PublicKeyCredential ?? {});

async function optionsOf(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options).publicKey;
  const response = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`options: ${response.status}`);
  return (await response.json()).request_options.publicKey;
}

async function create(options) {
  // A passkey signs in alone: the device stores it, and checks a finger, a face or a PIN.
  const selection = { residentKey: "required", requireResidentKey: true, userVerification: "required" };
  options.authenticatorSelection = { ...options.authenticatorSelection, ...selection };
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
}

function get(options) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

async function send(form) {
  const button = form.querySelector("button");
  const notice = form.querySelector(".form-notice");
  button.disabled = true;
  notice.textContent = "";
  try {
    const credential = await (form.dataset.passkey === "create" ? create : get)(await optionsOf(form));
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    // Cancelled, timed out, or already on this device.
    const words = error.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed;
    notice.textContent = words || form.dataset.failed;
    button.disabled = false;
  }
}

document.documentElement.classList.add(isUsable ? "has-passkeys" : "lacks-passkeys");
for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
// After going back, the button works again.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
