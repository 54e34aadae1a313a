/** What the record of a call over SIP says about how others can be called in its place. */

import type { TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import { getPriorCall } from "../../../store/calls/prior-calls.ts";
import { getCall } from "../../../store/calls/calls.ts";
import type { Db } from "../../../store/database/db.ts";
import type { SipCredentialValues, SipTransferGround } from "./sip-transfer-order.ts";

/** Null: there is no such call any more. */
export async function readSipGround(
  db: Db,
  sipHost: string,
  { owner, peerUri }: Pick<TransferableCall, "owner" | "peerUri">,
): Promise<SipTransferGround | null> {
  const { accountId, callId } = owner;
  const [call, opened] = [await getCall(db, accountId, callId), await getPriorCall(db, accountId, callId, 0)];
  if (call === null || opened === null) return null;
  const medium = objectIn(objectIn(opened.settings["medium"])["sip"]);
  const outgoing = medium["outgoing"] === undefined ? null : objectIn(medium["outgoing"]);
  const called = textIn(objectIn(call.requestContext?.["sip"]), "toUri");
  return {
    peerUri,
    ownAddress: outgoing === null ? userOf(called) : textIn(outgoing, "from"),
    credentials: outgoing === null ? null : credentialsIn(outgoing),
    domain: `${accountId}.${sipHost}`,
  };
}

function credentialsIn(outgoing: Readonly<Record<string, unknown>>): SipCredentialValues | null {
  const username = textIn(outgoing, "username");
  return username === null ? null : { username, password: textIn(outgoing, "password") ?? "" };
}

/** The number or the name that was called. */
function userOf(uri: string | null): string | null {
  const user = /^sips?:([^@;?]+)@/i.exec(uri ?? "")?.[1] ?? null;
  try {
    return user === null ? null : decodeURIComponent(user);
  } catch {
    return user;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

function textIn(object: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = object[name];
  return typeof value === "string" && value !== "" ? value : null;
}
