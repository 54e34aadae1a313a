import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent, deleteAgent, getAgent, getAgentForCall, listAgents, updateAgent } from "./agents.ts";
import { MaskedValueError } from "../database/store-errors.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const firstPage = { limit: 10, after: null, direction: "forward" } as const;

const template = {
  systemPrompt: "You sell apples. Ä\u0000😀",
  temperature: 0.30000000000000004,
  sharedSecrets: ["shared-secret-0123456789"],
  medium: { sip: { outgoing: { to: "sip:a@example.com", username: "u", password: "sip-password-1" } } },
  dataConnection: { websocketUrl: "wss://example.com", headers: { Authorization: "Bearer header-secret" } },
  externalVoice: { generic: { url: "https://example.com", headers: { "X-Key": "voice-header-secret" } } },
  selectedTools: [
    { toolName: "a", authTokens: { key: "auth-token-secret" } },
    {
      temporaryTool: {
        modelToolName: "b",
        http: { baseUrlPattern: "https://example.com", httpMethod: "GET" },
        staticParameters: [
          { name: "X-Api-Key", location: "PARAMETER_LOCATION_HEADER", value: "static-header-secret" },
          { name: "page", location: "PARAMETER_LOCATION_QUERY", value: "seven" },
        ],
      },
    },
  ],
};

const plaintexts = [
  "shared-secret-0123456789",
  "sip-password-1",
  "Bearer header-secret",
  "voice-header-secret",
  "auth-token-secret",
  "static-header-secret",
];

