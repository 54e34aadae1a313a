/** A document of each kind about the rules of a hotel. The binary ones were written by LibreOffice from our own text. */

import { readFileSync } from "node:fs";
import { UPLOAD_TYPES } from "@parley/schema";

export interface Sample {
  readonly kind: keyof typeof UPLOAD_TYPES;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

const HTML = `<!doctype html><html lang="en"><head><title>House rules</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>House rules</h1><p>Welcome to the Seaside Hotel. These rules apply to all guests.</p>
<h2>Breakfast</h2><p>Breakfast is served from 7 to 10 in the morning, in the room beside the garden.</p>
<h2>Prices</h2><table><tr><th>Room</th><th>Price</th></tr><tr><td>Single</td><td>80 euros</td></tr></table></main></body></html>`;
const MARKDOWN = `# House rules

Welcome to the *Seaside Hotel*.

## Breakfast

- Breakfast is served from 7 to 10.
- On Sundays it is served until 11.

| Room | Price |
| --- | --- |
| Single | 80 euros |
`;

function file(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`samples/${name}`, import.meta.url)));
}

const TEXTS: Readonly<Record<string, string>> = {
  html: HTML,
  md: MARKDOWN,
  txt: "House rules\n\nBreakfast is served from 7 to 10.",
  csv: 'Room,Price\nBreakfast,12 euros\n"Single, with a view",80 euros\n',
};
const FILES: Readonly<Record<string, string>> = {
  doc: "rules.doc",
  docx: "rules.docx",
  epub: "rules.epub",
  pdf: "rules.pdf",
  ppt: "slides.ppt",
  pptx: "slides.pptx",
};

export const SAMPLES: readonly Sample[] = Object.entries(UPLOAD_TYPES).map(([kind, mimeType]) => {
  const text = TEXTS[kind];
  const bytes = text === undefined ? file(FILES[kind] ?? "") : new TextEncoder().encode(text);
  return { kind: kind as Sample["kind"], mimeType, bytes };
});
