/** The introduction of the reference page: a first call, and what all operations have in common. */

import { MAX_PAGE_SIZE } from "@parley/schema";
import { MAX_BODY_BYTES } from "../../api/json-body.ts";
import { type Card, codeBlock, factsTable, proseCard } from "./card.ts";
import type { CardOptions, Entry } from "./entries.ts";
import { html, type Html } from "./html.ts";
import type { OpenApiDocument } from "./open-api.ts";
import { curlExample } from "./request-examples.ts";
import { prose } from "./schema-view.ts";

const text = (words: string): Html => html`<p>${prose(words)}</p>`;
const row = (name: string, words: string): readonly [Html, Html] => [html`${name}`, text(words)];

function firstCall(entries: readonly Entry[], document: OpenApiDocument, options: CardOptions): Card {
  const command = (id: string): string => {
    const entry = entries.find((one) => one.id === id);
    return entry === undefined ? "" : curlExample(entry, document, options);
  };
  return proseCard(
    "first-call",
    "A first call",
    "start quick curl key example",
    html`<p>
        The requests on this page are for a shell, for TypeScript and for Python. They take the key from the
        variable <code>API_KEY</code> of the environment, and ids from variables that are named like the
        parameters of the path: <code>AGENT_ID</code>, <code>CALL_ID</code>. TypeScript uses the package
        <code>@parley/client</code>, Python the package <code>requests</code>.
      </p>
      ${codeBlock("1. Your key, printed by the first start", "export API_KEY=...")}
      ${codeBlock("2. Create a call", command("createCall"))}
      <p>
        3. Open the <code>joinUrl</code> of the answer as a websocket before its <code>joinTimeout</code> of
        30 seconds is over, and talk: <a href="#join-client">this program</a> does it.
      </p>
      ${codeBlock("4. Read what was said", `export CALL_ID=...   # the callId of step 2\n${command("listCallMessages")}`)}
      <p>
        For more than one call, <a href="#createAgent">create an agent</a>, which stores the settings, and
        <a href="#createAgentCall">call it</a>.
      </p>`,
  );
}

function common(): Card {
  return proseCard(
    "common",
    "What all operations share",
    "authentication x-api-key paging cursor errors durations times ids limits rate unknown fields not_available",
    factsTable([
      row(
        "Key",
        "In the header `X-API-Key`. A key belongs to one account and allows every operation in it. Joining needs none.",
      ),
      row(
        "Bodies",
        `JSON in UTF-8, at most ${MAX_BODY_BYTES / 1024 / 1024} MiB. Unknown fields are refused, unless the deployment ` +
          "says otherwise. Answers may gain fields at any time: ignore those that you do not know.",
      ),
      row(
        "Durations",
        "Text of seconds with an `s`, such as `30s` or `0.384s`. Times are UTC, such as `2026-01-02T03:04:05.678Z`.",
      ),
      row(
        "Lists",
        `Returned in pages of \`pageSize\` results, at most ${MAX_PAGE_SIZE}. \`next\` and \`previous\` are the URLs of the ` +
          "neighbouring pages or null, and `total` counts all.",
      ),
      [
        html`Errors`,
        html`<p>
          Have a status of 400 or more and a <a href="#schema-Problem">Problem</a> as their body, with a
          <a href="#problems">code</a> to branch on.
        </p>`,
      ],
      row(
        "Request id",
        "Every answer has an `X-Request-Id`; quote it when something fails. A value that you send in this header is used.",
      ),
      row("Limits", "Too many requests are answered with 429, with the seconds to wait in `Retry-After`."),
      row(
        "Not available",
        "What needs something that this deployment does not have is refused with 501 `not_available`, and `detail` says " +
          "what is missing: `sip` without `SIP_HOST`, a voice of a provider without an adapter, or operations of the " +
          "operator without an operator key.",
      ),
    ]),
  );
}

export function firstCards(
  entries: readonly Entry[],
  document: OpenApiDocument,
  options: CardOptions,
): Card[] {
  return [firstCall(entries, document, options), common()];
}