describeOnBothDatabases("agents", (current) => {
  it("returns what was created, secrets masked or left out", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createAgent(db, accountId, { name: "Apples", callTemplate: template });
    const read = await getAgent(db, accountId, created.agentId);
    expect(read).toEqual(created);
    expect(read).toMatchObject({ name: "Apples", callsCount: 0, updatedAt: created.createdAt });
    expect(read?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(read?.callTemplate).toEqual({
      systemPrompt: "You sell apples. Ä\uFFFD😀",
      temperature: 0.30000000000000004,
      medium: { sip: { outgoing: { to: "sip:a@example.com", username: "u" } } },
      dataConnection: { websocketUrl: "wss://example.com", headers: { Authorization: "Bear…" } },
      externalVoice: { generic: { url: "https://example.com", headers: { "X-Key": "voic…" } } },
      selectedTools: [
        { toolName: "a" },
        {
          temporaryTool: {
            modelToolName: "b",
            http: { baseUrlPattern: "https://example.com", httpMethod: "GET" },
            staticParameters: [
              { name: "X-Api-Key", location: "PARAMETER_LOCATION_HEADER", value: "stat…" },
              { name: "page", location: "PARAMETER_LOCATION_QUERY", value: "seven" },
            ],
          },
        },
      ],
    });
    expect(Object.keys(read?.callTemplate ?? {})).toEqual([
      "systemPrompt",
      "temperature",
      "medium",
      "dataConnection",
      "externalVoice",
      "selectedTools",
    ]);
  });

  it("opens the secrets for a call and keeps them out of every column", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createAgent(db, accountId, { name: "a", callTemplate: template });
    const opened = await getAgentForCall(db, accountId, created.agentId);
    expect(opened?.callTemplate).toEqual({ ...template, systemPrompt: "You sell apples. Ä\uFFFD😀" });
    expect(opened?.revisionId).toBe(created.publishedRevisionId);
    const raw = await sql<{ row: string }>`
      select agent_revisions::text as row from agent_revisions where agent_id = ${created.agentId}
      union all select agents::text from agents where id = ${created.agentId}`.execute(db.query);
    expect(raw.rows).toHaveLength(2);
    for (const { row } of raw.rows) {
      for (const plaintext of plaintexts) expect(row).not.toContain(plaintext);
    }
  });

  it("names an agent after its id when no name is given", async () => {
    const { db } = current();
    const created = await createAgent(db, await newAccount(db), { callTemplate: null });
    expect(created.name).toBe(`agent-${created.agentId.slice(0, 8)}`);
    expect(created.callTemplate).toBeNull();
  });

  it("publishes a revision with each change, and none without", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createAgent(db, accountId, { name: "a", callTemplate: template });
    const renamed = await updateAgent(db, accountId, created.agentId, { name: "b" });
    expect(renamed).toMatchObject({ name: "b", callTemplate: created.callTemplate });
    expect(renamed?.publishedRevisionId).not.toBe(created.publishedRevisionId);
    const same = await updateAgent(db, accountId, created.agentId, { name: "b" });
    expect(same).toEqual(renamed);
    const sameTemplate = await updateAgent(db, accountId, created.agentId, { callTemplate: template });
    expect(sameTemplate?.publishedRevisionId).toBe(renamed?.publishedRevisionId);
    const replaced = await updateAgent(db, accountId, created.agentId, { callTemplate: { temperature: 1 } });
    expect(replaced?.callTemplate).toEqual({ temperature: 1 });
    expect(await getAgent(db, accountId, created.agentId)).toEqual(replaced);
    const cleared = await updateAgent(db, accountId, created.agentId, { callTemplate: null });
    expect(cleared?.callTemplate).toBeNull();
    const revisions = await sql<{ count: number }>`
      select count(*) as count from agent_revisions where agent_id = ${created.agentId}`.execute(db.query);
    expect(revisions.rows).toEqual([{ count: 4 }]);
  });

  it("never changes a revision", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createAgent(db, accountId, { name: "a", callTemplate: { temperature: 0 } });
    const revision = async (): Promise<unknown> =>
      (await sql`select * from agent_revisions where id = ${created.publishedRevisionId}`.execute(db.query))
        .rows;
    const before = await revision();
    await updateAgent(db, accountId, created.agentId, { name: "b", callTemplate: { temperature: 1 } });
    expect(await revision()).toEqual(before);
  });

  it("restores the stored value of a masked one in a request", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const created = await createAgent(db, accountId, { name: "a", callTemplate: template });
    await updateAgent(db, accountId, created.agentId, { callTemplate: created.callTemplate });
    const opened = await getAgentForCall(db, accountId, created.agentId);
    expect(opened?.callTemplate).toMatchObject({
      dataConnection: { headers: { Authorization: "Bearer header-secret" } },
      externalVoice: { generic: { headers: { "X-Key": "voice-header-secret" } } },
    });
    // Write-only values must be sent again.
    expect(opened?.callTemplate).not.toHaveProperty("sharedSecrets");
  });

  it("refuses a masked value without a stored one, and changes nothing", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const masked = { dataConnection: { websocketUrl: "wss://x", headers: { Other: "Bear…" } } };
    const failure = await createAgent(db, accountId, { callTemplate: masked }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MaskedValueError);
    expect((failure as MaskedValueError).fields).toEqual(["callTemplate.dataConnection.headers.Other"]);
    const created = await createAgent(db, accountId, { name: "a", callTemplate: template });
    await expect(updateAgent(db, accountId, created.agentId, { callTemplate: masked })).rejects.toThrow(
      MaskedValueError,
    );
    expect(await getAgent(db, accountId, created.agentId)).toEqual(created);
  });

  it("applies patches of one agent at the same time one after the other", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    const names = Array.from({ length: 12 }, (_, index) => `name ${index}`);
    const patched = await Promise.all(
      names.map(async (name) => updateAgent(db, accountId, agentId, { name })),
    );
    expect(patched.map((agent) => agent?.name)).toEqual(names);
    expect(new Set(patched.map((agent) => agent?.publishedRevisionId)).size).toBe(names.length);
    const last = await getAgent(db, accountId, agentId);
    expect(patched).toContainEqual(last);
  });

  it("deletes the documents and leaves nothing to read", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: template });
    expect(await deleteAgent(db, accountId, agentId)).toBe(true);
    expect(await deleteAgent(db, accountId, agentId)).toBe(false);
    expect(await getAgent(db, accountId, agentId)).toBeNull();
    expect(await updateAgent(db, accountId, agentId, { name: "b" })).toBeNull();
    expect((await listAgents(db, accountId, {}, firstPage)).total).toBe(0);
    const left = await sql`select 1 from agent_revisions where agent_id = ${agentId}`.execute(db.query);
    expect(left.rows).toEqual([]);
  });

  it("finds by part of the name in any case and alphabet, wildcards taken literally", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    for (const name of ["Äpfel 100%", "birnen", "Zitronen_1", "ÄPFEL zwei"]) {
      await createAgent(db, accountId, { name, callTemplate: null });
    }
    const found = async (search: string): Promise<string[]> =>
      (await listAgents(db, accountId, { search }, firstPage, { field: "name", descending: false })).rows.map(
        (agent) => agent.name,
      );
    expect(await found("äpfel")).toEqual(["Äpfel 100%", "ÄPFEL zwei"]);
    expect(await found("0%")).toEqual(["Äpfel 100%"]);
    expect(await found("_")).toEqual(["Zitronen_1"]);
    expect(await found("\\")).toEqual([]);
    const byName = await listAgents(db, accountId, {}, firstPage, { field: "name", descending: true });
    expect(byName.rows.map((agent) => agent.name)).toEqual([
      "ÄPFEL zwei",
      "Äpfel 100%",
      "Zitronen_1",
      "birnen",
    ]);
  });

  it("isolates accounts", async () => {
    const { db } = current();
    const [owner, stranger] = [await newAccount(db), await newAccount(db)];
    const { agentId } = await createAgent(db, owner, { name: "a", callTemplate: template });
    expect(await getAgent(db, stranger, agentId)).toBeNull();
    expect(await getAgentForCall(db, stranger, agentId)).toBeNull();
    expect(await updateAgent(db, stranger, agentId, { name: "b" })).toBeNull();
    expect(await deleteAgent(db, stranger, agentId)).toBe(false);
    expect(await listAgents(db, stranger, {}, firstPage)).toEqual({
      rows: [],
      total: 0,
      totalIsExact: true,
      next: null,
      previous: null,
    });
    expect((await getAgent(db, owner, agentId))?.name).toBe("a");
    expect(await getAgent(db, owner, randomUUID())).toBeNull();
  });
});
