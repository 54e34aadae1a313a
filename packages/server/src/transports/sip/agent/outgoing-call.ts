/** An INVITE of ours, until its answer or its end. */

import { errorOf } from "../../../pacing/error-text.ts";
import { Authorizer } from "../digest/authorizer.ts";
import { descriptionIn, type Dialog } from "../dialogs/dialog.ts";
import { MIN_REFRESH_S, minOf, readRefresh, REFRESH_S, refreshOffer } from "../dialogs/refresh-timer.ts";
import { listOf } from "../message/headers.ts";
import type { RequestText, SipResponse } from "../message/message.ts";
import { nameAddrText, parseNameAddr, tagOf, withTag, type NameAddr } from "../message/name-addr.ts";
import { checkedValue } from "../message/syntax.ts";
import { parseUri, uriText, type SipUri } from "../message/uri.ts";
import type { Hop } from "../transactions/wire.ts";
import type {
  OutgoingInvite,
  OutgoingInviteListener,
  OutgoingInviteOptions,
  SipFailure,
  SipHeader,
} from "../user-agent.ts";
import { Call } from "./call.ts";
import { ABILITIES, contactFor, newCallId, SDP_TYPE, type AgentContext } from "./context.ts";
import { EarlyDialogs } from "./early-dialogs.ts";
import { Exchange, failureOf, type Sent } from "./exchange.ts";
import { checkedHeaders } from "./given-headers.ts";
import { DialogLine } from "./dialog-line.ts";

/** Longest time that a call rings. */
export const RING_LIMIT_MS = 180_000;

/** Tries of one call after a 422: of the peer, and of a proxy before it. Each may ask for longer intervals again. */
export const MAX_RAISES = 2;
/** Answers that get a BYE: those of the phones that a forking proxy may ring. */
const MAX_ENDED = 16;

interface Attempt {
  readonly uri: SipUri;
  readonly authorizer: Authorizer;
  readonly early: EarlyDialogs;
  readonly minS: number;
  readonly isRedirected: boolean;
  /** Times that `minS` was raised. */
  readonly raises: number;
}

export class OutgoingCall implements OutgoingInvite {
  readonly #context: AgentContext;
  readonly #options: OutgoingInviteOptions;
  readonly #listener: OutgoingInviteListener;
  readonly #from: NameAddr;
  readonly #headers: readonly SipHeader[];
  readonly #proxy: string | null;
  readonly #firstUri: SipUri;
  readonly #stopRinging: () => void;
  readonly #isForgotten: () => void;
  readonly id: string;
  readonly callId: string;
  #cseq = 0;
  #exchange: Exchange | null = null;
  #early: EarlyDialogs | null = null;
  #isReported = false;
  /** Tags of peers whose answers do not count. */
  readonly #ended = new Set<string>();
  /** The tag of the peer whose answer counts. */
  #chosen: { readonly tag: string; readonly line: DialogLine } | null = null;

