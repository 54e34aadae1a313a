/** Configurations of telephony carriers. Credentials are sealed. */

import type { ConfiguredCarrier } from "@parley/schema";
import { sql } from "kysely";
import { lockAgents, UnknownAgentsError } from "../agents/agent-references.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface TelephonyConfig {
  /** What identifies the account at the carrier. */
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Empty where `allowAllAgents` is true. */
  readonly allowedAgentIds: readonly string[];
  readonly allowAllAgents: boolean;
  readonly requestContextMapping: Readonly<Record<string, string>>;
}

/** By carrier. */
export type TelephonyConfigs = Readonly<Partial<Record<ConfiguredCarrier, TelephonyConfig>>>;

const configColumns = selectList("telephony_configs", {
  carrier: "carrier",
  settings: "settings",
  sealedSecrets: "sealed_secrets",
  allowedAgentIds: "allowed_agent_ids",
  allowAllAgents: "allow_all_agents",
  requestContextMapping: "request_context_mapping",
});

export async function readTelephonyConfigs(db: Db, accountId: string): Promise<TelephonyConfigs> {
  const read = await sql<Selected<typeof configColumns>>`
    select ${configColumns} from telephony_configs where account_id = ${accountId} order by carrier`.execute(
    db.query,
  );
  return Object.fromEntries(
    read.rows.map(({ carrier, sealedSecrets, ...rest }) => {
      const opened = db.sealer.open(sealedSecrets, telephonyContext(accountId, carrier));
      return [carrier, { ...rest, secrets: JSON.parse(opened) as Record<string, string> }];
    }),
  );
}

/**
 * Stores the configurations that `decide` returns: null removes one, absent ones stay. Changes of one account run one
 * after the other. When `decide` throws, nothing is changed.
 * @returns the configurations afterwards.
 * @throws UnknownAgentsError
 */
export async function changeTelephonyConfigs(
  db: Db,
  accountId: string,
  decide: (present: TelephonyConfigs) => Readonly<Partial<Record<ConfiguredCarrier, TelephonyConfig | null>>>,
): Promise<TelephonyConfigs> {
  return inTransaction(db, async (tx) => {
    // The account's row is locked, because a configuration may not have a row yet.
    await sql`select id from accounts where id = ${accountId} for no key update`.execute(tx.query);
    const present = await readTelephonyConfigs(tx, accountId);
    const decided = decide(present);
    const named = idsIn(decided);
    const held = await lockAgents(tx, accountId, named);
    const before = new Set(idsIn(present));
    const unknown = named.filter((agentId) => !held.has(agentId) && !before.has(agentId));
    if (unknown.length > 0) throw new UnknownAgentsError(unknown);
    for (const [carrier, config] of Object.entries(decided)) {
      if (config === null) await remove(tx, accountId, carrier);
      else {
        // An agent may have been deleted since the list was read.
        const allowedAgentIds = config.allowedAgentIds.filter((agentId) => held.has(agentId));
        await write(tx, accountId, carrier, { ...config, allowedAgentIds });
      }
    }
    return readTelephonyConfigs(tx, accountId);
  });
}

function idsIn(configs: Readonly<Record<string, TelephonyConfig | null>>): string[] {
  return [...new Set(Object.values(configs).flatMap((config) => config?.allowedAgentIds ?? []))];
}

/** For the deletion of an agent. */
export async function dropAgentFromTelephony(tx: Db, accountId: string, agentId: string): Promise<void> {
  await sql`
    update telephony_configs set allowed_agent_ids = array_remove(allowed_agent_ids, ${agentId}::uuid)
    where account_id = ${accountId} and ${agentId}::uuid = any(allowed_agent_ids)`.execute(tx.query);
}

async function remove(tx: Db, accountId: string, carrier: string): Promise<void> {
  await sql`delete from telephony_configs where account_id = ${accountId} and carrier = ${carrier}`.execute(
    tx.query,
  );
}

async function write(tx: Db, accountId: string, carrier: string, config: TelephonyConfig): Promise<void> {
  const sealed = tx.sealer.seal(toJsonText(config.secrets), telephonyContext(accountId, carrier));
  await sql`
    insert into telephony_configs (account_id, carrier, settings, sealed_secrets, allowed_agent_ids, allow_all_agents,
      request_context_mapping)
    values (${accountId}, ${carrier}, ${toJsonText(config.settings)}, ${sealed}, ${[...config.allowedAgentIds]}::uuid[],
      ${config.allowAllAgents}, ${toJsonText(config.requestContextMapping)})
    on conflict (account_id, carrier) do update set settings = excluded.settings,
      sealed_secrets = excluded.sealed_secrets, allowed_agent_ids = excluded.allowed_agent_ids,
      allow_all_agents = excluded.allow_all_agents,
      request_context_mapping = excluded.request_context_mapping`.execute(tx.query);
}

/** Binds the sealed secrets to their row. */
export function telephonyContext(accountId: string, carrier: string): string {
  return `telephony_configs:${accountId}:${carrier}`;
}
