/** Slows down clients that try join tokens, before the database is asked. */

import type { FindJoinInput, JoinLookup } from "../../joins/api.ts";
import { clientOf, rateLimit, rateLimited } from "../api/rate-limit.ts";

/** Of one client at one call. Who has the URL of a call has no wrong token. */
export const WRONG_TOKENS_PER_CALL_PER_SECOND = 5;
/** Of one client at all calls: many callers may share an address, and some of their URLs are of ended calls. */
export const WRONG_TOKENS_PER_SECOND = 20;

/** @throws ApiError `rate_limited` */
export type FindClientJoin = (join: FindJoinInput, clientAddress: string) => Promise<JoinLookup>;

export function limitWrongTokens(
  findJoin: (join: FindJoinInput) => Promise<JoinLookup>,
  nowMs: () => number,
): FindClientJoin {
  const ofClients = rateLimit(WRONG_TOKENS_PER_SECOND);
  const ofCalls = rateLimit(WRONG_TOKENS_PER_CALL_PER_SECOND);
  return async (join, clientAddress) => {
    const client = clientOf(clientAddress);
    const clientAndCall = `${client} ${join.callId}`;
    const atMs = nowMs();
    const waitMs = Math.max(ofClients.peek(client, atMs), ofCalls.peek(clientAndCall, atMs));
    if (waitMs > 0) throw rateLimited("Too many wrong join URLs", waitMs);
    const found = await findJoin(join);
    if (found === "not_found") {
      ofClients.take(client, atMs);
      ofCalls.take(clientAndCall, atMs);
    }
    return found;
  };
}
