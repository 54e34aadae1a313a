/** What is known of the peers that ring: reliable provisional responses with PRACK (RFC 3262), and early answers. */

import { descriptionIn, dialogOfResponse, type Dialog } from "../dialogs/dialog.ts";
import type { Authorizer } from "../digest/authorizer.ts";
import { headerOf, tokensOf } from "../message/headers.ts";
import type { SipResponse } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { wholeNumber } from "../message/syntax.ts";
import type { AgentContext } from "./context.ts";
import { DialogLine } from "./dialog-line.ts";
import type { Sent } from "./exchange.ts";

/** Phones that a forking proxy may ring; more are not acknowledged. */
const MAX_EARLY = 16;

/** Reliable responses of one phone that are acknowledged. A call rings with a few; each PRACK is a transaction of ours. */
export const MAX_PRACKS = 20;

interface Early {
  readonly line: DialogLine;
  pracks: number;
  rseq: number | null;
  answer: string | null;
}

export class EarlyDialogs {
  readonly #context: AgentContext;
  readonly #authorizer: Authorizer;
  readonly #byTag = new Map<string, Early>();

  constructor(context: AgentContext, authorizer: Authorizer) {
    this.#context = context;
    this.#authorizer = authorizer;
  }

  /** False: it is a copy of one that came before. */
  provisional(response: SipResponse, sent: Sent): boolean {
    const tag = tagOf(response.to);
    if (tag === null || response.status === 100) return true;
    const isReliable = tokensOf(response, "require").includes("100rel");
    const early = this.#byTag.get(tag) ?? this.#begin(tag, response, sent);
    if (early === null) return true;
    if (!isReliable) return true;
    const rseq = wholeNumber(headerOf(response, "rseq") ?? "", 2 ** 32 - 1);
    // Copies, and those that have overtaken another one, which comes again (RFC 3262, 4).
    if (rseq === null || (early.rseq !== null && rseq !== early.rseq + 1)) return false;
    if (early.pracks >= MAX_PRACKS) return false;
    early.pracks += 1;
    early.rseq = rseq;
    early.answer ??= descriptionIn(response);
    early.line.request({
      method: "PRACK",
      headers: [{ name: "rack", value: `${String(rseq)} ${String(response.cseq.number)} INVITE` }],
      // Without it the peer gives the call up by itself.
      final: () => undefined,
      failed: () => undefined,
    });
    return true;
  }

  /** The answer that came reliably before the 200, which need not have it again. */
  answerOf(response: SipResponse): string | null {
    return this.#byTag.get(tagOf(response.to) ?? "")?.answer ?? null;
  }

  /** The peer with this tag has answered our offer. */
  isAnswered(tag: string | null): boolean {
    return (this.#byTag.get(tag ?? "")?.answer ?? null) !== null;
  }

  /** The dialog of a 200, whose requests count on from those that were sent while it rang. */
  confirmed(response: SipResponse, cseq: number): Dialog | null {
    const early = this.#byTag.get(tagOf(response.to) ?? "");
    return dialogOfResponse(response, Math.max(cseq, early?.line.dialog.localCseq ?? 0));
  }

  #begin(tag: string, response: SipResponse, { hop, source }: Sent): Early | null {
    const dialog = dialogOfResponse(response, response.cseq.number);
    if (dialog === null || this.#byTag.size >= MAX_EARLY) return null;
    const flow = { ...source, serverName: hop.serverName };
    const early = {
      line: new DialogLine(this.#context, dialog, flow, this.#authorizer),
      pracks: 0,
      rseq: null,
      answer: null,
    };
    this.#byTag.set(tag, early);
    return early;
  }
}
