/** The parts and cards of the reference page, each with a link in the side bar. */

import { type Html, html } from "./html.ts";

export interface Card {
  /** The anchor; unique on the page. */
  readonly id: string;
  /** Its label in the side bar. */
  readonly entry: Html;
  /** The text that is searched, in lower case. */
  readonly words: string;
  readonly content: Html;
}

export interface Part {
  readonly id: string;
  readonly title: string;
  readonly lead: Html | null;
  readonly cards: readonly Card[];
  /** The side bar shows the title alone until it is opened; for long lists. */
  readonly folded: boolean;
}

/** A card of prose; the search finds it by its title and by `keywords`. */
export function proseCard(id: string, title: string, keywords: string, content: Html): Card {
  return {
    id,
    entry: html`${title}`,
    words: `${title} ${keywords}`.toLowerCase(),
    content: html`<h3><a href="#${id}">${title}</a></h3>
      ${content}`,
  };
}

/** A text to copy; the page's script adds the button. */
export function codeBlock(title: string, text: string, kind: "" | "response" = ""): Html {
  return html`<div class="code ${kind}" data-copy>
    <h4>${title}</h4>
    <pre tabindex="0" aria-label="${title}">${text}</pre>
  </div>`;
}

/** Rows of a name and its description. */
export function factsTable(rows: readonly (readonly [name: Html, fact: Html])[]): Html {
  return html`<table>
    ${rows.map(
      ([name, fact]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${fact}</td>
        </tr>`,
    )}
  </table>`;
}
