/** An account with an agent and the configurations of all carriers, whose fakes run on this machine. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import type { CarrierSubject } from "../../ports/testing/carriers-conformance.ts";
import type { Carriers } from "../../ports/carriers.ts";
import { openFakePlivo } from "../../providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../../providers/carriers/testing/fake-telnyx.ts";
import { openFakeTwilio } from "../../providers/carriers/testing/fake-twilio.ts";
import { createAgent } from "../../store/agents/agents.ts";
import { insertCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { changeTelephonyConfigs, type TelephonyConfig } from "../../store/telephony/telephony-configs.ts";
import { newCall } from "../../store/testing/calls.ts";
import { newAccount } from "../../store/testing/databases.ts";

export const PUBLIC_URL = "https://voice.example";
export const NUMBERS = { to: "+4930123456", from: "+4930654321" } as const;

export type Fakes = Readonly<Record<ConfiguredCarrier, CarrierSubject>>;

export async function openFakes(): Promise<Fakes> {
  const [telephony1, telephony2, telephony3] = await Promise.all([
    openFakeTwilio(),
    openFakeTelnyx(),
    openFakePlivo(),
  ]);
  return { telephony1, telephony2, telephony3 };
}

export function carriersOf({ telephony1, telephony2, telephony3 }: Fakes): Carriers {
  return {
    telephony1: telephony1.carrier,
    telephony2: telephony2.carrier,
    telephony3: telephony3.carrier,
  };
}

/** The account's configuration of every carrier, which may call all agents; `changes` win. */
export async function configureCarriers(
  db: Db,
  fakes: Fakes,
  changes: Partial<TelephonyConfig> = {},
  accountId?: string,
): Promise<{ readonly accountId: string; readonly agentId: string }> {
  const owner = accountId ?? (await newAccount(db));
  const agent = await createAgent(db, owner, { name: "phone", callTemplate: null });
  const configs = CONFIGURED_CARRIERS.map((carrier) => {
    const { settings, secrets } = fakes[carrier].account;
    const permissions = { allowedAgentIds: [], allowAllAgents: true, requestContextMapping: {} };
    return [carrier, { settings, secrets, ...permissions, ...changes }] as const;
  });
  await changeTelephonyConfigs(db, owner, () => Object.fromEntries(configs));
  return { accountId: owner, agentId: agent.agentId };
}

/** A call that the service dials: stored, and not run. */
export async function storeDialledCall(
  db: Db,
  accountId: string,
  carrier: ConfiguredCarrier = "telephony1",
): Promise<{ readonly callId: string; readonly joinToken: string }> {
  const settings = { systemPrompt: "Say hello.", medium: { [carrier]: { outgoing: NUMBERS } } };
  const call = newCall({ mediumKind: carrier, settings });
  await insertCall(db, accountId, call);
  return { callId: call.callId, joinToken: call.joinToken ?? "" };
}
