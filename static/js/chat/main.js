// The chat page: connects the modules of socket, phases and page.

import { isTouched, setText } from "../composer.js";
import { afterPress, isPressed } from "../press.js";
import { moveIn, moveUp, showTitle as showTitleInSidebar } from "../sidebar.js";
import { Activity } from "./activity.js";
import { Announcer } from "./announcer.js";
import { Answers } from "./answers.js";
import { Attachments, MOST, showState } from "./attachments.js";
import { Connection } from "./connection.js";
import { copy } from "./copy.js";
import { Countdown } from "./countdown.js";
import { Editing } from "./editing.js";
import { setUpFeedback } from "./feedback.js";
import { History } from "./history.js";
import { Outbox } from "./outbox.js";
import { Phase } from "./phase.js";
import { Queue } from "./queue.js";
import { Questions } from "./questions.js";
import { ReadAloud } from "./read-aloud.js";
import { Scroll } from "./scroll.js";
import { Silence } from "./silence.js";
import { LiveText } from "./stream.js";
import { Turns } from "./turns.js";

const REFUSED_MS = 3000;
const byId = (id) => document.getElementById(id);
const page = byId("chat");
const aloud = new ReadAloud({
  messages: byId("messages"),
  toggle: byId("read-aloud"),
  stop: byId("reading-stop"),
  dialog: byId("voices-dialog"),
  chooser: byId("voice-choose"),
  names: byId("announcer").dataset,
});

