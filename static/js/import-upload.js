// Sends an export with progress. Without scripts the form sends it.

import { eraseCopies } from "./device-copy.js";

const MEGABYTE = 1024 * 1024;
const WHOLE_PERCENT = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });

let isSending = false;

// The form comes and goes with the imports that run, so the page listens.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const file = form.id === "import-form" && form.elements.file.files[0];
  if (!file) return; // The answer says what is missing.
  event.preventDefault();
  if (file.size > Number(form.dataset.maxMb) * MEGABYTE) fail(form, form.dataset.tooLarge);
  else if (!isSending) send(form, file);
});
addEventListener("beforeunload", (event) => isSending && event.preventDefault());

function send(form, file) {
  const body = new FormData(form);
  const bar = form.querySelector("progress");
  const [label] = bar.labels;
  const state = form.querySelector(".upload-state");
  const request = new XMLHttpRequest();
  fail(form, "");
  label.textContent = form.dataset.barLabel.replace("{name}", () => file.name);
  bar.value = 0;
  setSending(form, true);
  request.open("POST", form.action);
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (!lengthComputable) return;
    bar.value = loaded / total;
    state.textContent = loaded < total ? WHOLE_PERCENT.format(loaded / total) : form.dataset.stores;
  });
  request.addEventListener("loadend", () => {
    setSending(form, false);
    end(form, request);
  });
  request.send(body);
}

function setSending(form, value) {
  isSending = value;
  form.querySelector(".import-progress").hidden = !value;
  form.querySelector("[type=submit]").disabled = value;
  form.elements.file.disabled = value;
}

function end(form, { status, responseText }) {
  if (status === 200) {
    location.assign(form.action); // the import, or the sign-in
  } else if (status === 422) {
    const answer = new DOMParser().parseFromString(responseText, "text/html");
    form.closest("#next-upload").replaceWith(answer.getElementById("next-upload"));
    document.querySelector("#next-upload [role=alert]")?.scrollIntoView({ block: "nearest" });
  } else if (status) {
    if (status === 403) eraseCopies();
    fail(form, status === 403 ? form.dataset.signedOut : form.dataset.broken);
  } else {
    fail(form, form.dataset.lost);
  }
}

function fail(form, text) {
  const notice = form.querySelector(".notice");
  notice.hidden = !text;
  notice.firstElementChild.textContent = text;
}
