/**
 * Cursors of paged lists (D23): the position where a page starts, signed together with the list it was made for. A
 * cursor that was altered, or used on another list, by another account or with other filters, is refused.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { validationError } from "@parley/schema";
import type { PagePosition } from "../../store/database/page.ts";
import { deriveKey } from "../../store/secrets/secrets.ts";

/** The list that a cursor is valid for. */
export interface CursorScope {
  readonly path: string;
  readonly accountId: string;
  /** All parsed query values except `cursor` and `pageSize`; the sort is one of them. */
  readonly filters: Readonly<Record<string, unknown>>;
}

/** Bytes used of the 32 of SHA-256; 128 bits cannot be guessed and keep the URL short. */
const SIGNATURE_BYTES = 16;
/** Longest cursor that is parsed: a sort value is at most a name of 64 characters. */
const MAX_CURSOR_LENGTH = 1024;

export interface CursorSigner {
  readonly write: (position: PagePosition, scope: CursorScope) => string;
  /** Throws ApiError (400) for anything that `write` did not make for this scope. */
  readonly read: (text: string, scope: CursorScope) => PagePosition;
}

type Payload =
  readonly [PagePosition["direction"], string | number, string] | readonly [PagePosition["direction"]];

/** `secretsKey` is the deployment's key. A separate key is derived, so that a cursor reveals nothing about others. */
export function cursorSigner(secretsKey: Uint8Array): CursorSigner {
  const key = deriveKey(secretsKey, "list cursors");
  const sign = (payload: string, scope: CursorScope): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([scope.path, scope.accountId, sortedEntries(scope.filters), payload]))
      .digest()
      .subarray(0, SIGNATURE_BYTES);

  return {
    write: ({ direction, after }, scope) => {
      const content: Payload = after === null ? [direction] : [direction, after.sortValue, after.id];
      const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
      return `${payload}.${sign(payload, scope).toString("base64url")}`;
    },
    read: (text, scope) => {
      const [payload = "", signature = "", ...rest] = text.slice(0, MAX_CURSOR_LENGTH + 1).split(".");
      const given = Buffer.from(signature, "base64url");
      const good =
        text.length <= MAX_CURSOR_LENGTH &&
        rest.length === 0 &&
        given.length === SIGNATURE_BYTES &&
        // A last letter whose unused bits were altered decodes to the same bytes.
        given.toString("base64url") === signature &&
        timingSafeEqual(given, sign(payload, scope));
      if (!good) throw validationError([{ field: "cursor", message: "is not a cursor of this list" }]);
      // Only what `write` signed gets here.
      const [direction, sortValue, id] = JSON.parse(Buffer.from(payload, "base64url").toString()) as Payload;
      return {
        direction,
        after: sortValue === undefined || id === undefined ? null : { sortValue, id },
      };
    },
  };
}

function sortedEntries(filters: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
