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
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
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
.side h2 { font-size: .82rem; color: var(--soft); font-weight: 600; margin: 1.4rem 0 .35rem; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side li a {
  display: flex; gap: .55rem; align-items: baseline; padding: .2rem .4rem; margin: 0 -.4rem;
  color: var(--ink); border-radius: 6px; font-size: .9rem;
}
.side li a:hover { background: var(--raised); text-decoration: none; }
.side .method { font-size: .66rem; min-width: 2.9rem; }
.none { color: var(--soft); font-size: .9rem; margin-top: 1rem; }
main { padding: 2.5rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 68rem; }
main h2 { font-size: 1.45rem; letter-spacing: -.015em; margin: 3.2rem 0 1rem; }
main h2:first-child { margin-top: 0; }
main h4 { font-size: .82rem; color: var(--soft); font-weight: 600; margin: 1.3rem 0 .45rem; }
.lead { max-width: 42rem; }
.card {
  background: var(--raised); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.25rem 1.4rem 1.35rem; margin: 0 0 1.1rem;
}
.card h3 { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: baseline; margin: 0; font-size: 1rem; }
.card h3 .path { font: 600 .95rem/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.card h3 a { color: inherit; }
.card .summary { margin: .35rem 0 0; color: var(--soft); max-width: 46rem; }
.method { font: 700 .74rem/1 ui-monospace, Menlo, Consolas, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--patch); } .delete { color: var(--delete); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .42rem .8rem .42rem 0; border-top: 1px solid var(--line); }
tr:first-child > th, tr:first-child > td { border-top: 0; }
th { font-weight: 400; white-space: nowrap; width: 1%; padding-right: 1.4rem; }
td p { margin: 0; }
.type { color: var(--soft); }
.required { color: var(--delete); font-size: .8rem; margin-left: .35rem; }
.failures { display: flex; flex-wrap: wrap; gap: .1rem .9rem; }
.failure { font-size: .84rem; white-space: nowrap; }
.wide { overflow-x: auto; }
.curl { position: relative; }
pre {
  margin: 0; padding: .85rem 1rem; overflow-x: auto; background: var(--code); border: 1px solid var(--line);
  border-radius: 8px; tab-size: 2;
}
.curl button {
  position: absolute; top: .5rem; right: .5rem; font: inherit; font-size: .78rem; padding: .2rem .6rem; cursor: pointer;
  color: var(--soft); background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
}
.curl button:hover { color: var(--ink); }
:target { background: var(--mark); }
.card:target { background: var(--raised); border-color: var(--accent); }
[hidden] { display: none !important; }
@media (max-width: 56rem) {
  .page { display: block; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding-bottom: 1.5rem; }
  .side nav { max-height: 15rem; overflow-y: auto; }
}
@media print { .side { display: none; } .page { display: block; } .card { break-inside: avoid; } }
`;

export const SCRIPT = `
"use strict";
const field = document.querySelector("#search");
const entries = [...document.querySelectorAll("[data-words]")];
const groups = [...document.querySelectorAll("[data-group]")];
const none = document.querySelector("#none");
const show = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  for (const entry of entries) {
    entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
    if (!entry.hidden) found += 1;
  }
  for (const group of groups) group.hidden = group.querySelector("[data-words]:not([hidden])") === null;
  none.hidden = found > 0;
};
field.addEventListener("input", show);
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  if (event.key === "Escape" && document.activeElement === field) { field.value = ""; show(); }
});
for (const box of document.querySelectorAll(".curl")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.append(button);
}
`;
