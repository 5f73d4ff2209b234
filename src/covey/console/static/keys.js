// What single keys do. They do nothing while somebody types, with a modifier, or once they are switched off.

const on = document.getElementById("keys-on");
const list = document.getElementById("keys-dialog");
on.checked = localStorage.getItem("covey-keys") !== "off";
on.addEventListener("change", () => localStorage.setItem("covey-keys", on.checked ? "on" : "off"));
document.getElementById("keys").addEventListener("click", () => list.showModal());

function types(element) {
  return element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");
}

function step(by) {
  const links = [...document.querySelectorAll("main [data-open]")].filter((link) => link.offsetParent);
  if (!links.length) return;
  const here = document.activeElement?.closest("tr, li")?.querySelector("[data-open]");
  const at = links.indexOf(here);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))].focus();
}

const KEYS = {
  "/": () => document.querySelector("main [data-filter]")?.select(),
  j: () => step(1),
  k: () => step(-1),
  p: () => document.dispatchEvent(new CustomEvent("covey:pause")),
  t: () => document.getElementById("theme").click(),
  "?": () => list.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && types(event.target) && !event.target.closest("dialog")) {
    event.preventDefault(); // a search field would empty itself, and the filter with it
    event.target.blur();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !on.checked) return;
  if (types(event.target) || document.querySelector("dialog[open]") || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});
