/** What a transfer tool was asked for, from the values of its invocation. Pure. */

import { dialledAddress } from "@parley/schema";
import type { TransferTarget } from "../../ports/carrier-transfers.ts";
import type { ToolValue } from "../../ports/tool-invoker.ts";
import type { ChosenBy } from "../number-rules.ts";
import { spokenLanguage } from "./spoken-language.ts";

export type TransferTool = "coldTransfer" | "warmTransfer";

/** Stored with the transfer, sealed. */
export interface TransferOrder {
  readonly target: TransferTarget;
  /** What the carrier asks the called person before the two are connected; null: nothing. */
  readonly question: { readonly text: string; readonly language: string | null } | null;
  /** What the agent talks about with the called person before the two are connected; null: it does not. */
  readonly consultation: { readonly prompt: string } | null;
}

export interface RequestedTransfer {
  readonly order: TransferOrder;
  readonly chosenBy: ChosenBy;
}

/** What is known of the call without the tool. */
export interface TransferGround {
  /** The service's number in this call; null: unknown. */
  readonly ownNumber: string | null;
  readonly languageHint: string | null;
}

/** What is said takes about a minute at most. */
const QUESTION_CHARS_MAX = 1_000;
const CREDENTIAL_CHARS_MAX = 200;
const HEADERS_MAX = 10;
const HEADER_CHARS_MAX = 200;
const PROMPT_CHARS_MAX = 20_000;
const DEFAULT_PROMPT =
  "You have called a colleague to hand over a caller who is on hold. Say briefly what it is about: {context} Then ask whether your colleague takes the call.";
const DEFAULT_QUESTION =
  "You are called to take over a caller. {context} Press 1 to take the call. To decline it, hang up.";

/** `problem` ends a sentence that begins with "The tool failed:". */
export function requestedTransfer(
  tool: TransferTool,
  values: readonly ToolValue[],
  ground: TransferGround,
): RequestedTransfer | { readonly problem: string } {
  const given = new Map(values.map((value) => [value.name, value]));
  const text = (name: string): string | null => {
    const value = given.get(name)?.value;
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const address = dialledAddress(text("target") ?? "");
  if (address === null) return { problem: "target must be a phone number in E.164 form, or a SIP URI" };
  if (tool === "warmTransfer" && text("transferType") === "REFER") {
    return { problem: "transferType REFER needs a call over SIP; over carriers use BRIDGE or TRY_REFER" };
  }
  const from = text("from");
  const callerId = from === null ? ground.ownNumber : dialledAddress(from);
  if (from !== null && callerId === null) return { problem: "from must be a phone number in E.164 form" };
  const holdMusicUrl = text("holdMusicUrl");
  if (holdMusicUrl !== null && !isWebUrl(holdMusicUrl))
    return { problem: "holdMusicUrl must be an http or https URL" };
  const headers = headersIn(given.get("extraHeaders")?.value);
  if (headers === null)
    return { problem: "extraHeaders must be an object of at most 10 short texts of one line" };
  const [username, password] = [text("username"), text("password")];
  if ((username ?? "").length > CREDENTIAL_CHARS_MAX || (password ?? "").length > CREDENTIAL_CHARS_MAX)
    return { problem: `username and password may have at most ${CREDENTIAL_CHARS_MAX} characters` };
  const target = { address, callerId, username, password, headers, holdMusicUrl };
  const chosenBy = given.get("target")?.fixed === true ? "request" : "model";
  const plain = { target, question: null, consultation: null };
  if (tool === "coldTransfer") return { order: plain, chosenBy };
  // A conversation is a dialled call, whose record would have the password of a SIP URI.
  const isTalkedTo = text("transferMessageTemplate") === null && !/^sips?:/i.test(address);
  if (!isTalkedTo) return { order: { ...plain, question: questionOf(text, ground.languageHint) }, chosenBy };
  if (callerId === null)
    return { problem: "from must be given, because the number of this call is not known" };
  return { order: { ...plain, consultation: { prompt: promptOf(text) } }, chosenBy };
}

/** The rest of the prompt is in `consultation-prompt.ts`. */
function promptOf(text: (name: string) => string | null): string {
  const template = text("transferSystemPromptTemplate") ?? DEFAULT_PROMPT;
  const context = text("context") ?? "";
  return template.replaceAll("{context}", () => context).slice(0, PROMPT_CHARS_MAX);
}

function questionOf(
  text: (name: string) => string | null,
  languageHint: string | null,
): TransferOrder["question"] {
  const template = text("transferMessageTemplate") ?? DEFAULT_QUESTION;
  const context = text("context") ?? "";
  // The rest of the template says which key to press, so a long context is cut and not the whole.
  const room = Math.max(0, QUESTION_CHARS_MAX - template.length);
  const words = template.replaceAll("{context}", () => context.slice(0, room));
  return {
    text: words.replaceAll(/\s+/g, " ").trim().slice(0, QUESTION_CHARS_MAX),
    language: spokenLanguage(languageHint),
  };
}

export function isWebUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}

/** Null: they cannot be used. */
export function headersIn(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "object" || Array.isArray(value)) return null;
  const entries = Object.entries(value);
  const isShort = ([name, content]: [string, unknown]): boolean =>
    typeof content === "string" &&
    name.length + content.length <= HEADER_CHARS_MAX &&
    // They become part of a URI, and of a request of the carrier.
    content.isWellFormed() &&
    !/\p{Cc}/u.test(content);
  if (entries.length > HEADERS_MAX || !entries.every(isShort)) return null;
  return Object.fromEntries(entries);
}