  /** @throws for options that are not well-formed */
  constructor(
    context: AgentContext,
    options: OutgoingInviteOptions,
    listener: OutgoingInviteListener,
    forgotten: () => void,
  ) {
    const from = parseNameAddr(checkedValue(options.from));
    const to = parseUri(options.to);
    const fromUri = from === null ? null : parseUri(from.uri);
    if (to === null || to.hasHeaders) throw new Error("`to` is not a SIP URI");
    if (from === null || fromUri === null) throw new Error("`from` is not a SIP address");
    checkedValue(options.credentials?.username ?? "");
    this.#context = context;
    this.#options = options;
    this.#listener = listener;
    this.#firstUri = to;
    this.#from = withTag(
      { displayName: from.displayName, uri: uriText(fromUri), parameters: new Map() },
      context.random.token(),
    );
    this.#headers = checkedHeaders(options.headers ?? []);
    this.#proxy = proxyRoute(options.outboundProxy ?? null);
    this.#isForgotten = forgotten;
    this.id = context.random.token();
    this.callId = newCallId(context);
    const limitMs = Math.min(options.ringLimitMs ?? RING_LIMIT_MS, RING_LIMIT_MS);
    this.#stopRinging = context.clock.after(limitMs, () => {
      this.#giveUp({ cause: "timeout", status: 408, reason: "No answer", retryAfterMs: null });
    });
    context.log.begin(this.#logKey, { id: this.id, kind: "invite" });
    this.#attempt({ uri: to, minS: MIN_REFRESH_S, isRedirected: false, raises: 0 });
  }

  get localTag(): string {
    return tagOf(this.#from) ?? "";
  }

  /** Whether the peer with this tag has answered our offer while it rings. */
  isAnsweredEarly(remoteTag: string | null): boolean {
    return this.#early?.isAnswered(remoteTag) === true;
  }

  cancel(): void {
    this.#giveUp({ cause: "canceled", status: 487, reason: "Canceled", retryAfterMs: null });
  }

  #giveUp(failure: SipFailure): void {
    if (this.#isReported) return;
    this.#fail(failure);
    this.#exchange?.cancel();
  }

  #attempt(wanted: Pick<Attempt, "uri" | "minS" | "isRedirected" | "raises">): void {
    const { uri } = wanted;
    const context = this.#context;
    const credentials = keepsPassword(this.#firstUri, uri) ? this.#options.credentials : null;
    const authorizer = new Authorizer(credentials, () => context.random.token());
    const attempt: Attempt = { ...wanted, authorizer, early: new EarlyDialogs(context, authorizer) };
    this.#early = attempt.early;
    this.#exchange = new Exchange(context, {
      build: (authorization, hop) => this.#request(attempt, authorization, hop),
      target: (this.#proxy === null ? null : parseNameAddr(this.#proxy)?.uri) ?? uriText(uri),
      method: "INVITE",
      uri: uriText(uri),
      authorizer,
      listener: {
        provisional: (response, sent) => {
          const isNew = attempt.early.provisional(response, sent);
          if (isNew && response.status > 100 && !this.#isReported) {
            this.#listener.progressed(response.status, response.reason);
          }
        },
        final: (response, sent) => {
          if (response.status < 300) this.#accepted(attempt, response, sent);
          else
            this.#refused(attempt, response).catch((error: unknown) => {
              context.listener.faulted(errorOf(error));
            });
        },
        late: (response, sent) => {
          this.#endAnswer(attempt, response, sent);
        },
        failed: (failure) => {
          this.#fail(failure);
        },
      },
    }).begin();
  }

  /** ACK and BYE for an answer that does not count. */
  #endAnswer(attempt: Attempt, response: SipResponse, sent: Sent): void {
    const dialog = attempt.early.confirmed(response, response.cseq.number);
    if (dialog === null) return;
    const line = this.#lineOf(attempt, dialog, sent);
    line.acknowledge(sent.request);
    // Its 200 comes again where the ACK is lost, and each gets its ACK.
    const tag = tagOf(response.to) ?? "";
    if (this.#ended.has(tag) || this.#ended.size >= MAX_ENDED) return;
    this.#ended.add(tag);
    line.request({ method: "BYE", headers: [], final: () => undefined, failed: () => undefined });
  }

  #lineOf({ authorizer }: Attempt, dialog: Dialog, { source, hop }: Sent): DialogLine {
    return new DialogLine(this.#context, dialog, { ...source, serverName: hop.serverName }, authorizer);
  }

  #request({ uri, minS }: Attempt, authorization: readonly SipHeader[], hop: Hop): RequestText {
    this.#cseq += 1;
    const text = uriText(uri);
    return {
      kind: "request",
      method: "INVITE",
      uri: text,
      headers: [
        ...(this.#proxy === null ? [] : [{ name: "route", value: this.#proxy }]),
        { name: "max-forwards", value: "70" },
        { name: "from", value: nameAddrText(this.#from) },
        { name: "to", value: `<${text}>` },
        { name: "call-id", value: this.callId },
        { name: "cseq", value: `${String(this.#cseq)} INVITE` },
        this.#contact(hop, uri),
        ...ABILITIES,
        ...refreshOffer(REFRESH_S, minS, null),
        ...this.#headers,
        ...authorization,
        SDP_TYPE,
      ],
      body: Buffer.from(this.#options.offer, "utf8"),
    };
  }

  get #logKey() {
    return { callId: this.callId, tag: tagOf(this.#from) };
  }

  #contact(hop: Hop, { scheme }: SipUri): SipHeader {
    return contactFor(this.#context, hop, parseUri(this.#from.uri)?.user ?? null, scheme === "sips");
  }

  #accepted(attempt: Attempt, response: SipResponse, sent: Sent): void {
    const tag = tagOf(response.to);
    if (this.#chosen !== null && this.#chosen.tag === tag) {
      // The 200 again: the ACK was lost.
      this.#chosen.line.acknowledge(sent.request);
      return;
    }
    const dialog = attempt.early.confirmed(response, response.cseq.number);
    if (dialog === null || tag === null) {
      this.#fail({ cause: "protocol", status: 488, reason: "The answer has no address", retryAfterMs: null });
      return;
    }
    const answer = descriptionIn(response) ?? attempt.early.answerOf(response);
    if (this.#isReported || answer === null) {
      // Canceled too late, another phone of a fork, or an answer that nothing can be done with.
      this.#endAnswer(attempt, response, sent);
      this.#fail({
        cause: "protocol",
        status: 488,
        reason: "The answer has no description",
        retryAfterMs: null,
      });
      return;
    }
    const line = this.#lineOf(attempt, dialog, sent);
    line.acknowledge(sent.request);
    this.#chosen = { tag, line };
    this.#isReported = true;
    this.#stopRinging();
    const call = new Call(this.#context, {
      id: this.id,
      dialog: line.dialog,
      flow: line.flow,
      authorizer: attempt.authorizer,
      contact: this.#contact(sent.hop, attempt.uri),
      isCaller: true,
      localSdp: this.#options.offer,
      refresh: readRefresh(response),
      peerMessage: response,
    });
    this.#isForgotten();
    call.listen(this.#listener.answered(call, answer));
  }

  async #refused(attempt: Attempt, response: SipResponse): Promise<void> {
    const minS = response.status === 422 ? minOf(response) : null;
    if (this.#isReported) return;
    if (minS !== null && minS > attempt.minS && attempt.raises < MAX_RAISES) {
      this.#attempt({ ...attempt, minS, raises: attempt.raises + 1 });
      return;
    }
    const target = response.status === 302 && !attempt.isRedirected ? redirectTarget(response) : null;
    if (target !== null && (await this.#mayRedirect(target))) {
      // The caller may have given up while the application was asked.
      if (!this.#hasFailed()) this.#attempt({ ...attempt, uri: target, isRedirected: true });
      return;
    }
    this.#fail(failureOf(response));
  }

  #hasFailed(): boolean {
    return this.#isReported;
  }

  async #mayRedirect(target: SipUri): Promise<boolean> {
    const { mayRedirectTo } = this.#options;
    if (mayRedirectTo === undefined) return false;
    try {
      return await mayRedirectTo(uriText(target));
    } catch (error) {
      // The call fails with the 302 that the peer has sent.
      this.#context.listener.faulted(errorOf(error));
      return false;
    }
  }

  #fail(failure: SipFailure): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#stopRinging();
    this.#context.log.end(this.#logKey, this.id);
    this.#isForgotten();
    this.#listener.failed(failure);
  }
}

