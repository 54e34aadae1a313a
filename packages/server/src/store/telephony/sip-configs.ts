/** Rules for incoming SIP calls. Accounts without a row have the defaults. */

import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { lockAgents, UnknownAgentsError } from "../agents/agent-references.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import type { SipAllowedAgent } from "../database/tables/telephony.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface SipConfigRow {
  readonly allowedCidrRanges: readonly string[];
  readonly allowAllAgents: boolean;
  readonly allowedAgents: readonly SipAllowedAgent[];
  readonly fallbackHandler: { readonly url: string; readonly secrets: readonly string[] } | null;
}

/** An absent member stays as it is. A handler without secrets keeps the stored ones, or gets a generated one. */
export interface SipConfigChange {
  readonly allowedCidrRanges?: readonly string[] | undefined;
  readonly allowAllAgents?: boolean | undefined;
  readonly allowedAgents?: readonly SipAllowedAgent[] | undefined;
  readonly fallbackHandler?:
    { readonly url: string; readonly secrets?: readonly string[] | undefined } | null | undefined;
}

const configColumns = selectList("sip_configs", {
  allowedCidrRanges: "allowed_cidr_ranges",
  allowAllAgents: "allow_all_agents",
  allowedAgents: "allowed_agents",
  fallbackUrl: "fallback_url",
  sealedFallbackSecrets: "sealed_fallback_secrets",
});

const DEFAULTS: SipConfigRow = {
  allowedCidrRanges: [],
  allowAllAgents: false,
  allowedAgents: [],
  fallbackHandler: null,
};

const SECRET_BYTES = 32;

export async function readSipConfig(db: Db, accountId: string): Promise<SipConfigRow> {
  const read = await sql<Selected<typeof configColumns>>`${preparedStatement}
    select ${configColumns} from sip_configs where account_id = ${accountId}`.execute(db.query);
  const columns = read.rows[0];
  if (columns === undefined) return DEFAULTS;
  const { fallbackUrl: url, sealedFallbackSecrets: secrets, ...rest } = columns;
  if (url === null || secrets === null) return { ...rest, fallbackHandler: null };
  const opened = JSON.parse(db.sealer.open(secrets, sipConfigContext(accountId))) as string[];
  return { ...rest, fallbackHandler: { url, secrets: opened } };
}

/** @throws UnknownAgentsError */
export async function changeSipConfig(
  db: Db,
  accountId: string,
  change: SipConfigChange,
): Promise<SipConfigRow> {
  return inTransaction(db, async (tx) => {
    // The account's row is locked, because the configuration may not have a row yet.
    await sql`select id from accounts where id = ${accountId} for no key update`.execute(tx.query);
    const present = await readSipConfig(tx, accountId);
    const listed = change.allowedAgents ?? present.allowedAgents;
    const named = [...new Set(listed.map(({ agentId }) => agentId))];
    const held = await lockAgents(tx, accountId, named);
    const unknown = named.filter((agentId) => !held.has(agentId));
    if (change.allowedAgents !== undefined && unknown.length > 0) throw new UnknownAgentsError(unknown);
    const changed: SipConfigRow = {
      allowedCidrRanges: change.allowedCidrRanges ?? present.allowedCidrRanges,
      allowAllAgents: change.allowAllAgents ?? present.allowAllAgents,
      // An agent may have been deleted since its entry was read.
      allowedAgents: listed.filter(({ agentId }) => held.has(agentId)),
      fallbackHandler: handlerAfter(present, change.fallbackHandler),
    };
    await write(tx, accountId, changed);
    return changed;
  });
}

function handlerAfter(
  present: SipConfigRow,
  handler: SipConfigChange["fallbackHandler"],
): SipConfigRow["fallbackHandler"] {
  if (handler === undefined) return present.fallbackHandler;
  if (handler === null) return null;
  const made = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
  return { url: handler.url, secrets: handler.secrets ?? present.fallbackHandler?.secrets ?? [made] };
}

/** For the deletion of an agent. */
export async function dropAgentFromSip(tx: Db, accountId: string, agentId: string): Promise<void> {
  await sql`
    update sip_configs set allowed_agents = (
      select coalesce(jsonb_agg(entry order by place), '[]'::jsonb)
      from jsonb_array_elements(allowed_agents) with ordinality as listed (entry, place)
      where entry ->> 'agentId' <> ${agentId}::text)
    where account_id = ${accountId}`.execute(tx.query);
}

async function write(tx: Db, accountId: string, config: SipConfigRow): Promise<void> {
  const { allowedCidrRanges, allowAllAgents, allowedAgents, fallbackHandler: handler } = config;
  const sealed =
    handler === null ? null : tx.sealer.seal(toJsonText([...handler.secrets]), sipConfigContext(accountId));
  await sql`
    insert into sip_configs (account_id, allowed_cidr_ranges, allow_all_agents, allowed_agents, fallback_url,
      sealed_fallback_secrets)
    values (${accountId}, ${toJsonText([...allowedCidrRanges])}, ${allowAllAgents}, ${toJsonText([...allowedAgents])},
      ${handler === null ? null : toStorableText(handler.url)}, ${sealed})
    on conflict (account_id) do update set allowed_cidr_ranges = excluded.allowed_cidr_ranges,
      allow_all_agents = excluded.allow_all_agents, allowed_agents = excluded.allowed_agents,
      fallback_url = excluded.fallback_url, sealed_fallback_secrets = excluded.sealed_fallback_secrets`.execute(
    tx.query,
  );
}

/** Binds the sealed secrets to their row. */
export function sipConfigContext(accountId: string): string {
  return `sip_configs:${accountId}`;
}
