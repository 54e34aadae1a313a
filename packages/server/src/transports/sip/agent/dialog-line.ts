/** Requests of ours within one dialog. */

import type { Authorizer } from "../digest/authorizer.ts";
import { nextHopOf, requestIn, type Dialog } from "../dialogs/dialog.ts";
import { NO_BODY, type RequestText, type SipResponse } from "../message/message.ts";
import { headerOf } from "../message/headers.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipFailure, SipHeader } from "../user-agent.ts";
import type { AgentContext } from "./context.ts";
import { Exchange, sendAck, type Sent } from "./exchange.ts";
import { flowLeadsTo } from "./flow.ts";

export interface LineRequest {
  readonly method: string;
  readonly headers: readonly SipHeader[];
  readonly body?: Buffer;
  readonly final: (response: SipResponse, sent: Sent) => void;
  readonly failed: (failure: SipFailure) => void;
}

export class DialogLine {
  readonly #context: AgentContext;
  readonly #authorizer: Authorizer;
  /** The latest way that the peer's messages came. */
  flow: Hop;
  dialog: Dialog;

  constructor(context: AgentContext, dialog: Dialog, flow: Hop, authorizer: Authorizer) {
    this.#context = context;
    this.#authorizer = authorizer;
    this.dialog = dialog;
    this.flow = flow;
  }

  /** @param isAgain it is the second try of a request that a later one has overtaken */
  request(options: LineRequest, isAgain = false): Exchange {
    const { method, headers, body = NO_BODY, failed } = options;
    const final = (response: SipResponse, sent: Sent): void => {
      // Datagrams come in any order, and the peer refuses a number of CSeq below the last (RFC 3261, 12.2.2).
      const wasOvertaken = cseqOf(sent.request) < this.dialog.localCseq;
      if (response.status === 500 && wasOvertaken && !isAgain) this.request(options, true);
      else options.final(response, sent);
    };
    const build = (authorization: readonly SipHeader[]): RequestText => {
      const cseq = this.dialog.localCseq + 1;
      this.dialog = { ...this.dialog, localCseq: cseq };
      return requestIn(this.dialog, { method, cseq, headers: [...headers, ...authorization], body });
    };
    const sample = requestIn(this.dialog, { method, cseq: 0, headers: [] });
    const target = nextHopOf(sample);
    return new Exchange(this.#context, {
      build,
      target,
      method,
      uri: sample.uri,
      authorizer: this.#authorizer,
      flow: flowLeadsTo(this.#context, target, this.flow) ? this.flow : null,
      listener: { final, failed },
    }).begin();
  }

  /** ACK of a 200 to this INVITE, with its password (RFC 3261, 22.1). */
  acknowledge(invite: RequestText): void {
    const number = cseqOf(invite);
    const passwords = invite.headers.filter(
      ({ name }) => name === "authorization" || name === "proxy-authorization",
    );
    const ack = requestIn(this.dialog, { method: "ACK", cseq: number, headers: passwords });
    void sendAck(this.#context, ack, this.flow);
  }
}

function cseqOf(request: RequestText): number {
  return Number(headerOf(request, "cseq")?.split(" ")[0] ?? "1");
}
