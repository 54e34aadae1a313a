/** Accounts, agents and calls for `bench:rest`, made by the database itself in a minute or two. */

import { randomUUID } from "node:crypto";
import type { Client } from "pg";

export interface SeedSize {
  /** Calls of the measured account. */
  readonly calls: number;
  readonly agents: number;
  /** Other accounts, each with a twentieth of that. */
  readonly otherAccounts: number;
  /** Memory that the database may use to build an index. */
  readonly indexMemoryMb: number;
}

/** One in this many calls of the measured account has the text of the search for a rare text. */
export const RARE_EVERY = 20_000;
/** Values of the metadata key `campaign`. */
export const CAMPAIGNS = 500;

const ROWS_PER_STATEMENT = 100_000;
/** Texts of summaries; each call takes two of them. */
const SENTENCES = 4_000;
const SENTENCE_WORDS = 14;
const WORDS = (
  "account address agent answer appointment asked balance bill booked booking breakfast caller cancelled card change " +
  "charge checked city confirmed customer date day delivery delayed doctor double driver evening family flight form " +
  "gave guest help hotel hour insurance invoice issue late line luggage manager meeting message minutes moved name " +
  "needed night number offer office opened order package parking password payment person phone plan policy price " +
  "problem product question quote received refund reminder replaced request reservation return room sent service " +
  "shipment single store street support table technician ticket time today tomorrow train transfer travel visit " +
  "voucher waiting wanted week window wrong zone"
).split(" ");

/** Records that requests name. */
export interface Seeded {
  readonly accountId: string;
  readonly agentIds: readonly string[];
  readonly callIds: readonly string[];
  /** The call in the middle of the list by creation. */
  readonly middle: { readonly createdAt: string; readonly callId: string };
}

/** Updates statistics and the visibility map as a server's autovacuum does. */
export async function seed(client: Client, size: SeedSize): Promise<Seeded> {
  const account = await client.query<{ id: string }>("select id from accounts where is_default");
  const accountId = account.rows[0]?.id ?? "";
  await prepare(client, size);
  await seedAccount(client, accountId, size.agents, size.calls);
  for (let index = 1; index <= size.otherAccounts; index += 1) {
    const id = randomUUID();
    await client.query(`insert into accounts (id, name, created_at) values ('${id}', 'other', now())`);
    await seedAccount(client, id, Math.ceil(size.agents / 20), Math.ceil(size.calls / 20));
  }
  await client.query(searchIndexes);
  for (const table of ["calls", "agents", "agent_revisions"]) await client.query(`vacuum (analyze) ${table}`);
  const idsOf = async (table: string): Promise<string[]> => {
    const read = await client.query<{ id: string }>(
      `select id from ${table} where account_id = '${accountId}' order by id limit ${String(NAMED_RECORDS)}`,
    );
    return read.rows.map((row) => row.id);
  };
  const middle = await client.query<{ created: string; id: string }>(`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created, id from calls
    where account_id = '${accountId}' order by created_at, id offset ${String(Math.floor(size.calls / 2))} limit 1`);
  return {
    accountId,
    agentIds: await idsOf("agents"),
    callIds: await idsOf("calls"),
    middle: { createdAt: middle.rows[0]?.created ?? "", callId: middle.rows[0]?.id ?? "" },
  };
}

/** Agents and calls that requests name, one after the other. */
const NAMED_RECORDS = 500;

/** The indexes of the migration; rebuilding them after the rows takes a tenth of the time. */
const searchIndexes = `
  create index calls_by_text on calls using gin (search_text gin_trgm_ops)
    with (fastupdate = off) where ended_at is not null;
  create index calls_by_metadata on calls using gin (metadata jsonb_path_ops)
    with (fastupdate = off) where ended_at is not null;`;

const words = `'{${WORDS.join(",")}}'::text[]`;

/** Uniform over 0 … below - 1, and the same in every run. */
const spread = (number: string, below: number): string =>
  `((hashint4(${number}) & 1048575) % ${String(below)})`;

async function prepare(client: Client, size: SeedSize): Promise<void> {
  await client.query(
    `set jit to off; set synchronous_commit to off; set maintenance_work_mem to '${String(size.indexMemoryMb)}MB'`,
  );
  await client.query("drop index calls_by_text; drop index calls_by_metadata");
  await client.query(`
    create temp table sentences as
    select n, (select string_agg((${words})[1 + ${spread("n * 31 + place", WORDS.length)}], ' ')
      from generate_series(1, ${String(SENTENCE_WORDS)}) as place) || '.' as text
    from generate_series(0, ${String(SENTENCES - 1)}) as n;
    create unique index on sentences (n)`);
}

