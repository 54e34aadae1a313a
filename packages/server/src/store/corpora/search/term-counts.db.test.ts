import { sql } from "kysely";
import { expect, it } from "vitest";
import { loadCorpus } from "../../testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../../testing/databases.ts";
import { openTermCounts } from "./term-counts.ts";

const MOST_COUNTED = 3;

describeOnBothDatabases("the counts of common words", (current) => {
  it("are remembered until a part of the corpus has changed, or its size", async () => {
    const { db } = current();
    const chunks = Array.from({ length: 20 }, () => "Dogs bark.");
    const { corpusId } = await loadCorpus(db, await newAccount(db), [{ chunks }]);
    let ms = 0;
    const counts = openTermCounts(
      {
        mostCounted: MOST_COUNTED,
        conditionOf: (id, { lexemes }) => sql`corpus_id = ${id} and text ilike ${`%${lexemes[0] ?? ""}%`}`,
      },
      () => ms,
    );
    const read = async (size: { readonly chunks: number; readonly changed: number }) =>
      (await counts.read(db, corpusId, [{ lexemes: ["dog"] }], size))[0];
    const replace = (text: string) =>
      sql`update corpus_chunks set text = ${text} where corpus_id = ${corpusId}`.execute(db.query);
    expect(await read({ chunks: 20, changed: 20 })).toBe(MOST_COUNTED);
    await replace("Cats sleep.");
    // One or two chunks that came or went change little.
    expect(await read({ chunks: 21, changed: 22 })).toBe(MOST_COUNTED);
    expect(await read({ chunks: 20, changed: 23 })).toBe(0);
    await replace("Dogs bark.");
    // What was not common is counted each time.
    expect(await read({ chunks: 20, changed: 23 })).toBe(MOST_COUNTED);
    await replace("Cats sleep.");
    expect(await read({ chunks: 17, changed: 23 })).toBe(0);
    await replace("Dogs bark.");
    expect(await read({ chunks: 20, changed: 23 })).toBe(MOST_COUNTED);
    await replace("Cats sleep.");
    expect(await read({ chunks: 20, changed: 23 })).toBe(MOST_COUNTED);
    ms += 600_001;
    expect(await read({ chunks: 20, changed: 23 })).toBe(0);
  });
});
