/** The few members of a parsed document that readers use: linkedom has no types without those of a browser. */

import { DOMParser, parseHTML } from "linkedom";
import { damaged } from "./parsed.ts";

export interface DomNode {
  /** 1: an element, 3: a text. */
  readonly nodeType: number;
  /** Of an HTML element in upper case, of an XML element as written. */
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
}

export interface DomElement extends DomNode {
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): Iterable<DomElement>;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
}

export interface DomDocument extends DomElement {
  readonly documentElement: DomElement | null;
  readonly body: DomElement | null;
}

/** Characters of one part: a little more than a document may have bytes. */
const MAX_MARKUP_CHARS = 12 * 1024 * 1024;

export function parseHtml(html: string): DomDocument {
  if (html.length > MAX_MARKUP_CHARS) throw damaged("it has too much markup");
  // Without an html element the library takes the first element as the document.
  const whole = /<html[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`;
  return parseHTML(whole).document;
}

export function parseXml(xml: string): DomDocument {
  if (xml.length > MAX_MARKUP_CHARS) throw damaged("it has too much markup");
  return new DOMParser().parseFromString(xml, "text/xml") as unknown as DomDocument;
}

export function isElement(node: DomNode): node is DomElement {
  return node.nodeType === 1;
}

/** All elements with this name, in their order. */
export function elements(parent: DomElement, name: string): DomElement[] {
  return Array.from(parent.getElementsByTagName(name));
}

export function textOf(element: DomNode | null | undefined): string | null {
  const text = (element?.textContent ?? "").replaceAll(/\s+/gu, " ").trim();
  return text === "" ? null : text;
}
