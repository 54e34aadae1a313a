/** Parser of join URLs (D111, D112). */

import { toNeutralName, WEBSOCKET_MEDIA } from "@parley/schema";
import type { FindJoinInput, JoinQuery } from "../../joins/api.ts";

/** `web_rtc` is not a websocket medium, but its join URLs are known, so that a client learns what they need. */
const MEDIA: ReadonlySet<string> = new Set(["web_rtc", ...WEBSOCKET_MEDIA]);

const JOIN_PATH =
  /^\/calls\/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\/([a-zA-Z0-9_]{1,40})\/([A-Za-z0-9_-]{1,256})\/?$/;

/** Limits of each value in characters; the first is the interface's, the others only bound what a call stores. */
const MAX_CLIENT_VERSION_LENGTH = 120;
const MAX_API_VERSION_LENGTH = 40;
const MAX_EXPERIMENTAL_LENGTH = 64;
/** Two names are defined: `debug` and `partials`. */
const MAX_EXPERIMENTAL_MESSAGES = 16;

/** Two spellings of one list; clients use the second since version 0.5. */
const MESSAGE_LISTS = ["experimentalMessages", "additionalMessages"] as const;

/** The parts of a join path, medium in its neutral spelling and call id in lower case; null when it is not one. */
export function parseJoinPath(path: string): FindJoinInput | null {
  const [, callId = "", spelled = "", token = ""] = JOIN_PATH.exec(path) ?? [];
  const medium = toNeutralName(spelled);
  return MEDIA.has(medium) ? { callId: callId.toLowerCase(), medium, token } : null;
}

/** Reads the values that are defined and ignores the rest. */
export function parseJoinQuery(query: URLSearchParams): JoinQuery {
  const experimental = MESSAGE_LISTS.map((name) => query.get(name) ?? "")
    .join(",")
    .split(",", MAX_EXPERIMENTAL_MESSAGES);
  return {
    clientVersion: shortened(query.get("clientVersion"), MAX_CLIENT_VERSION_LENGTH),
    apiVersion: shortened(query.get("apiVersion"), MAX_API_VERSION_LENGTH),
    experimentalMessages: experimental
      .map((name) => name.trim().slice(0, MAX_EXPERIMENTAL_LENGTH))
      .filter((name) => name !== ""),
  };
}

/** Cuts to so many code points and removes NUL, which the database cannot store; null for an empty text. */
function shortened(text: string | null, codePoints: number): string | null {
  const letters = Array.from((text ?? "").replaceAll("\u0000", "").slice(0, codePoints * 2));
  return letters.length === 0 ? null : letters.slice(0, codePoints).join("");
}
