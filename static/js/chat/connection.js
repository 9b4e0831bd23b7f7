// Shows the socket's state and decides when it is opened again. htmx opens it.

import { eraseCopies } from "../device-copy.js";

const LOST_SHOWN_AFTER_MS = 1200;
const FAST_TRIES = 8;
const SIGNED_OUT = 4403;
const GONE = 4404;
const TOO_MANY_SOCKETS = 4429;
const OPENED_AGAIN_BY_HTMX = new Set([1006, 1011, 1012, 1013]);

export class Connection {
  #element;
  #wrapper = null;
  #socket = null;
  #timer = 0;
  #tries = 0;
  #hasEnded = false;
  hasBeenOpen = false;

  constructor(page, element, { onOpen, take }) {
    this.#element = element;
    htmx.createWebSocket = (url) => {
      this.#socket = new WebSocket(url);
      // Before htmx, which needs longer for each frame than it takes to show its text.
      this.#socket.addEventListener("message", (event) => {
        if (take(event.data)) event.stopImmediatePropagation();
      });
      return this.#socket;
    };
    htmx.config.wsReconnectDelay = () => this.#delay();
    page.addEventListener("htmx:wsOpen", (event) => {
      this.#wrapper = event.detail.socketWrapper;
      this.#tries = 0;
      this.hasBeenOpen = true;
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#element.hidden = true;
      onOpen();
    });
    page.addEventListener("htmx:wsClose", (event) => this.#onClose(event.detail.event.code));
    addEventListener("offline", () => this.#say(this.#element.dataset.offline));
    // After a network change a socket can seem open and receive nothing.
    addEventListener("online", () => {
      if (this.isOpen) this.#wrapper?.reconnect();
    });
    // A page from the back/forward cache has lost its socket without an event.
    addEventListener("pageshow", (event) => {
      if (event.persisted) location.reload();
    });
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  // A socket seems open for a while after the network has gone.
  get isReachable() {
    return this.isOpen && navigator.onLine;
  }

  get hasFailed() {
    return this.#hasEnded || (!this.hasBeenOpen && this.#tries > 2);
  }

  send(frame) {
    if (!this.isOpen) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  // Handle a frame that was held back.
  replay(data) {
    this.#socket?.dispatchEvent(new MessageEvent("message", { data }));
  }

  #delay() {
    this.#tries += 1;
    const longest = this.#tries > FAST_TRIES ? 8000 : 1000;
    return longest * (0.4 + 0.6 * Math.random());
  }

  #onClose(code) {
    if (this.isOpen) return; // An older socket: a newer one has replaced it.
    if (code === SIGNED_OUT) {
      eraseCopies();
      this.#end(this.#element.dataset.signedOut);
      return;
    }
    if (code === GONE) {
      this.#end(this.#element.dataset.gone);
      return;
    }
    if (code === TOO_MANY_SOCKETS) {
      this.#end(this.#element.dataset.tooMany);
      return;
    }
    // Not from the last try on: they come faster than this.
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      const { reconnecting, offline } = this.#element.dataset;
      this.#say(navigator.onLine ? reconnecting : offline);
    }, LOST_SHOWN_AFTER_MS);
    if (!OPENED_AGAIN_BY_HTMX.has(code)) setTimeout(() => this.isOpen || this.#wrapper?.reconnect(), this.#delay());
  }

  #end(words) {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#say(words);
  }

  #say(words) {
    this.#element.textContent = words;
    this.#element.hidden = false;
  }
}
