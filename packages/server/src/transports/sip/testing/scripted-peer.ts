/** A peer that answers what a test says, without a stack of its own. */

import type { SipWorld } from "./sip-world.ts";

export class ScriptedPeer {
  readonly #world: SipWorld;
  readonly #own: string;
  /** Without repeats. */
  readonly requests: string[] = [];
  readonly #from = new Map<string, string>();

  constructor(world: SipWorld, address: string, port = 5060) {
    this.#world = world;
    this.#own = `${address}:${String(port)}`;
    const drop = world.network.drop;
    world.network.drop = (message) => {
      const { to, from, text } = message;
      if (
        to === this.#own &&
        text.trim() !== "" &&
        !text.startsWith("SIP/2.0") &&
        !this.requests.includes(text)
      ) {
        this.requests.push(text);
        this.#from.set(text, from);
      }
      return drop(message);
    };
  }

  /** Answers the last request with this method. */
  answer(
    method: string,
    status: number,
    reason: string,
    headers: readonly string[],
    tag = "peer",
    body = "",
  ): void {
    const request = this.requests.findLast((text) => text.startsWith(`${method} `));
    if (request === undefined) throw new Error(`no ${method} came`);
    this.answerTo(request, status, headers, tag, body, reason);
  }

  answerTo(
    request: string,
    status: number,
    headers: readonly string[],
    tag = "peer",
    body = "",
    reason = "Reason",
  ): void {
    const copied = request.split("\r\n").filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/.test(line));
    const lines = copied.map((line) =>
      line.startsWith("To:") && !line.includes(";tag=") ? `${line};tag=${tag}` : line,
    );
    const text = [
      `SIP/2.0 ${String(status)} ${reason}`,
      ...lines,
      ...headers,
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      "",
      body,
    ].join("\r\n");
    this.send(this.#from.get(request) ?? "", text);
  }

  send(to: string, text: string): void {
    this.#world.network.inject(this.#own, to, text);
  }
}
