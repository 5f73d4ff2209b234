// What every page does: its theme, its times in the reader's zone, notices of what came of something, dialogs.

const root = document.documentElement;
const YEAR_S = 31_536_000;

// theme: as the system, light, dark. The server writes it into the page, so that nothing flashes.
const THEMES = ["", "light", "dark"];
document.getElementById("theme")?.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  document.cookie = `covey_theme=${next}; Path=/; SameSite=Strict; Max-Age=${YEAR_S}`;
  notice(`Theme: ${next || "as the system"}`, "plain");
  document.dispatchEvent(new CustomEvent("covey:theme"));
});

// where we are, in a line of places that is wider than a small screen
document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

// times
const zone = document.getElementById("zone");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
let utc = localStorage.getItem("covey-utc") === "1";
const ahead = () => new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts().find((part) => part.type === "timeZoneName").value;
let format;

function zoned() {
  format = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short", timeStyle: "medium", timeZone: utc ? "UTC" : here,
  });
  zone.textContent = utc ? "Times in UTC" : `Times in ${here} (${ahead()})`;
  times(document);
}

function apart(seconds) {
  const size = Math.abs(seconds);
  const [n, unit] = size < 60 ? [size, "s"] : size < 3600 ? [size / 60, "min"] : size < 86400 ? [size / 3600, "h"] : [size / 86400, "d"];
  return seconds >= 0 ? `${Math.floor(n)} ${unit} ago` : `in ${Math.ceil(n)} ${unit}`;
}

function times(within) {
  for (const element of within.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    const text = `${format.format(at)}${utc ? " UTC" : ""}`;
    const shown = "ago" in element.dataset ? apart((Date.now() - at) / 1000) : text;
    if (element.textContent !== shown) element.textContent = shown;
    if ("ago" in element.dataset && element.title !== text) element.title = text;
  }
}

zone.addEventListener("click", () => {
  utc = !utc;
  localStorage.setItem("covey-utc", utc ? "1" : "0");
  zoned();
  document.dispatchEvent(new CustomEvent("covey:zone"));
});
setInterval(() => document.hidden || times(document), 1_000);
document.addEventListener("htmx:after:swap", () => times(document));

// notices
function notice(text, level) {
  const element = document.createElement("p");
  element.className = `notice ${level}`;
  element.textContent = text;
  const box = document.getElementById("notices");
  box.append(element);
  while (box.children.length > 4) box.firstElementChild.remove();
  setTimeout(() => element.remove(), level === "bad" ? 15_000 : 6_000);
}

document.addEventListener("covey:notice", ({ detail, target }) => {
  if (target.dataset?.live !== undefined) return; // a part could not fetch itself, which the badge says
  const dialog = document.querySelector("dialog[open]");
  const said = dialog?.querySelector("[data-said]");
  if (detail.level === "bad" && said) {
    said.textContent = detail.text;
    said.hidden = false;
    return;
  }
  dialog?.close();
  notice(detail.text, detail.level);
});

// what did not reach the fleet is said, and nothing on the page pretends otherwise
document.addEventListener("htmx:error", ({ detail }) => {
  if (detail.ctx && detail.ctx.request.method !== "GET") notice("The fleet can't be reached: nothing is known of what you asked for.", "bad");
});

// dialogs
const dialog = document.getElementById("dialog");
document.addEventListener("htmx:after:swap", () => {
  const body = document.getElementById("dialog-body");
  if (!dialog.open && body.childElementCount) dialog.showModal();
});
dialog.addEventListener("close", () => document.getElementById("dialog-body").replaceChildren());
document.addEventListener("click", (event) => event.target.closest("[data-close]")?.closest("dialog").close());

zoned();
