/** What accounts have decided about their calls over SIP. */

import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import type { SipRulesTable } from "../database/tables/telephony.ts";

export interface SipRules {
  /** What becomes of a REFER of the far side. */
  readonly incomingRefer: SipRulesTable["incoming_refer"];
  /** SRTP in calls that the service dials over TLS. */
  readonly dialledSrtp: SipRulesTable["dialled_srtp"];
}

const DEFAULTS: SipRules = { incomingRefer: "refuse", dialledSrtp: "required" };

export async function readSipRules(db: Db, accountId: string): Promise<SipRules> {
  const read = await sql<SipRules>`
    select incoming_refer as "incomingRefer", dialled_srtp as "dialledSrtp"
    from sip_rules where account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? DEFAULTS;
}

/** Absent members stay as they are, and null restores the default. Changes of one account run one after the other. */
export async function changeSipRules(
  db: Db,
  accountId: string,
  changed: { readonly [K in keyof SipRules]?: SipRules[K] | null | undefined },
): Promise<SipRules> {
  return inTransaction(db, async (tx) => {
    await sql`select id from accounts where id = ${accountId} for no key update`.execute(tx.query);
    const present = await readSipRules(tx, accountId);
    const after = <K extends keyof SipRules>(name: K): SipRules[K] => {
      const value = changed[name];
      return value === undefined ? present[name] : (value ?? DEFAULTS[name]);
    };
    const rules: SipRules = { incomingRefer: after("incomingRefer"), dialledSrtp: after("dialledSrtp") };
    await sql`
      insert into sip_rules (account_id, incoming_refer, dialled_srtp)
      values (${accountId}, ${rules.incomingRefer}, ${rules.dialledSrtp})
      on conflict (account_id) do update set incoming_refer = excluded.incoming_refer,
        dialled_srtp = excluded.dialled_srtp`.execute(tx.query);
    return rules;
  });
}
