/** Style and script of the reference page. Both are inlined, and allowed by their hash alone. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --raised: #ffffff; --sunken: #f3f1ec; --line: #e2ded5; --ink: #1d1b18; --soft: #625d54;
  --accent: #0b6e6e; --get: #0b6e6e; --post: #2f6b1e; --patch: #8a5a00; --delete: #a62b21; --code: #f5f3ee;
  --mark: #fff1c2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #151617; --raised: #1c1e20; --sunken: #101112; --line: #303438; --ink: #e9e7e3; --soft: #a09c94;
    --accent: #5cc8c2; --get: #5cc8c2; --post: #8fcf72; --patch: #e3b04b; --delete: #f0857a; --code: #111213;
    --mark: #4a3d12;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
.page { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
.side {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 3rem;
  background: var(--sunken); border-right: 1px solid var(--line);
}
.side h1 { font-size: 1.15rem; margin: 0 0 .15rem; letter-spacing: -.01em; }
.side .version { color: var(--soft); font-size: .85rem; margin: 0 0 1rem; }
.side input {
  width: 100%; padding: .5rem .7rem; font: inherit; color: inherit; background: var(--raised);
  border: 1px solid var(--line); border-radius: 7px;
}
.side input::placeholder { color: var(--soft); opacity: 1; }
.side summary { font-size: .82rem; color: var(--soft); font-weight: 600; margin: .9rem 0 .35rem; }
.side summary, main summary { cursor: pointer; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side li a {
  display: flex; gap: .55rem; align-items: baseline; padding: .2rem .4rem; margin: 0 -.4rem;
  color: var(--ink); border-radius: 6px; font-size: .9rem;
}
.side li a[aria-current] { background: var(--raised); box-shadow: inset 2px 0 var(--accent); }
.side li a:hover { background: var(--raised); text-decoration: none; }
.side .method { font-size: .66rem; min-width: 2.9rem; }
.side code { overflow-wrap: anywhere; }
.status { font: 600 .82rem/1 ui-monospace, Menlo, Consolas, monospace; color: var(--delete); }
.found { color: var(--soft); font-size: .85rem; margin: .5rem 0 0; min-height: 1.3em; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; display: block; margin-bottom: .6rem; }
.up { display: none; }
.soft { color: var(--soft); }
main { padding: 2.5rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 68rem; }
main:focus { outline: none; }
main h2 { font-size: 1.45rem; letter-spacing: -.015em; margin: 3.2rem 0 1rem; }
section:first-child > h2, [hidden] + section > h2, .card > h2 { margin-top: 0; }
main h4 { font-size: .82rem; color: var(--soft); font-weight: 600; margin: 1.3rem 0 .45rem; }
.lead { max-width: 42rem; }
.card {
  background: var(--raised); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.25rem 1.4rem 1.35rem; margin: 0 0 1.1rem;
}
.card h3 { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: baseline; margin: 0; font-size: 1rem; }
.card h3 .path { font: 600 .95rem/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.card h3 a { color: inherit; }
.card > p { max-width: 46rem; }
.card > table { margin-top: .7rem; }
.card .note { color: var(--patch); font-size: .9rem; margin: .35rem 0 0; }
.card .note + .soft, .card .summary + .soft { font-size: .9rem; margin: .35rem 0 0; }
.card .summary { margin: .35rem 0 0; color: var(--soft); max-width: 46rem; }
.method { font: 700 .74rem/1 ui-monospace, Menlo, Consolas, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--patch); } .delete { color: var(--delete); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .42rem 0; border-top: 1px solid var(--line); }
tr:first-child > th, tr:first-child > td { border-top: 0; }
th { font-weight: 400; white-space: nowrap; width: 1%; padding-right: 1.6rem; }
td { overflow-wrap: anywhere; }
td table { margin-top: .35rem; padding-left: .9rem; border-left: 2px solid var(--line); display: block; }
td p { margin: 0; }
.type { color: var(--soft); }
.required { color: var(--delete); font-size: .8rem; margin-left: .35rem; }
.failures { display: flex; flex-wrap: wrap; gap: .1rem .9rem; }
.failure { font-size: .84rem; white-space: nowrap; }
details { margin-top: .5rem; }
main summary { color: var(--accent); font-size: .9rem; }
.code { position: relative; margin-top: 1.3rem; }
.code h4 { margin-top: 0; padding-right: 5rem; }
.card > pre { margin-top: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.alone { max-width: 46rem; margin: 0 auto; }
pre {
  margin: 0; padding: .85rem 1rem; overflow-x: auto; background: var(--code); border: 1px solid var(--line);
  border-radius: 8px; tab-size: 2;
}
.code > .copy {
  position: absolute; top: -.35rem; right: 0; font: inherit; font-size: .78rem; padding: .2rem .6rem; cursor: pointer;
  color: var(--soft); background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
}
.code > .copy:hover { color: var(--ink); }
.samples [data-language] + [data-language] { margin-top: 1.3rem; }
.tabs { display: flex; gap: .25rem; margin: 0 5rem .5rem 0; }
.tabs button {
  font: inherit; font-size: .82rem; padding: .25rem .6rem; cursor: pointer; color: var(--soft); background: none;
  border: 1px solid transparent; border-radius: 6px;
}
.tabs button:hover { color: var(--ink); }
.tabs button[aria-selected="true"] { color: var(--ink); background: var(--sunken); border-color: var(--line); font-weight: 600; }
.tabbed [data-language] { margin-top: 0; }
.tabbed h4 { display: none; }
.response { margin-top: 1.1rem; }
.response h4 + p { margin: 0; }
.response pre { max-height: 22rem; overflow-y: auto; }
:target { background: var(--mark); }
.card:target { background: var(--raised); border-color: var(--accent); }
[hidden] { display: none !important; }
@media (max-width: 56rem) {
  .page { display: block; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding-bottom: 1.5rem; }
  .up {
    display: block; position: fixed; right: 1rem; bottom: 1rem; padding: .45rem .8rem; font-size: .85rem;
    background: var(--raised); border: 1px solid var(--line); border-radius: 999px;
  }
}
@media (max-width: 40rem) {
  main { padding-top: 1.75rem; }
  .card { padding: 1rem; }
  tr, th, td { display: block; width: auto; }
  th { padding: .55rem 0 0; white-space: normal; overflow-wrap: anywhere; }
  td { padding: .1rem 0 .55rem; border-top: 0; }
  tr:first-child > th { padding-top: 0; }
}
@media print { .side, .up { display: none; } .page { display: block; } .card { break-inside: avoid; } }
`;

export const SCRIPT = `
"use strict";
const field = document.querySelector("#search");
const cards = [...document.querySelectorAll("[data-words]")];
const groups = [...document.querySelectorAll("[data-group]")];
const opening = document.querySelector(".opening");
const found = document.querySelector("#found");
const items = new Map([...document.querySelectorAll("[data-of]")].map((item) => [item.dataset.of, item]));
// A long list of contents would push the page out of a narrow screen.
if (matchMedia("(max-width: 56rem)").matches) for (const group of groups) group.open = false;
const folds = groups.filter((group) => group.tagName === "DETAILS");
const openAtRest = new Set();
const nameOf = (card) => items.get(card.id).querySelector("a").textContent.trim().replaceAll(/\\s+/g, " ");
let searching = false;
let best;
const show = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const card of cards) {
    card.hidden = !words.every((word) => card.dataset.words.includes(word));
    items.get(card.id).hidden = card.hidden;
  }
  const before = searching;
  searching = words.length > 0;
  if (searching && !before) for (const fold of folds) openAtRest[fold.open ? "add" : "delete"](fold);
  if (searching !== before) for (const fold of folds) fold.open = searching || openAtRest.has(fold);
  opening.hidden = searching;
  for (const group of groups) {
    group.hidden = group.querySelector(":is([data-words], [data-of]):not([hidden])") === null;
  }
  // A name that holds the first word goes before a text that does.
  const shown = cards.filter((card) => !card.hidden);
  best = searching ? (shown.find((card) => nameOf(card).toLowerCase().includes(words[0])) ?? shown[0]) : undefined;
  const opens = best === undefined ? "Nothing matches." : shown.length + " found; Enter opens “" + nameOf(best) + "”.";
  found.textContent = searching ? opens : "";
};
const clear = () => { field.value = ""; show(); };
field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") clear();
  if (event.key === "Enter" && best !== undefined) location.hash = best.id;
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || document.activeElement === field) return;
  event.preventDefault();
  field.focus();
});
// A link to what the search has hidden ends the search.
addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  const target = link && document.getElementById(link.hash.slice(1));
  if (target && target.closest("[hidden]") !== null) clear();
});
const lookAt = () => {
  for (const link of document.querySelectorAll(".side [aria-current]")) link.removeAttribute("aria-current");
  const item = items.get(decodeURIComponent(location.hash.slice(1)));
  const folded = item?.closest("details");
  if (folded) folded.open = true;
  item?.querySelector("a").setAttribute("aria-current", "true");
};
addEventListener("hashchange", lookAt);
lookAt();
// A browser that goes back keeps what was typed.
addEventListener("pageshow", show);
// The requests of all operations show the same language, which the browser keeps for the next visit.
const LANGUAGE = "parley-reference-language";
const samples = [...document.querySelectorAll("[data-samples]")];
const kept = () => {
  // A browser that stores nothing throws: the choice is then for this page alone.
  try { return localStorage.getItem(LANGUAGE); } catch { return null; }
};
const keep = (language) => {
  try { localStorage.setItem(LANGUAGE, language); } catch { return; }
};
const choose = (language) => {
  for (const box of samples) {
    for (const panel of box.querySelectorAll("[data-language]")) panel.hidden = panel.dataset.language !== language;
    for (const tab of box.querySelectorAll("[role=tab]")) {
      const isChosen = tab.dataset.tab === language;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }
};
// The lengths of examples above change: what the reader looks at stays in its place.
const chooseAt = (tab) => {
  const before = tab.getBoundingClientRect().top;
  choose(tab.dataset.tab);
  keep(tab.dataset.tab);
  tab.focus({ preventScroll: true });
  scrollBy(0, tab.getBoundingClientRect().top - before);
};
const NEXT = { ArrowRight: (at, count) => (at + 1) % count, ArrowLeft: (at, count) => (at + count - 1) % count, Home: () => 0, End: (_, count) => count - 1 };
for (const box of samples) {
  const list = document.createElement("div");
  list.className = "tabs";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language of the request");
  const card = box.closest("[data-words]").id;
  for (const panel of box.querySelectorAll("[data-language]")) {
    const { language } = panel.dataset;
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = card + "-tab-" + language;
    tab.dataset.tab = language;
    tab.setAttribute("role", "tab");
    panel.id = card + "-" + language;
    tab.setAttribute("aria-controls", panel.id);
    tab.textContent = panel.querySelector("h4").textContent;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => chooseAt(tab));
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.children];
    const next = NEXT[event.key]?.(tabs.indexOf(event.target), tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    chooseAt(tabs[next]);
  });
  box.classList.add("tabbed");
  box.prepend(list);
}
const languages = samples.length === 0 ? [] : [...samples[0].querySelectorAll("[data-language]")].map((panel) => panel.dataset.language);
choose(languages.includes(kept()) ? kept() : languages[0]);
for (const box of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      const shown = [...box.querySelectorAll("pre")].find((pre) => pre.closest("[hidden]") === null);
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.append(button);
}
`;
