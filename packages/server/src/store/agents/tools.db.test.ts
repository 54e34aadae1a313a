import { randomUUID } from "node:crypto";
import { BUILT_IN_TOOLS, type ToolSortOrder } from "@parley/schema";
import { type KyselyPlugin, sql } from "kysely";
import { expect, it } from "vitest";
import { insertCall } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { appendMessage } from "../calls/messages.ts";
import type { PageQuery } from "../database/page.ts";
import { MaskedValueError } from "../database/store-errors.ts";
import { newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { listToolHistory, listTools } from "./tool-list.ts";
import { createTools, deleteTool, findTools, getTool, replaceTool } from "./tools.ts";

const firstPage = { limit: 100, after: null, direction: "forward" } as const;
const secret = "static-header-secret";

function definition(changes: object = {}): object {
  return {
    description: "Looks up the Grüße.",
    http: { baseUrlPattern: "https://example.com/a", httpMethod: "GET" },
    staticParameters: [
      { name: "X-Key", location: "PARAMETER_LOCATION_HEADER", value: secret },
      { name: "page", location: "PARAMETER_LOCATION_QUERY", value: "seven" },
    ],
    ...changes,
  };
}

async function newTool(db: Db, accountId: string, name: string, createdAt?: string, changes?: object) {
  const [row] = await createTools(db, accountId, [{ name, definition: definition(changes) }]);
  if (row === undefined) throw new Error("no tool");
  if (createdAt !== undefined) {
    await sql`update tools set created_at = ${createdAt}::timestamptz where id = ${row.toolId}`.execute(
      db.query,
    );
  }
  return row.toolId;
}

async function names(db: Db, accountId: string, order: ToolSortOrder): Promise<string[]> {
  const { rows } = await listTools(db, accountId, {}, firstPage, order);
  return rows.map(({ name }) => name);
}

/** All rows, page by page, with `between` run after each page. */
async function allPages(
  db: Db,
  accountId: string,
  order: ToolSortOrder,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const found: string[] = [];
  let page: PageQuery | null = { limit: 2, after: null, direction: "forward" };
  while (page !== null) {
    const { rows, next } = await listTools(db, accountId, {}, page, order);
    found.push(...rows.map(({ name }) => name));
    page = next === null ? null : { ...next, limit: 2 };
    await between();
  }
  return found;
}

describeOnBothDatabases("tools", (current) => {
  it("are stored all or none, in several statements where they are long", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    let statements = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        if (node.kind === "InsertQueryNode") statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const counted: Db = { ...db, query: db.query.withPlugin(counting) };
    const long = (n: number) => ({
      name: `long ${n}`,
      definition: { modelToolName: `long-${n}`, description: "x".repeat(100_000), client: {} },
    });
    const many = Array.from({ length: 12 }, (_, n) => long(n));
    const rows = await createTools(counted, accountId, many);
    // Three have more than the 256 KiB of a statement.
    expect(statements).toBe(4);
    expect(rows.map(({ name }) => name)).toEqual(many.map(({ name }) => name));
    const last = await getTool(db, accountId, rows[11]?.toolId ?? "");
    expect(last?.definition).toMatchObject({ modelToolName: "long-11" });
    const masked = { name: "X-Key", location: "PARAMETER_LOCATION_HEADER", value: "stat…" };
    const refused = { name: "m", definition: { ...long(12).definition, staticParameters: [masked] } };
    await expect(createTools(db, accountId, [...many, refused])).rejects.toThrow(MaskedValueError);
    // The last statement fails, and takes the others with it.
    const twice = sql`create unique index only_here on tools (name) where name = 'long 99'`;
    await twice.execute(db.query);
    await expect(createTools(db, accountId, [...many, long(99), ...many, long(99)])).rejects.toThrow(
      "only_here",
    );
    await sql`drop index only_here`.execute(db.query);
    const stored = await sql<{ n: number }>`
      select count(*)::int as n from tools where account_id = ${accountId}`.execute(db.query);
    expect(stored.rows).toEqual([{ n: 12 }]);
  });

  it("stores secret headers sealed, shows them masked, and opens them for calls", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const toolId = await newTool(db, accountId, "look up");
    const shown = definition({
      staticParameters: [
        { name: "X-Key", location: "PARAMETER_LOCATION_HEADER", value: "stat…" },
        { name: "page", location: "PARAMETER_LOCATION_QUERY", value: "seven" },
      ],
    });
    expect(await getTool(db, accountId, toolId)).toMatchObject({
      toolId,
      name: "look up",
      ownership: "private",
      definition: shown,
    });
    const stored = await sql<{ row: string }>`
      select tools::text as row from tools where id = ${toolId}`.execute(db.query);
    expect(stored.rows[0]?.row).not.toContain(secret);
    const [known] = await findTools(db, accountId, { ids: [toolId], names: [] });
    expect(known).toEqual({
      toolId,
      name: "look up",
      own: true,
      builtIn: null,
      definition: definition(),
    });
    expect(JSON.stringify(await listTools(db, accountId, {}, firstPage))).not.toContain(secret);
  });

  it("restores the stored secret of a masked one, and refuses a masked one without a stored secret", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const toolId = await newTool(db, accountId, "look up");
    const row = await getTool(db, accountId, toolId);
    const renamed = await replaceTool(db, accountId, toolId, {
      name: "renamed",
      definition: { ...row?.definition },
    });
    expect(renamed).toMatchObject({ name: "renamed", createdAt: row?.createdAt });
    const [known] = await findTools(db, accountId, { ids: [], names: ["renamed"] });
    expect(known?.definition.staticParameters?.[0]?.value).toBe(secret);
    const masked = {
      name: "x",
      definition: { mcp: { serverUrl: "https://a.example", headers: { A: "Bear…" } } },
    };
    const failure = await createTools(db, accountId, [masked]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MaskedValueError);
    expect((failure as MaskedValueError).fields).toEqual(["definition.mcp.headers.A"]);
    await expect(replaceTool(db, accountId, toolId, masked)).rejects.toThrow(MaskedValueError);
  });

  it("hides the tools of another account from every function", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const toolId = await newTool(db, owner, "mine");
    expect(await getTool(db, stranger, toolId)).toBeNull();
    expect(await replaceTool(db, stranger, toolId, { name: "stolen", definition: definition() })).toBeNull();
    expect(await deleteTool(db, stranger, toolId)).toBe(false);
    expect(await findTools(db, stranger, { ids: [toolId], names: ["mine"] })).toEqual([]);
    expect((await listTools(db, stranger, { ownership: "private" }, firstPage)).total).toBe(0);
    expect(await getTool(db, owner, toolId)).toMatchObject({ name: "mine" });
    expect(await deleteTool(db, owner, toolId)).toBe(true);
    expect(await getTool(db, owner, toolId)).toBeNull();
  });

  it("finds private and public tools by exact name or id", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await newTool(db, accountId, "hangUp");
    await newTool(db, accountId, "HANGUP");
    const found = await findTools(db, accountId, {
      ids: [BUILT_IN_TOOLS[3]?.toolId ?? ""],
      names: ["hangUp"],
    });
    expect(found.map(({ name, own, builtIn }) => [name, own, builtIn])).toEqual([
      ["hangUp", true, null],
      ["hangUp", false, "hangUp"],
      ["queryCorpus", false, "queryCorpus"],
    ]);
  });

  it("lists in all six orders", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await newTool(db, accountId, "beta", "2026-02-01T00:00:00Z");
    await newTool(db, accountId, "Alpha", "2026-03-01T00:00:00Z");
    await newTool(db, accountId, "zulu", "2020-01-01T00:00:00Z");
    const own = ["Alpha", "beta", "zulu"];
    const publicByName = [
      "coldTransfer",
      "hangUp",
      "leaveVoicemail",
      "playDtmfSounds",
      "queryCorpus",
      "warmTransfer",
    ];
    const byDefault = await names(db, accountId, "default");
    expect(byDefault.slice(0, 3)).toEqual(own);
    expect(byDefault.slice(3).toSorted()).toEqual(publicByName);
    expect(await names(db, accountId, "display")).toEqual([...publicByName, ...own]);
    const alphabetic = ["Alpha", "beta", ...publicByName, "zulu"];
    expect(await names(db, accountId, "alphabetic")).toEqual(alphabetic);
    expect(await names(db, accountId, "reverseAlphabetic")).toEqual(alphabetic.toReversed());
    const chronologic = await names(db, accountId, "chronologic");
    expect([chronologic[0], ...chronologic.slice(-2)]).toEqual(["zulu", "beta", "Alpha"]);
    expect(await names(db, accountId, "reverseChronologic")).toEqual(chronologic.toReversed());
  });

  it("gives every tool exactly once when paged, also while others are made and deleted", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    for (const name of ["d", "b", "c", "a"]) await newTool(db, accountId, name);
    const orders = [
      "default",
      "display",
      "alphabetic",
      "reverseAlphabetic",
      "chronologic",
      "reverseChronologic",
    ];
    for (const order of orders as ToolSortOrder[]) {
      const before = await names(db, accountId, order);
      const made: string[] = [];
      const paged = await allPages(db, accountId, order, async () => {
        if (made.length < 3) made.push(await newTool(db, accountId, `new ${made.length}`));
      });
      expect([order, paged.filter((name) => !name.startsWith("new "))]).toEqual([order, before]);
      expect([order, new Set(paged).size]).toEqual([order, paged.length]);
      for (const toolId of made) await deleteTool(db, accountId, toolId);
    }
  });

  it("searches names and descriptions in any case, and filters by ownership", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await newTool(db, accountId, "Übersetzen");
    await newTool(db, accountId, "plain", undefined, { description: "100% sure" });
    const found = async (search: string, ownership?: "public" | "private") =>
      (await listTools(db, accountId, { search, ownership }, firstPage)).rows.map(({ name }) => name);
    expect(await found("ÜBER")).toEqual(["Übersetzen"]);
    expect(await found("GRÜSSE")).toEqual([]);
    expect(await found("grüße")).toEqual(["Übersetzen"]);
    expect(await found("0% S")).toEqual(["plain"]);
    expect(await found("phone menu")).toEqual(["playDtmfSounds"]);
    expect(await found("e", "private")).toEqual(expect.arrayContaining(["Übersetzen", "plain"]));
    expect(await found("phone menu", "private")).toEqual([]);
    const everybodys = await listTools(db, accountId, { ownership: "public" }, firstPage);
    expect(everybodys.total).toBe(6);
    expect(new Set(everybodys.rows.map(({ ownership }) => ownership))).toEqual(new Set(["public"]));
  });

  it("lists the account's calls that had a tool, with its failures in each", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const toolId = await newTool(db, accountId, "look up");
    const callTool = (name: string, id: string | null) => ({
      callToolId: randomUUID(),
      toolId: id,
      name,
      definition: {},
    });
    const call = newCall({ createdAtMs: 1_000 });
    const stage = { ...call.stage, tools: [callTool("find", toolId), callTool("other", null)] };
    await insertCall(db, accountId, { ...call, stage });
    const later = newCall({ createdAtMs: 2_000 });
    await insertCall(db, accountId, {
      ...later,
      stage: { ...later.stage, tools: [callTool("find", toolId)] },
    });
    await insertCall(db, accountId, newCall());
    const foreign = newCall();
    await insertCall(db, stranger, {
      ...foreign,
      stage: { ...foreign.stage, tools: [callTool("find", toolId)] },
    });
    const failed = { role: "tool_result", errorDetails: "timeout" } as const;
    const results = [
      newMessage(0, { ...failed, toolName: "find" }),
      newMessage(1, { ...failed, toolName: "other" }),
      newMessage(2, { role: "tool_result", toolName: "find" }),
      newMessage(3, { ...failed, toolName: "find" }),
    ];
    for (const message of results)
      await appendMessage(db, accountId, call.callId, call.stage.stageId, message);
    const history = await listToolHistory(db, accountId, toolId, firstPage);
    expect(history.total).toBe(2);
    expect(history.rows.map((row) => [row.call.callId, row.errorCount])).toEqual([
      [later.callId, 0],
      [call.callId, 2],
    ]);
  });
});
