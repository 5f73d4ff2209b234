// Keeps the page true: hints come in, and each part of the page that a hint concerns fetches itself again, with its filters.

import { Stream } from "./stream.js";

const AGAIN_MS = 1_500; // a part fetches itself so often at most
const AT_LEAST_MS = 15_000; // and so often at least: what time alone changes comes with no hint
const WORDS = {
  connecting: "connecting", live: "live", reconnecting: "reconnecting", offline: "offline", "signed-out": "signed out", stale: "not up to date",
};

const badge = document.getElementById("live");
const pause = document.getElementById("pause");
const worker = document.querySelector("script[data-worker]").dataset.worker;
const stale = new Set();
let state = "connecting";
let paused = sessionStorage.getItem("covey-paused") === "1";
let missed = 0;
const fallen = new Map(); // parts that could not fetch themselves, and why
let fetchedAt = Date.now();
let timer = null;
let number = null;
let epoch = null;

function show() {
  const [why] = fallen.values();
  const now = state === "live" && why ? "stale" : state;
  badge.dataset.state = paused ? "paused" : now;
  badge.textContent = paused ? (missed ? `paused · ${missed} since` : "paused") : WORDS[now];
  badge.title = why ?? "";
  pause.setAttribute("aria-pressed", String(paused));
  pause.textContent = paused ? "Go on" : "Pause";
}

function parts() {
  return document.querySelectorAll("[data-live]");
}

function concerns(part, hint) {
  const kinds = part.dataset.live.split(" ");
  if (!kinds.includes("*") && !hint.kinds.some((kind) => kinds.some((each) => kind.startsWith(each)))) return false;
  const about = part.dataset.about;
  return !about || !hint.agents || !hint.subjects || hint.agents.includes(about) || hint.subjects.includes(about);
}

function soon() {
  if (timer || paused || document.hidden || !stale.size) return;
  timer = setTimeout(() => {
    timer = null;
    if (paused || document.hidden) return;
    fetchedAt = Date.now();
    const now = [...stale];
    stale.clear();
    for (const part of now) if (part.isConnected) part.dispatchEvent(new CustomEvent("refresh"));
  }, Math.max(0, fetchedAt + AGAIN_MS - Date.now()));
}

// what a part could not fetch it fetches again; until it can, the badge does not say live
function fell(part, why) {
  if (part?.dataset?.live === undefined) return;
  fallen.set(part, why);
  stale.add(part);
  show();
}

function all() {
  for (const part of parts()) stale.add(part);
  soon();
}

function hear(message) {
  if (message.kind === "state") {
    state = message.state;
    show();
    if (state === "signed-out") all(); // the answer to it leads to the sign-in
    return;
  }
  if (message.kind === "hello") {
    if (message.edition !== document.documentElement.dataset.edition) {
      document.dispatchEvent(new CustomEvent("covey:notice", { detail: { text: "Covey was updated: load this page again.", level: "plain" } }));
    }
    [epoch, number] = [message.epoch, message.number];
    all();
    return;
  }
  const gap = number !== null && message.number !== number + 1;
  number = message.number;
  missed += message.kinds.length ? 1 : 0;
  if (gap || message.kinds.includes("operator.signed_out")) all();
  else for (const part of parts()) if (concerns(part, message)) stale.add(part);
  if (paused) show();
  soon();
}

function toggle() {
  paused = !paused;
  sessionStorage.setItem("covey-paused", paused ? "1" : "0");
  if (!paused) {
    missed = 0;
    all();
  }
  show();
}

function connect() {
  if (window.SharedWorker) {
    const shared = new SharedWorker(worker, { type: "module", name: `covey ${document.documentElement.dataset.edition}` });
    shared.port.onmessage = ({ data }) => hear(data);
    addEventListener("pagehide", () => shared.port.postMessage("bye"));
    addEventListener("pageshow", (event) => event.persisted && (shared.port.postMessage("again"), all()));
    addEventListener("online", () => shared.port.postMessage("again"));
    return;
  }
  const stream = new Stream(hear);
  addEventListener("online", () => stream.hurry?.());
}

pause.addEventListener("click", toggle);
document.addEventListener("covey:pause", toggle);
document.addEventListener("covey:notice", ({ target }) => {
  if (target.dataset?.live === undefined) all(); // something was done: look at once what became of it
});
document.addEventListener("htmx:error", ({ detail }) => fell(detail.ctx?.sourceElement, "the fleet can't be reached"));
document.addEventListener("htmx:response:error", ({ detail }) => fell(detail.ctx.sourceElement, `the answer was ${detail.ctx.response.status}`));
document.addEventListener("htmx:after:swap", ({ detail }) => {
  if (detail.ctx.response?.status < 400 && fallen.delete(detail.ctx.sourceElement)) show();
});
document.addEventListener("visibilitychange", soon);
setInterval(() => Date.now() - fetchedAt >= AT_LEAST_MS && all(), 5_000);
show();
connect();