/**
 * Whether the password of a call to `first` may be used at `other`. Whoever else gets its answer to a challenge can search
 * for the password: another host, another program on the same host, and everybody on the way where TLS is left.
 */
export function keepsPassword(first: SipUri, other: SipUri): boolean {
  if (first.host !== other.host || (isSecure(first) && !isSecure(other))) return false;
  const areDefaults = [first, other].every((uri) => portOf(uri) === (isSecure(uri) ? 5061 : 5060));
  return areDefaults || portOf(first) === portOf(other);
}

function isSecure({ scheme, parameters }: SipUri): boolean {
  return scheme === "sips" || parameters.get("transport")?.toLowerCase() === "tls";
}

function portOf(uri: SipUri): number {
  return uri.port ?? (isSecure(uri) ? 5061 : 5060);
}

/** The first SIP URI of Contact, without the header fields that it may carry. */
function redirectTarget(response: SipResponse): SipUri | null {
  for (const value of listOf(response, "contact") ?? []) {
    const uri = parseUri(parseNameAddr(value)?.uri ?? "");
    if (uri !== null) return { ...uri, hasHeaders: false };
  }
  return null;
}

/** @throws for what is no SIP URI */
export function proxyRoute(proxy: string | null): string | null {
  if (proxy === null) return null;
  const uri = parseUri(proxy.includes(":") && /^sips?:/i.test(proxy) ? proxy : `sip:${proxy}`);
  if (uri === null) throw new Error("the outbound proxy is not a SIP URI");
  return `<${uriText({ ...uri, parameters: new Map([...uri.parameters, ["lr", null]]) })}>`;
}