async function seedAccount(client: Client, accountId: string, agents: number, calls: number): Promise<void> {
  await client.query(`
    create temp table seeded_agents as select n, gen_random_uuid() as id, gen_random_uuid() as revision_id,
      'Agent ' || n || ' ' || (${words})[1 + n % ${String(WORDS.length)}] as name
    from generate_series(0, ${String(agents - 1)}) as n;
    create unique index on seeded_agents (n);
    insert into agents (id, account_id, name, name_key, created_at, published_revision_id)
    select id, '${accountId}', name, lower(name), now() - make_interval(secs => n), revision_id from seeded_agents;
    insert into agent_revisions (id, agent_id, account_id, name, call_template, created_at)
    select revision_id, id, '${accountId}', name, ${settingsOf("name")}, now() - make_interval(secs => n)
    from seeded_agents;
    analyze seeded_agents; analyze sentences`);
  for (let from = 0; from < calls; from += ROWS_PER_STATEMENT) {
    await client.query(
      insertCalls({ accountId, from, to: Math.min(calls, from + ROWS_PER_STATEMENT), calls, agents }),
    );
  }
  await client.query("drop table seeded_agents");
}

/** About 1.2 kB of JSON, as a call or an agent with a prompt and a few settings has it. */
function settingsOf(name: string): string {
  return `json_build_object('systemPrompt', 'You are ' || ${name} || '. ' ||
    repeat('You answer the telephone of a small hotel, kindly and briefly. ', 15),
    'temperature', 0, 'languageHint', 'en', 'maxDuration', '3600s', 'recordingEnabled', false,
    'medium', json_build_object('serverWebSocket', json_build_object('inputSampleRate', 16000)),
    'vadSettings', json_build_object('turnEndpointDelay', '0.384s', 'minimumTurnDuration', '0s'))`;
}

interface CallsToInsert {
  readonly accountId: string;
  /** Range of the calls' numbers, the second exclusive; the oldest is 0. */
  readonly from: number;
  readonly to: number;
  /** All calls of the account: they are spread over a year. */
  readonly calls: number;
  readonly agents: number;
}

function insertCalls({ accountId, from, to, calls, agents }: CallsToInsert): string {
  const age = `make_interval(secs => (${String(calls)} - n) * ${String((365 * 86_400) / calls)})`;
  return `
    insert into calls (id, account_id, agent_id, agent_revision_id, node_id, created_at, join_deadline_at, joined_at,
      ended_at, end_reason, medium_kind, settings, sealed_plan, metadata, search_text, duration_ms, billed_duration_ms,
      billing_status, short_summary, summary)
    select gen_random_uuid(), '${accountId}', agent.id, agent.revision_id, 'seed', created, created + interval '30 s',
      case when ms > 0 then created + interval '2 s' end, created + interval '2 s' + ms * interval '1 ms',
      case when ms = 0 then 'unjoined' when made.n % 10 = 0 then 'timeout' when made.n % 3 = 0 then 'agent_hangup'
        else 'hangup' end,
      'serverWebSocket', ${settingsOf("agent.name")}, repeat(md5(made.n::text), 8),
      jsonb_build_object('env', env, 'campaign', campaign, 'order', 'order-' || made.n),
      translate(left('${accountId}', 3), '0123456789abcdef', 'bcdfghjkmpqtvwxz')
        || chr(1) || concat_ws(chr(1), env, campaign, 'order-' || made.n, one.text, one.text || ' ' || two.text || rare),
      ms, (ms + 5999) / 6000 * 6000, case when ms = 0 then 'FREE_ZERO_EFFECTIVE_DURATION' else 'BILLED' end,
      one.text, one.text || ' ' || two.text || rare
    from (
      select n, now() - ${age} as created, case when n % 20 = 0 then 0 else ${spread("n", 900_000)} end as ms,
        case when n % 10 = 0 then 'staging' else 'production' end as env,
        'campaign-' || ${spread("n + 7", CAMPAIGNS)} as campaign,
        case when n % ${String(RARE_EVERY)} = 7 then ' xylophone' else '' end as rare
      from generate_series(${String(from)}, ${String(to - 1)}) as n
    ) as made
    join seeded_agents as agent on agent.n = ${spread("made.n + 3", agents)}
    join sentences as one on one.n = ${spread("made.n + 1", SENTENCES)}
    join sentences as two on two.n = ${spread("made.n + 2", SENTENCES)}
    order by made.n`;
}
