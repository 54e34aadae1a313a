/** Transcripts for `bench:call-search`, made by the database itself for the calls of `rest-data.ts`. */

import type { Client } from "pg";

/** As in the migration and in `index-texts.ts`. */
const CALLS_PER_SPAN = 10_000;
/** Different words of all calls. The share of calls with a word falls with its rank, as in speech. */
const VOCABULARY = 30_000;
/** Words of a call, of which some repeat: five minutes of speech. */
const WORDS_OF_CALL = 150;
const CALLS_PER_STATEMENT = 50_000;

/** One in this many calls has the word. */
export const WORDS = {
  everywhere: 1,
  second: 2,
  hundredth: 100,
  thousandth: 1_000,
  rarest: 20_000,
} as const;
/** The word of all calls of the oldest fifth, and of no others. */
export const LONG_AGO = "longago";

/** Updates statistics and the visibility map as a server's autovacuum does. */
export async function addTexts(client: Client, indexMemoryMb: number): Promise<void> {
  await client.query(
    `set maintenance_work_mem to '${String(indexMemoryMb)}MB'; drop index call_texts_by_words`,
  );
  // One call in fifty has errors.
  await client.query("update calls set has_errors = true where substr(id::text, 1, 3) < '052'");
  await client.query(`
    insert into call_text_spans (account_id, starts_at)
    select account_id, case when part = 0 then to_timestamp(0) else min(created_at) end from (
      select account_id, created_at,
        (row_number() over (partition by account_id order by created_at) - 1) / ${String(CALLS_PER_SPAN)} as part
      from calls
    ) as parts group by account_id, part;
    create temp table numbered as
    select id, row_number() over (partition by account_id order by created_at, id) as n,
      row_number() over () as place, count(*) over (partition by account_id) as calls
    from calls where joined_at is not null;
    create unique index on numbered (place); analyze numbered; analyze call_text_spans`);
  const counted = await client.query<{ calls: string }>("select count(*) as calls from numbered");
  const calls = Number(counted.rows[0]?.calls ?? 0);
  for (let from = 0; from < calls; from += CALLS_PER_STATEMENT) {
    await client.query(insertTexts(from, from + CALLS_PER_STATEMENT));
    process.stderr.write(
      `${String(Math.min(calls, from + CALLS_PER_STATEMENT))} of ${String(calls)} transcripts\n`,
    );
  }
  await client.query(
    "create index call_texts_by_words on call_texts using gin (words) with (fastupdate = off); drop table numbered",
  );
  for (const table of ["calls", "call_texts", "call_text_spans"]) {
    await client.query(`vacuum (analyze) ${table}`);
  }
}

function insertTexts(from: number, to: number): string {
  const marked = Object.entries(WORDS).map(
    ([word, every]) => `case when n % ${String(every)} = 0 then '${word}' end`,
  );
  return `
    insert into call_texts (call_id, account_id, span_id, created_at, words, first_words, median_reply_ms)
    select made.id, account_id, span_id, created_at, array_to_tsvector(array(
        select distinct span_id || '.' || word from (
          select 'w' || floor(exp(random() * ln(${String(VOCABULARY)}))) as word
          from generate_series(1, ${String(WORDS_OF_CALL)}) where made.n > 0
          union all
          select unnest(array[${marked.join(", ")},
            case when n * 5 < calls then '${LONG_AGO}' end, case when n % 2 = 1 then 'odd' end,
            '@a' || agent_id, '@e' || end_reason])
        ) as words where word is not null)),
      'Good morning, I would like to change my booking.', 700 + n % 400
    from (
      select calls.id, account_id, created_at, agent_id, end_reason, n, numbered.calls, (
        select id from call_text_spans as span
        where span.account_id = calls.account_id and starts_at <= created_at
        order by starts_at desc limit 1) as span_id
      from numbered join calls on calls.id = numbered.id
      where place > ${String(from)} and place <= ${String(to)}
    ) as made order by created_at`;
}
