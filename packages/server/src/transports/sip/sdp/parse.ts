/** Reads session descriptions from the network. Every size has a limit, and every fault a sentence of its own. */

import { isIP, isIPv4 } from "node:net";
import { type SdpAttribute, SdpError, type SdpMedia, type SdpDescription } from "./description.ts";

/** Phones have 1 KiB, browsers behind a gateway up to 8 KiB. */
export const MAX_SDP_CHARS = 16_384;
const MAX_LINES = 512;
const MAX_MEDIA = 16;
const MAX_FORMATS = 64;
const MAX_PORT = 65_535;

/** What is read so far; the last of `media` takes the lines that follow. */
interface Draft {
  address: string | null;
  readonly attributes: SdpAttribute[];
  readonly media: MediaDraft[];
}

interface MediaDraft extends Omit<SdpMedia, "address"> {
  address: string | null;
  readonly attributes: SdpAttribute[];
}

/** @throws SdpError */
export function parseSdp(text: string): SdpDescription {
  if (text.length > MAX_SDP_CHARS) throw new SdpError(`is longer than ${String(MAX_SDP_CHARS)} characters`);
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== "");
  if (lines.length > MAX_LINES) throw new SdpError(`has more than ${String(MAX_LINES)} lines`);
  if (lines[0] !== "v=0") throw new SdpError("is not SDP: it must begin with v=0");
  const draft: Draft = { address: null, attributes: [], media: [] };
  for (const line of lines) readLine(draft, line);
  return draft;
}

function readLine(draft: Draft, line: string): void {
  if (!/^[a-z]=/.test(line)) throw new SdpError("has a line that is not SDP");
  const value = line.slice(2);
  const media = draft.media.at(-1);
  switch (line.charAt(0)) {
    case "m":
      draft.media.push(mediaOf(value));
      if (draft.media.length > MAX_MEDIA) throw new SdpError(`has more than ${String(MAX_MEDIA)} media`);
      break;
    case "c":
      (media ?? draft).address = addressOf(value);
      break;
    case "a":
      (media ?? draft).attributes.push(attributeOf(value));
      break;
    default:
      // Names, times and bandwidths mean nothing to a call.
      break;
  }
}

/** `audio 49170 RTP/AVP 0 8`, with `/2` behind the port where there are several streams. */
function mediaOf(value: string): MediaDraft {
  const [kind, port, profile, ...formats] = value.split(" ").filter((part) => part !== "");
  const [, digits] = /^(\d{1,5})(?:\/\d{1,5})?$/.exec(port ?? "") ?? [];
  if (kind === undefined || profile === undefined || digits === undefined || Number(digits) > MAX_PORT) {
    throw new SdpError("has a media line (m=) that cannot be read");
  }
  if (!/^[\w.+-]{1,32}$/.test(kind) || !/^[\w.+/-]{1,32}$/.test(profile)) {
    throw new SdpError("has a media line (m=) that cannot be read");
  }
  if (formats.length === 0 || formats.length > MAX_FORMATS) {
    throw new SdpError(`must have 1 to ${String(MAX_FORMATS)} formats on each media line (m=)`);
  }
  if (formats.some((format) => !/^[\w.+-]{1,32}$/.test(format))) {
    throw new SdpError("has a format on a media line (m=) that cannot be read");
  }
  return { kind, port: Number(digits), profile, formats, address: null, attributes: [] };
}

/** `IN IP4 192.0.2.1`; multicast addresses have a lifetime behind them. */
function addressOf(value: string): string {
  const [net, family, place = "", ...rest] = value.split(" ");
  const [address = ""] = place.split("/");
  if (net !== "IN" || (family !== "IP4" && family !== "IP6") || rest.length > 0) {
    throw new SdpError("has a connection line (c=) that cannot be read");
  }
  if (isIP(address) === 0 || isIPv4(address) !== (family === "IP4")) {
    throw new SdpError("must have an IP address on its connection line (c=)");
  }
  return isIPv4(address) ? address : sameIPv6(address);
}

/** As sockets write it: sources of media are compared by their text. */
function sameIPv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function attributeOf(value: string): SdpAttribute {
  const at = value.indexOf(":");
  return at < 0 ? { name: value, value: null } : { name: value.slice(0, at), value: value.slice(at + 1) };
}
