// Renews a live page and leaves the reader where he was: what he opened, sorted, filtered, typed and scrolled to.
const viewer = Math.random().toString(36).slice(2);
const EVERY_MS = 2000;
const FOCUSABLE = "a, button, input, summary, [tabindex]";

async function update() {
  const live = document.getElementById("live");
  try {
    const answer = await fetch(`body?${viewer}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    const text = await answer.text();
    const before = remember(live);
    live.innerHTML = text;
    prepareTables();
    restore(live, before);
    if (answer.headers.get("Run-Over")) document.getElementById("over").hidden = false;
    else setTimeout(update, EVERY_MS);
  } catch {
    document.getElementById("gone").hidden = false;
  }
}

// Parts that hold a state, by a name that is the same after the next renewal.
function parts(live) {
  const found = new Map();
  for (const part of live.querySelectorAll("section, figure, details, .table")) {
    const title = part.querySelector("h2, h3, caption, summary")?.textContent ?? "";
    const name = [part.closest("section")?.id, part.closest("figure")?.querySelector("h3")?.textContent, part.tagName, title];
    let key = name.join("/");
    while (found.has(key)) key += "+";
    found.set(key, part);
  }
  return found;
}

function remember(live) {
  const states = new Map();
  let anchor = null;
  let focus = null;
  for (const [key, part] of parts(live)) {
    const box = part.getBoundingClientRect();
    if (part.matches("section, figure") && box.top <= innerHeight / 2 && box.height) anchor = { key, top: box.top };
    if (part.contains(document.activeElement)) focus = focusWithin(key, part); // the innermost comes last
    if (part.matches("figure")) states.set(key, { left: part.querySelector(".chartbox")?.scrollLeft });
    if (part.matches("details")) states.set(key, { open: part.open });
    if (part.matches(".table")) states.set(key, tableState(part));
  }
  return { states, anchor: scrollY > 0 ? anchor : null, focus };
}

function tableState(box) {
  const sorted = box.querySelector("th[aria-sort]");
  const scroll = box.querySelector(".scroll");
  return {
    filter: box.querySelector("input")?.value,
    heading: sorted?.textContent,
    order: sorted?.getAttribute("aria-sort"),
    left: scroll.scrollLeft,
    top: scroll.scrollTop,
  };
}

function focusWithin(key, part) {
  const active = document.activeElement;
  const range = active.matches("input") ? [active.selectionStart, active.selectionEnd] : null;
  return { key, at: [...part.querySelectorAll(FOCUSABLE)].indexOf(active), tag: active.tagName, range };
}

function restore(live, { states, anchor, focus }) {
  const now = parts(live);
  for (const [key, state] of states) {
    const part = now.get(key);
    if (part?.matches("figure")) part.querySelector(".chartbox").scrollLeft = state.left;
    else if (part?.matches("details")) part.open = state.open;
    else if (part) restoreTable(part, state);
  }
  if (focus) restoreFocus(now.get(focus.key), focus);
  const place = anchor && now.get(anchor.key);
  if (place) scrollBy({ top: place.getBoundingClientRect().top - anchor.top, behavior: "instant" });
}

function restoreTable(box, state) {
  const heading = [...box.querySelectorAll("thead th")].find((th) => th.textContent === state.heading);
  for (let click = 0; heading && click < 2 && heading.getAttribute("aria-sort") !== state.order; click++)
    heading.querySelector("button").click();
  const input = box.querySelector("input");
  if (input && state.filter) {
    input.value = state.filter;
    input.dispatchEvent(new Event("input"));
  }
  const scroll = box.querySelector(".scroll");
  scroll.scrollLeft = state.left;
  scroll.scrollTop = state.top;
}

function restoreFocus(part, { at, tag, range }) {
  const wanted = part && [...part.querySelectorAll(FOCUSABLE)][at];
  if (wanted?.tagName !== tag) return;
  wanted.focus({ preventScroll: true });
  if (range) wanted.setSelectionRange(...range);
}

setTimeout(update, 1000);
