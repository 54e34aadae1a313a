/** What a transfer tool was asked for in a call over SIP, from the values of its invocation. Pure. */

import { dialledAddress } from "@parley/schema";
import type { SipHeaderField } from "../../../ports/sip/sip-transfers.ts";
import type { ToolValue } from "../../../ports/tool-invoker.ts";
import type { ChosenBy } from "../../number-rules.ts";
import { headersIn, isWebUrl, type TransferTool } from "../../transfers/transfer-order.ts";

/** What is known of the call without the tool. */
export interface SipTransferGround {
  /** The far side of the call: where numbers are dialled. */
  readonly peerUri: string;
  /** The service's own address in this call, a URI or a number; null: unknown. */
  readonly ownAddress: string | null;
  /** Of a call that the service has dialled. */
  readonly credentials: SipCredentialValues | null;
  /** `{account id}.{SIP_HOST}`. */
  readonly domain: string;
}

export interface SipCredentialValues {
  readonly username: string;
  readonly password: string;
}

/** How the caller and the called person are connected. */
export type ConnectedBy = "REFER" | "BRIDGE" | "TRY_REFER";

export interface SipTransferOrder {
  /** As it was asked for: a number or a URI. */
  readonly address: string;
  readonly chosenBy: ChosenBy;
  /** The URI that is called. */
  readonly to: string;
  /** Of the call to the target. */
  readonly from: string;
  readonly credentials: SipCredentialValues | null;
  /** Of a cold transfer, `BRIDGE` is `sipVerb` INVITE. */
  readonly by: ConnectedBy;
  readonly inviteHeaders: readonly SipHeaderField[];
  readonly referHeaders: readonly SipHeaderField[];
  readonly holdMusicUrl: string | null;
  /** Instructions for the conversation with the called person. */
  readonly prompt: string;
}

const TEXT_CHARS_MAX = 200;
const CONTEXT_CHARS_MAX = 4_000;
const DEFAULT_PROMPT =
  "You have called a colleague to hand over a caller who is on hold. Say briefly what it is about: {context} Then ask " +
  "whether your colleague takes the call.";
const NO_CONTEXT = "The caller wants to talk to a person.";

type Texts = (name: string) => string | null;

/** `problem` ends a sentence that begins with "The tool failed:". */
export function sipTransferOrder(
  tool: TransferTool,
  values: readonly ToolValue[],
  ground: SipTransferGround,
): SipTransferOrder | { readonly problem: string } {
  const given = new Map(values.map((value) => [value.name, value]));
  const text: Texts = (name) => {
    const value = given.get(name)?.value;
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const address = dialledAddress(text("target") ?? "");
  if (address === null) return { problem: "target must be a phone number in E.164 form, or a SIP URI" };
  const holdMusicUrl = text("holdMusicUrl");
  if (holdMusicUrl !== null && !isWebUrl(holdMusicUrl))
    return { problem: "holdMusicUrl must be an http or https URL" };
  for (const name of ["from", "username", "password"])
    if ((text(name) ?? "").length > TEXT_CHARS_MAX)
      return { problem: `${name} may have at most ${String(TEXT_CHARS_MAX)} characters` };
  const by = connectedBy(tool, text);
  if (by === null)
    return { problem: "sipVerb must be REFER or INVITE, and transferType REFER, BRIDGE or TRY_REFER" };
  const headers = headersOf(tool, (name) => given.get(name)?.value);
  if ("problem" in headers) return headers;
  const to = uriOf(address, text("target") ?? "", ground.peerUri);
  const chosenBy = given.get("target")?.fixed === true ? "request" : "model";
  return {
    address,
    chosenBy,
    to,
    from: ownUriOf(text("from") ?? ground.ownAddress ?? "anonymous", ground.domain),
    credentials: credentialsOf(text, to, chosenBy, ground),
    by,
    ...headers,
    holdMusicUrl,
    prompt: promptOf(text),
  };
}

function connectedBy(tool: TransferTool, text: Texts): ConnectedBy | null {
  if (tool === "coldTransfer") {
    const verb = text("sipVerb") ?? "REFER";
    if (verb === "INVITE") return "BRIDGE";
    return verb === "REFER" ? "REFER" : null;
  }
  const type = text("transferType") ?? "TRY_REFER";
  return type === "REFER" || type === "BRIDGE" || type === "TRY_REFER" ? type : null;
}

function headersOf(
  tool: TransferTool,
  value: (name: string) => unknown,
): Pick<SipTransferOrder, "inviteHeaders" | "referHeaders"> | { readonly problem: string } {
  const names = tool === "coldTransfer" ? ["extraHeaders"] : ["inviteHeaders", "referHeaders"];
  const read = names.map((name) => fieldsIn(value(name)));
  const wrong = read.indexOf(null);
  if (wrong >= 0) {
    const rule = "must be an object of at most 10 short texts of one line, whose names begin with X-";
    return { problem: `${names[wrong] ?? ""} ${rule}` };
  }
  const [first = [], second = first] = read.flatMap((fields) => (fields === null ? [] : [fields]));
  return { inviteHeaders: first, referHeaders: second };
}

/** Null: they cannot be used. */
function fieldsIn(value: unknown): readonly SipHeaderField[] | null {
  const headers = headersIn(value);
  if (headers === null) return null;
  const fields = Object.entries(headers).map(([name, content]) => ({ name, value: content }));
  return fields.every(({ name }) => /^x-[a-z0-9-]{1,60}$/i.test(name)) ? fields : null;
}

/**
 * A number is dialled where the far side of the call is: its own phone system, or the trunk. Of the parameters of a URI
 * only the transport is kept, and no header fields, which could be those of another request.
 */
function uriOf(address: string, asGiven: string, peerUri: string): string {
  if (/^sips?:/i.test(address)) return `${address}${placeOf(asGiven).transport}`;
  const { scheme, place, transport } = placeOf(peerUri);
  return `${scheme}:${address}@${place}${transport}`;
}

/** Where a URI leads, without its user and its other parameters. */
export function placeOf(uri: string) {
  const [, scheme = "sip", place = "", rest = ""] = /^(sips?):(?:[^@]*@)?([^;?>]+)(.*)/i.exec(uri) ?? [];
  const transport = /^[^?]*?(;transport=(?:tcp|tls|udp))(?![^;?])/i.exec(rest)?.[1] ?? "";
  return { scheme: scheme.toLowerCase(), place: place.toLowerCase(), transport };
}

/**
 * Passwords of the call go only where the call itself went. So do those of the tool where the model has chosen the host:
 * whoever has the answer to a challenge of its own can search for the password.
 */
function credentialsOf(
  text: Texts,
  to: string,
  chosenBy: ChosenBy,
  { credentials, peerUri }: SipTransferGround,
): SipCredentialValues | null {
  const username = text("username");
  const own = username === null ? null : { username, password: text("password") ?? "" };
  const isSamePlace = placeOf(to).place === placeOf(peerUri).place;
  if (!isSamePlace && chosenBy === "model") return null;
  return own ?? (isSamePlace ? credentials : null);
}

/** A number or a name becomes an address of the account's domain. */
export function ownUriOf(from: string, domain: string): string {
  if (/sips?:/i.test(from)) return from;
  return `sip:${encodeURIComponent(from).replaceAll("%2B", "+")}@${domain}`;
}

function promptOf(text: Texts): string {
  const context = (text("context") ?? NO_CONTEXT).slice(0, CONTEXT_CHARS_MAX);
  return (text("transferSystemPromptTemplate") ?? DEFAULT_PROMPT).replaceAll("{context}", () => context);
}