function begin() {
  // Questions and notes are in italics, and the first may come at any time.
  document.fonts.load("italic 1em Literata");

  const form = byId("composer");
  const field = form.elements.namedItem("text");
  const messages = byId("messages");
  const sendButton = byId("send");
  const stopButton = byId("stop");

  const phase = new Phase();
  const scroll = new Scroll(byId("transcript"), byId("jump"));
  const announcer = new Announcer(byId("announcer"));
  const live = new LiveText((text) => {
    announcer.hear(text);
    aloud.hear(text);
  });
  const connection = new Connection(page, byId("connection"), { onOpen: reopen, take });
  const history = new History(messages, (frame) => connection.replay(frame));
  const turns = new Turns(messages, byId("open-turn"), history);
  const activity = new Activity(byId("activity"), byId("activity-label"), (count) => {
    if (count === 0) phase.take("toolsDone");
  });
  const outbox = new Outbox({
    session: page.dataset.session,
    list: byId("sending"),
    template: byId("sending-template"),
    send: (frame) => connection.send(frame),
  });
  const questions = new Questions({
    messages,
    place: byId("open-turn"),
    form: byId("call-answer"),
    send: (frame) => connection.send(frame),
    say: (text) => announcer.say(text),
  });
  const editing = new Editing(form, byId("editing"));
  let isBegun = false;
  const attachments = new Attachments({
    box: byId("attachments"),
    zone: form,
    onChange: () => isBegun && showPhase(),
    say: (text) => announcer.say(text),
  });
  const answers = new Answers((turn, id) => {
    // While something is on its way, the next snapshot decides.
    return !turn.nextElementSibling && (phase.now !== "idle" || outbox.isWaiting || connection.send({ type: "choose", turn: id }));
  });
  const queue = new Queue({
    session: page.dataset.session,
    list: byId("queued"),
    template: byId("queued-template"),
    mostCharacters: Number(field.dataset.most),
    mostDocuments: MOST,
    onEdit: giveBack,
    onRemove: () => field.focus(),
  });
  const countdown = new Countdown(
    () => turns.last,
    () => phase.now === "idle" && !outbox.isWaiting && !editing.isOn && !connection.hasFailed && !questions.pending,
  );
  const silence = new Silence({
    element: byId("still"),
    isWorking: () =>
      !["idle", "completing"].includes(phase.now) &&
      !questions.pending &&
      !outbox.isWaiting &&
      !activity.count &&
      connection.isReachable,
    say: (text) => announcer.say(text),
  });
  const waitHint = byId("wait-hint");
  let shownTurn = "";

  // Sage speaks first: whoever writes meanwhile begins the conversation instead.
  function isBeingOpened() {
    const isFirst = !turns.last && !turns.open?.querySelector(".is-answered");
    return phase.now !== "idle" && !outbox.isWaiting && isFirst;
  }

  function showPhase() {
    const isAsked = questions.pending !== null;
    const isAnswering = phase.now !== "idle" && !isAsked && !(isBeingOpened() && field.value.trim());
    page.dataset.phase = phase.now;
    field.placeholder = placeholder(isAsked);
    const hadFocus = document.activeElement === sendButton || document.activeElement === stopButton;
    const isEmpty = !(field.value.trim() || attachments.ids.length);
    // Nothing that could be stopped has begun.
    const isUnsent = outbox.isWaiting && !connection.isReachable;
    sendButton.hidden = isAnswering && !isUnsent && (isEmpty || editing.isOn);
    sendButton.disabled = attachments.isUploading || isEmpty;
    sendButton.ariaLabel = isAnswering ? sendButton.dataset.later : sendButton.dataset.now;
    stopButton.hidden = !isAnswering || isUnsent;
    // Without a socket its form is submitted.
    stopButton.disabled = phase.now === "completing" || outbox.isWaiting || !navigator.onLine;
    if (!(isAnswering || waitHint.textContent === page.dataset.unsent) || !field.value.trim()) waitHint.hidden = true;
    if (hadFocus && document.activeElement === document.body) field.focus();
    countdown.settle();
    silence.settle();
  }

  // An edit can't wait for the end of an answer: it would edit another message by then.
  function explainWait() {
    waitHint.hidden = false;
    waitHint.textContent = page.dataset.wait;
    scroll.follow();
  }

  function explainUpload() {
    waitHint.hidden = false;
    waitHint.textContent = page.dataset.uploading;
  }

  function explainFull() {
    setText(field, field.value); // The draft is stored again.
    waitHint.hidden = false;
    waitHint.textContent = page.dataset.full;
    scroll.follow();
  }

  // After the turn: it would have been sent now.
  function explainUnsent() {
    waitHint.hidden = false;
    waitHint.textContent = page.dataset.unsent;
    scroll.follow();
  }

  // Returns whether htmx gets a frame no more: it waits, or it is text.
  function take(frame) {
    silence.hear();
    if (history.holds(frame)) return true;
    if (!isPressed()) return live.take(frame);
    afterPress(() => connection.replay(frame));
    return true;
  }

  function reopen() {
    outbox.reopen();
    questions.reopen();
  }

  function placeholder(isAsked) {
    if (byId("ending").childElementCount) return page.dataset.placeholderEnded;
    return isAsked ? page.dataset.placeholderAsked : page.dataset.placeholder;
  }

  function canSend() {
    return (phase.now === "idle" || questions.pending || isBeingOpened()) && !outbox.isWaiting;
  }

  function send(text) {
    if (editing.isOn) {
      put(text, "edit");
      editing.end();
      return;
    }
    // Where it can be sent, the server decides.
    if (!canSend() && !queue.fits(text, attachments.ids)) {
      explainFull();
      return;
    }
    waitHint.hidden = true;
    queue.put(text, attachments.take());
    setText(field, "");
    if (canSend()) {
      sendQueued();
      return;
    }
    announcer.say(page.dataset.queued);
    scroll.toEnd();
  }

  // Another tab was first: Sage is answering what was sent there, though this page may not know it yet.
  function waitBehind({ text, documents = [] }) {
    if (!queue.fits(text, documents)) return false;
    const later = queue.isFull ? queue.take() : null;
    queue.put(text, documents);
    if (later) queue.put(later.text, later.documents);
    byId("notices").replaceChildren();
    announcer.say(page.dataset.queued);
    // An end that came before the refusal isn't followed by another.
    setTimeout(sendWhatWaits, REFUSED_MS);
    return true;
  }

  function sendQueued() {
    const { text, documents } = queue.take();
    put(text, "message", documents);
  }

  function put(text, type, documents) {
    byId("notices").replaceChildren();
    byId("kept").replaceChildren();
    waitHint.hidden = true;
    phase.take("send");
    outbox.put(text, type, documents);
    showPhase();
    scroll.toEnd();
  }

  // After a turn. A question comes first, and so does the choice to try a failed answer again; meanwhile the words are a
  // draft, because nothing looks for danger in what waits.
  function sendWhatWaits() {
    if (!queue.isFull || !canSend()) return;
    if (byId("ending").childElementCount) {
      giveBack(queue.take());
      explainUnsent();
    } else if (questions.pending || turns.last?.querySelector(".notice .turn-action")) putBack(queue.take());
    else sendQueued();
  }

  function giveBack({ text, documents }) {
    setText(field, field.value ? `${text}\n\n${field.value}` : text);
    attachments.put(documents);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  // Nobody asked for it: what is being typed comes first, and the focus and the caret stay.
  function putBack({ text, documents }) {
    const { value, selectionStart, selectionEnd } = field;
    setText(field, value ? `${value}\n\n${text}` : text);
    if (value) field.setSelectionRange(selectionStart, selectionEnd);
    attachments.put(documents);
    explainUnsent();
  }

  // Begin a message that corrects the last answer; what is being typed belongs to it, but no message being edited.
  function correct(event) {
    const link = event.target.closest("[data-change]");
    if (!link || connection.hasFailed) return;
    event.preventDefault();
    editing.end();
    const words = `${link.dataset.change} `;
    if (!field.value.startsWith(words)) setText(field, words + field.value);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  function showTitle() {
    const title = byId("chat-title").textContent;
    document.title = `${title} · Sage`;
    showTitleInSidebar(page.dataset.session, title);
  }

  const signals = {
    async sync({ status, turn, lastNumber, ended, cards }) {
      live.flush();
      activity.finishAll();
      announcer.forget();
      phase.take(status === "running" ? "begin" : "done");
      const isEndMissed = ended && !byId("ending").childElementCount;
      const isBehind = shownTurn !== turn || Number(lastNumber) > history.lastNumber;
      if (isBehind || isEndMissed || history.lacksCard(cards)) await history.fetchAgain();
      outbox.settle();
      outbox.resume();
      questions.settle();
      if (outbox.isWaiting) phase.take("send");
      sendWhatWaits();
      showPhase();
    },
    message({ clientId }) {
      outbox.accept(clientId);
      showTitle();
      moveUp(page.dataset.session);
    },
    title: showTitle,
    async history() {
      await history.fetchAgain();
      answers.restoreFocus(turns.last);
    },
    begin() {
      phase.take("begin");
      silence.begin();
      aloud.begin();
      announcer.say(page.dataset.answering);
    },
    restart() {
      announcer.forget();
      aloud.restart();
    },
    round() {
      announcer.finish();
      aloud.finish();
    },
    tool({ toolUseId, label }) {
      phase.take("tool");
      activity.start(toolUseId, label);
    },
    "tool-done"({ toolUseId }) {
      activity.finish(toolUseId);
    },
    pending() {
      questions.announce();
    },
    answered({ toolUseId }) {
      if (questions.ended(toolUseId)) scroll.toEnd();
      moveIn(page.dataset.session);
    },
    arc({ words }) {
      announcer.say(words);
    },
    document: showState,
    error({ field: faulty, isEarly }) {
      const notices = byId("notices");
      if (questions.isWaiting && questions.refuse(faulty, notices.textContent.trim())) {
        notices.replaceChildren();
        scroll.release();
      }
      phase.take("refuse");
      // While a message is being sent that the page doesn't show yet, the refusal is about it: it goes back to the
      // composer, and so does what waits behind it, unless a turn's end comes.
      outbox.settle();
      const refused = outbox.isWaiting ? outbox.refuse() : null;
      if (isEarly && refused?.type === "message" && waitBehind(refused)) return;
      if (queue.isFull && canSend()) giveBack(queue.take());
      if (refused?.type === "edit") editing.begin(refused.text);
      else if (refused) giveBack({ documents: [], ...refused });
    },
    // A message to an ended conversation started a new one.
    continued({ address }) {
      if (outbox.isWaiting) outbox.refuse();
      phase.take("refuse");
      location.assign(address);
    },
    completed() {
      announcer.say(page.dataset.completed);
    },
    closed() {
      announcer.say(page.dataset.closed);
      return history.fetchAgain();
    },
    done() {
      announcer.finish();
      aloud.finish();
      activity.finishAll();
      phase.take("done");
      // Nothing more is asked to tap. On a touch screen the focus would open a keyboard.
      if (questions.leavesFocus() && !isTouched() && !byId("ending").childElementCount) field.focus({ preventScroll: true });
    },
  };

  function takeSignals() {
    const box = byId("signals");
    const waiting = [...box.children];
    box.replaceChildren();
    for (const { dataset } of waiting) signals[dataset.event]?.({ ...dataset });
    if (waiting.some(({ dataset }) => dataset.event === "done")) sendWhatWaits();
    showPhase();
  }

  page.addEventListener("htmx:wsBeforeMessage", () => {
    live.flush();
    questions.noteFocus();
    shownTurn = turns.open?.id.slice("turn-".length) ?? "";
  });
  page.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { fragment, target } = event.detail;
    if (questions.isShownBy(fragment, target)) {
      event.detail.shouldSwap = false;
      return;
    }
    questions.place(fragment, target);
    if (turns.swap(target, fragment)) event.detail.shouldSwap = false;
  });
  page.addEventListener("htmx:wsAfterMessage", () => {
    turns.end();
    live.shape();
    questions.restoreFocus(field);
    takeSignals();
    scroll.follow();
  });

  field.addEventListener("input", showPhase);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" || field.value || event.isComposing) return;
    const link = [...messages.querySelectorAll(".said")].at(-1)?.querySelector("[data-edit]");
    if (queue.isFull) giveBack(queue.take());
    else if (phase.now === "idle" && link?.checkVisibility({ visibilityProperty: true })) link.click();
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented || connection.hasFailed) return; // Without a socket the form is submitted.
    event.preventDefault();
    if (attachments.isUploading) explainUpload();
    else if (editing.isOn && !canSend()) explainWait();
    else send(field.value.trim() ? field.value : page.dataset.look);
  });
  byId("call-answer").addEventListener("submit", (event) => {
    if (connection.hasFailed) return;
    event.preventDefault();
    byId("notices").replaceChildren();
    questions.answer(event.submitter);
  });
  byId("turn-actions").addEventListener("submit", (event) => {
    const action = event.submitter?.value;
    if (action === "stop") aloud.stop();
    if (!action || connection.hasFailed) return;
    if (!connection.send({ type: action })) return;
    event.preventDefault();
    phase.take(action === "stop" ? "stop" : "send");
    showPhase();
  });
  messages.addEventListener("click", correct);
  messages.addEventListener("click", copy);
  messages.addEventListener("click", (event) => answers.open(event));
  messages.addEventListener("click", (event) => {
    const link = event.target.closest("[data-edit]");
    if (!link || connection.hasFailed) return;
    event.preventDefault();
    if (phase.now === "idle") editing.begin(link.closest(".said").querySelector(".said-text").textContent);
  });

  for (const name of ["online", "offline"]) addEventListener(name, showPhase);
  page.addEventListener("htmx:wsClose", showPhase);

  isBegun = true;
  phase.onChange(() => {
    silence.hear();
    showPhase();
  });
  live.shape();
  if (turns.open && !questions.pending) phase.take("begin");
  if (outbox.restore()) phase.take("send");
  showPhase();
  if (!location.hash) scroll.toEnd();
}

setUpFeedback(page);
if (page.dataset.isActive === "yes") {
  begin();
} else {
  const answers = new Answers();
  page.addEventListener("click", copy);
  page.addEventListener("click", (event) => answers.open(event));
  // An ended conversation opens at its end; pages of earlier messages open at their top.
  if (byId("ending")) new Scroll(byId("transcript"), byId("jump")).follow();
}
