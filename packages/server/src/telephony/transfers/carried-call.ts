/** The carrier's call that a call of the service runs over. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import type { CarrierAccount, Carriers } from "../../ports/carriers.ts";
import { getCall, type CallRow } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { getDial } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";

export interface CarriedCall {
  readonly carrier: ConfiguredCarrier;
  readonly account: CarrierAccount;
  readonly carrierCallId: string;
  /** The service's number; null: unknown. */
  readonly ownNumber: string | null;
  readonly languageHint: string | null;
}

/** `problem` ends a sentence that begins with "The tool failed:". */
export async function carriedCallOf(
  db: Db,
  carriers: Carriers,
  { accountId, callId }: { readonly accountId: string; readonly callId: string },
): Promise<CarriedCall | { readonly problem: string }> {
  const call = await getCall(db, accountId, callId);
  if (call === null) return { problem: "the call does not exist" };
  const carrier = CONFIGURED_CARRIERS.find((name) => name === call.mediumKind);
  if (carrier === undefined) return { problem: `calls over ${call.mediumKind} cannot be transferred` };
  const account = (await readTelephonyConfigs(db, accountId))[carrier];
  if (account === undefined) {
    return { problem: `the account has no configuration of ${carrier}, with which the call is transferred` };
  }
  const fields = announcedFields(call, carrier);
  const dial = await getDial(db, callId);
  const carrierCallId = dial?.carrierCallId ?? carriers[carrier].readCallId(fields);
  if (carrierCallId === null) {
    return { problem: "the carrier's id of the call is not known, so the call cannot be transferred" };
  }
  const ownNumber = dial === null ? (fields.get("To") ?? null) : dialledFrom(call, carrier);
  return { carrier, account, carrierCallId, ownNumber, languageHint: textIn(call.settings, "languageHint") };
}

/** The fields of the webhook that has announced an incoming call. */
function announcedFields(
  { requestContext }: CallRow,
  carrier: ConfiguredCarrier,
): ReadonlyMap<string, string> {
  const announced = Object(requestContext?.[carrier]) as Readonly<Record<string, unknown>>;
  const fields = Object.entries(announced).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return new Map(fields);
}

function dialledFrom({ settings }: CallRow, carrier: ConfiguredCarrier): string | null {
  return textIn(settings, "medium", carrier, "outgoing", "from");
}

function textIn(document: Readonly<Record<string, unknown>>, ...path: readonly string[]): string | null {
  let value: unknown = document;
  for (const step of path) value = (Object(value) as Readonly<Record<string, unknown>>)[step];
  return typeof value === "string" && value !== "" ? value : null;
}
