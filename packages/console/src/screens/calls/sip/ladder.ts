/** What the ladder of a SIP call shows of each message. Pure. */

import type { SipMessage } from "@parley/schema";
import type { Tone } from "../../../ui/display.tsx";

export interface Rung {
  /** Its place in the call. */
  readonly index: number;
  /** `INVITE`, or `200 OK` with the method that it answers. */
  readonly label: string;
  readonly tone: Tone;
  readonly isSent: boolean;
  /** Address and port of the other side. */
  readonly peer: string;
  /** Since the first message. */
  readonly offsetMs: number;
  readonly message: SipMessage;
}

const RESPONSE = /^SIP\/2\.0 (\d{3}) ?(.*)$/;

export function rungsOf(messages: readonly SipMessage[]): readonly Rung[] {
  const [first] = messages;
  if (first === undefined) return [];
  const startMs = Date.parse(first.timestamp);
  return messages.map((message, index) => ({
    index,
    ...labelOf(message),
    isSent: message.direction === "sent",
    peer: message.direction === "sent" ? message.destination : message.source,
    offsetMs: Math.max(0, Date.parse(message.timestamp) - startMs),
    message,
  }));
}

function labelOf({ firstLine, text }: SipMessage): Pick<Rung, "label" | "tone"> {
  const [, status, reason = ""] = RESPONSE.exec(firstLine) ?? [];
  if (status === undefined) return { label: firstLine.split(" ")[0] ?? "", tone: "plain" };
  const method = /^CSeq:\s*\d+\s+(\S+)/im.exec(text)?.[1] ?? "";
  return { label: `${status} ${reason} (${method})`.replace(" ()", ""), tone: toneOf(Number(status)) };
}

function toneOf(status: number): Tone {
  if (status < 200) return "plain";
  if (status < 300) return "good";
  // A challenge is part of a usual call.
  return status === 401 || status === 407 || status < 400 ? "warn" : "bad";
}

/** The other sides, in the order in which they appear. */
export function peersOf(rungs: readonly Rung[]): readonly string[] {
  return [...new Set(rungs.map(({ peer, message }) => `${peer} (${message.transport.toUpperCase()})`))];
}

export function offsetText(ms: number): string {
  return `+${(ms / 1_000).toFixed(3)} s`;
}

/** All messages as one text, to be sent to the operator of a trunk. */
export function logText(messages: readonly SipMessage[]): string {
  return messages
    .map(({ timestamp, direction, transport, source, destination, text }) => {
      const head = `--- ${timestamp} ${direction} ${transport} ${source} -> ${destination}`;
      return `${head}\n${text.replaceAll("\r\n", "\n").trimEnd()}\n`;
    })
    .join("\n");
}
