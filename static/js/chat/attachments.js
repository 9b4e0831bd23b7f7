// Documents for the next message: chosen, dropped or pasted, each uploaded at once in a request of its own.

import { isRedirected } from "../parts.js";
import { filled } from "../words.js";

export const MOST = 10;

export class Attachments {
  #box = null;
  #list;
  #template;
  #input;
  #onChange;
  #say;
  #files = new Map();
  #number = 0;

  constructor({ box, zone, onChange, say }) {
    this.#onChange = onChange;
    if (!box) return; // A conversation that can't get any.
    this.#box = box;
    this.#list = box.querySelector("ul");
    this.#template = box.querySelector("template");
    this.#input = document.getElementById("attach");
    this.#say = say;
    for (const chip of this.#list.children) this.#adopt(chip);
    this.#input.addEventListener("change", () => {
      this.add(this.#input.files);
      this.#input.value = "";
    });
    zone.addEventListener("paste", (event) => {
      const { files, types } = event.clipboardData;
      // Text that a program copies along with its picture is what was meant.
      if (!files.length || types.includes("text/plain")) return;
      event.preventDefault();
      this.add(files);
    });
    const drop = document.getElementById("chat");
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    drop.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      drop.classList.add("is-dropped-on");
    });
    drop.addEventListener("dragleave", (event) => {
      if (!drop.contains(event.relatedTarget)) drop.classList.remove("is-dropped-on");
    });
    drop.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      drop.classList.remove("is-dropped-on");
      this.add(event.dataTransfer.files);
    });
    this.#show();
  }

  get ids() {
    return [...this.#files.values()].map(({ id }) => id).filter(Boolean);
  }

  get isUploading() {
    return [...this.#files.values()].some(({ request }) => request);
  }

  add(files) {
    for (const file of files) {
      if (this.#files.size >= MOST) {
        this.#say(filled(this.#box.dataset.most, { count: MOST }));
        break;
      }
      this.#upload(file);
    }
    this.#show();
  }

  // What was sent belongs to its message now.
  take() {
    const entries = [...this.#files.values()].filter(({ id }) => id);
    const documents = entries.map(({ id, chip }) => ({ id, name: chip.querySelector(".attachment-name").textContent }));
    for (const [key, { id, chip }] of this.#files) {
      if (!id) continue;
      chip.remove();
      this.#files.delete(key);
    }
    this.#show();
    return documents;
  }

  // What a message brings that comes back to the composer.
  put(documents) {
    for (const { id, name } of documents) {
      const chip = this.#template.content.cloneNode(true).firstElementChild;
      chip.dataset.id = id;
      chip.querySelector(".attachment-name").textContent = name;
      chip.querySelector("button").setAttribute("aria-label", filled(this.#box.dataset.remove, { name }));
      chip.querySelector("progress").hidden = true;
      this.#list.append(chip);
      this.#adopt(chip);
    }
    this.#show();
  }

  #adopt(chip) {
    const key = this.#number++;
    this.#files.set(key, { id: Number(chip.dataset.id), chip, request: null });
    chip.querySelector("button").addEventListener("click", () => this.#remove(key));
  }

  #upload(file) {
    const key = this.#number++;
    const chip = this.#template.content.cloneNode(true).firstElementChild;
    chip.querySelector(".attachment-name").textContent = file.name;
    const button = chip.querySelector("button");
    button.setAttribute("aria-label", filled(this.#box.dataset.remove, { name: file.name }));
    button.addEventListener("click", () => this.#remove(key));
    this.#list.append(chip);
    const request = new XMLHttpRequest();
    const entry = { id: null, chip, request };
    this.#files.set(key, entry);
    const progress = chip.querySelector("progress");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress.value = event.loaded / event.total;
    });
    request.addEventListener("loadend", () => {
      entry.request = null;
      progress.hidden = true;
      const { id, words } = outcomeOf(request, this.#box.dataset);
      entry.id = id;
      if (id) chip.dataset.id = id;
      if (words) this.#refuse(chip, file.name, words);
      else this.#say(filled(this.#box.dataset.attached, { name: file.name }));
      this.#show();
    });
    const body = new FormData();
    body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    body.set("session", this.#box.dataset.session);
    body.set("files", file, file.name);
    request.open("POST", this.#box.dataset.action);
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  }

  #refuse(chip, name, words) {
    chip.classList.add("is-refused");
    chip.querySelector(".attachment-state").textContent = words;
    this.#say(`${name}: ${words}`);
  }

  #remove(key) {
    const { chip, request } = this.#files.get(key);
    this.#files.delete(key);
    request?.abort();
    chip.remove();
    this.#input.focus();
    this.#show();
  }

  #show() {
    if (this.#box) this.#box.hidden = !this.#files.size;
    this.#onChange();
  }
}

// How far a document is stands at its message; until it is sent, nowhere.
export function showState({ id, words }) {
  for (const state of document.querySelectorAll(`.document-${id}-state`)) state.textContent = words;
}

function outcomeOf(request, { action, lost, failed }) {
  if (!request.status) return { id: null, words: lost };
  if (isRedirected(request, action)) return { id: null, words: failed };
  let answer = {};
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    // A page instead: it says nothing about this file.
  }
  const [document] = answer.documents ?? [];
  if (!document) return { id: null, words: answer.error ?? failed };
  return { id: document.state === "refused" ? null : document.id, words: document.state === "refused" ? document.reason : "" };
}
