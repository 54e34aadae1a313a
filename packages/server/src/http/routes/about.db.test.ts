import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

describeOnBothDatabases("models by REST", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeAll(async () => {
    server = await openTestServer(current(), { modelNames: () => ["default", "scripted"] });
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  it("are listed page by page", async () => {
    const first = await client.get<{ next: string | null }>("/api/models?pageSize=1");
    expect(first.json).toMatchObject({
      results: [{ name: "default", examplePhrases: ["go forward ten meters"] }],
      total: 2,
      previous: null,
    });
    const second = await client.get(first.json.next ?? "");
    expect(second.json).toMatchObject({ results: [{ name: "scripted" }], total: 2, next: null });
    expect((await client.get("/api/models?cursor=x")).status).toBe(400);
  });

  it("and voices are listed with the further names that the operator gives them", async () => {
    const nameAliases = {
      voices: [
        { name: "Mark", target: "espeak-m1" },
        { name: "*", target: "default" },
      ],
      models: [],
    };
    const other = await openTestServer(current(), { nameAliases: () => nameAliases });
    const answer = await (await newClient(other, current().db)).get("/api/name_aliases");
    expect([answer.status, answer.json]).toEqual([200, nameAliases]);
    expect((await client.get("/api/name_aliases")).json).toEqual({ voices: [], models: [] });
    await other.close();
  });

  it("say where calls understand all speech", async () => {
    const other = await openTestServer(current(), { examplePhrases: () => null });
    const answer = await (await newClient(other, current().db)).get("/api/models");
    expect(answer.json).toMatchObject({ results: [{ examplePhrases: null }, { examplePhrases: null }] });
    await other.close();
  });
});
