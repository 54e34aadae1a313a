import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { getAgentForCall } from "../../store/agents/agents.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, PUBLIC_URL } from "../testing/http-fixture.ts";

interface AgentPage {
  readonly results: { readonly name: string; readonly agentId: string }[];
  readonly next: string | null;
  readonly previous: string | null;
  readonly total: number;
}

const missing = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

describeOnBothDatabases("agents by REST", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeAll(async () => {
    server = await openTestServer(current(), {
      checkTemplates: async (_accountId, template) =>
        template.systemPrompt === "{{>x}}"
          ? [{ field: "callTemplate.systemPrompt", message: "must not contain partials" }]
          : [],
      refusedTarget: (url) => (url.includes("//10.") ? "address not allowed" : null),
    });
  });
  beforeEach(async () => {
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  it("refuses addresses that are written out and not allowed, where they stand", async () => {
    const http = { baseUrlPattern: "http://10.0.0.1/{id}" };
    const dynamicParameters = [{ name: "id", location: "PARAMETER_LOCATION_PATH" }];
    const callTemplate = {
      selectedTools: [
        { temporaryTool: { modelToolName: "wait", client: {} } },
        { temporaryTool: { modelToolName: "look", http, dynamicParameters } },
        { temporaryTool: { modelToolName: "mcp", mcp: { serverUrl: "https://10.0.0.2/mcp" } } },
      ],
      dataConnection: { websocketUrl: "wss://10.0.0.3/data" },
    };
    const message = "is not allowed: address not allowed";
    const errors = [
      { field: "callTemplate.selectedTools.1.temporaryTool.http.baseUrlPattern", message },
      { field: "callTemplate.selectedTools.2.temporaryTool.mcp.serverUrl", message },
      { field: "callTemplate.dataConnection.websocketUrl", message },
    ];
    const refused = await client.post("/api/agents", { callTemplate });
    expect([refused.status, refused.json["errors"]]).toEqual([400, errors]);
    const made = await client.post("/api/agents", {});
    const changed = await client.patch(`/api/agents/${String(made.json["agentId"])}`, { callTemplate });
    expect([changed.status, changed.json["errors"]]).toEqual([400, errors]);
  });

  it("shows overrides that are no secrets whole, and keeps the others when a template is sent back changed", async () => {
    const tool = (nameOverride: string, key: string, place: string) => ({
      toolName: "weather",
      nameOverride,
      parameterOverrides: { Authorization: key, place },
    });
    const selectedTools = [tool("a", "Bearer 1111", "Winterthur"), tool("b", "Bearer 2222", "Schaffhausen")];
    const made = await client.post("/api/agents", { callTemplate: { selectedTools } });
    const agentId = String(made.json["agentId"]);
    const url = `/api/agents/${agentId}`;
    const shownTools = [tool("a", "Bear…", "Winterthur"), tool("b", "Bear…", "Schaffhausen")];
    const read = await client.get(url);
    expect(read.json).toMatchObject({ callTemplate: { selectedTools: shownTools } });
    const stored = async () => (await getAgentForCall(current().db, client.accountId, agentId))?.callTemplate;
    expect((await client.patch(url, read.json)).status).toBe(200);
    expect(await stored()).toMatchObject({ selectedTools });
    const second = { callTemplate: { selectedTools: shownTools.slice(1) } };
    expect((await client.patch(url, second)).status).toBe(200);
    expect(await stored()).toMatchObject({ selectedTools: selectedTools.slice(1) });
    const unknown = { callTemplate: { selectedTools: [tool("b", "Othe…", "Bern")] } };
    const refused = await client.patch(url, unknown);
    expect([refused.status, (refused.json["errors"] as { field: string }[])[0]?.field]).toEqual([
      400,
      "callTemplate.selectedTools.0.parameterOverrides.Authorization",
    ]);
  });

  describe("POST /api/agents", () => {
    it("makes an agent and answers it whole", async () => {
      const callTemplate = { systemPrompt: "Be kind to {{name}}.", maxDuration: "60.500s", temperature: 0.5 };
      const { status, json, headers } = await client.post("/api/agents", { name: "Concierge", callTemplate });
      expect(status).toBe(201);
      const agentId = json["agentId"];
      expect(headers["location"]).toBe(`${PUBLIC_URL}/api/agents/${String(agentId)}`);
      expect(json).toEqual({
        agentId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        publishedRevisionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        name: "Concierge",
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
        callTemplate: {
          systemPrompt: "Be kind to {{name}}.",
          maxDuration: "60.5s",
          temperature: 0.5,
          created: json["created"],
          updated: json["created"],
        },
        statistics: { calls: 0 },
      });
    });

    it("takes an empty body, and a body that was fetched before", async () => {
      const first = await client.post("/api/agents");
      expect(first.status).toBe(201);
      expect(first.json["name"]).toBe(`agent-${String(first.json["agentId"]).slice(0, 8)}`);
      expect(first.json["callTemplate"]).toBeNull();
      const again = await client.post("/api/agents", { ...first.json, created: "nonsense" });
      expect(again.status).toBe(201);
      expect(again.json["agentId"]).not.toBe(first.json["agentId"]);
    });

    it("reports template strings that cannot be filled", async () => {
      const { status, json } = await client.post("/api/agents", { callTemplate: { systemPrompt: "{{>x}}" } });
      expect(status).toBe(400);
      expect(json["errors"]).toEqual([
        { field: "callTemplate.systemPrompt", message: "must not contain partials" },
      ]);
    });

    it("never answers a secret", async () => {
      const callTemplate = {
        sharedSecrets: ["0123456789abcdef-shared"],
        dataConnection: {
          websocketUrl: "wss://d.example/",
          headers: { Authorization: "Bearer very-secret-token" },
        },
      };
      const made = await client.post("/api/agents", { callTemplate });
      expect(made.status).toBe(201);
      const read = await client.get(`/api/agents/${String(made.json["agentId"])}`);
      for (const { text } of [made, read]) {
        expect(text).not.toContain("very-secret-token");
        expect(text).not.toContain("0123456789abcdef-shared");
        expect(text).toContain("…");
      }
    });
  });

  describe("one agent", () => {
    it("is read with its id in any case and with a slash at the end", async () => {
      const made = await client.post("/api/agents", { name: "A" });
      const id = String(made.json["agentId"]);
      for (const url of [`/api/agents/${id}`, `/api/agents/${id.toUpperCase()}`, `/api/agents/${id}/`]) {
        const { status, json } = await client.get(url);
        expect(status).toBe(200);
        expect(json).toEqual(made.json);
      }
    });

    it("is changed as a whole template at a time, with a new revision only for a change", async () => {
      const made = await client.post("/api/agents", {
        name: "A",
        callTemplate: { systemPrompt: "x", voice: "v" },
      });
      const url = `/api/agents/${String(made.json["agentId"])}`;
      const renamed = await client.patch(url, { name: "B" });
      expect(renamed.status).toBe(200);
      expect(renamed.json).toMatchObject({ name: "B", callTemplate: { systemPrompt: "x", voice: "v" } });
      expect(renamed.json["publishedRevisionId"]).not.toBe(made.json["publishedRevisionId"]);
      const same = await client.patch(url, { name: "B" });
      expect(same.json["publishedRevisionId"]).toBe(renamed.json["publishedRevisionId"]);
      const replaced = await client.patch(url, { callTemplate: { systemPrompt: "y" } });
      expect(replaced.json).toMatchObject({ name: "B", callTemplate: { systemPrompt: "y" } });
      expect(replaced.json["callTemplate"]).not.toHaveProperty("voice");
      const cleared = await client.patch(url, { callTemplate: null });
      expect(cleared.json).toMatchObject({ name: "B", callTemplate: null });
      expect((await client.get(url)).json).toEqual(cleared.json);
      const unnamed = await client.patch(url, { name: null });
      expect(unnamed.json["name"]).toBe(`agent-${String(made.json["agentId"]).slice(0, 8)}`);
    });

    it("is gone after its deletion, and deleting it again is 404", async () => {
      const made = await client.post("/api/agents", { name: "A" });
      const url = `/api/agents/${String(made.json["agentId"])}`;
      const deleted = await client.delete(url);
      expect([deleted.status, deleted.text]).toEqual([204, ""]);
      for (const again of [client.get(url), client.patch(url, { name: "B" }), client.delete(url)]) {
        expect((await again).status).toBe(404);
      }
    });

    it.each(["not-a-uuid", missing, "6f0c2f0e-3f6f-4b2e-9a55", `${missing}0`])("is 404 as %s", async (id) => {
      const { status, json } = await client.get(`/api/agents/${id}`);
      expect([status, json["code"]]).toEqual([404, "not_found"]);
    });
  });

  describe("GET /api/agents", () => {
    it("lists page by page, newest first, and back again", async () => {
      for (const name of ["one", "two", "three", "four", "five"]) await client.post("/api/agents", { name });
      const pages: string[][] = [];
      let url: string | null = "/api/agents?pageSize=2";
      let last: AgentPage | null = null;
      while (url !== null) {
        const { status, json }: { status: number; json: AgentPage } = await client.get<AgentPage>(url);
        expect(status).toBe(200);
        expect(json.total).toBe(5);
        pages.push(json.results.map(({ name }) => name));
        url = json.next;
        last = json;
      }
      expect(pages).toEqual([["five", "four"], ["three", "two"], ["one"]]);
      const back = await client.get<AgentPage>(last?.previous ?? "");
      expect(back.json.results.map(({ name }) => name)).toEqual(["three", "two"]);
      expect(back.json.next).toContain(`${PUBLIC_URL}/api/agents?pageSize=2&cursor=`);
    });

    it("sorts by name, searches in names, and keeps both in its links", async () => {
      for (const name of ["Berta", "anton", "Bernd", "100%"]) await client.post("/api/agents", { name });
      const sorted = await client.get<AgentPage>("/api/agents?sort=name");
      expect(sorted.json.results.map(({ name }) => name)).toEqual(["100%", "anton", "Bernd", "Berta"]);
      const falling = await client.get<AgentPage>("/api/agents?sort=-name&search=BER&pageSize=1");
      expect(falling.json.results.map(({ name }) => name)).toEqual(["Berta"]);
      expect(falling.json.total).toBe(2);
      const next = await client.get<AgentPage>(falling.json.next ?? "");
      expect(next.json.results.map(({ name }) => name)).toEqual(["Bernd"]);
      const percent = await client.get<AgentPage>("/api/agents?search=%25");
      expect(percent.json.results.map(({ name }) => name)).toEqual(["100%"]);
    });

    it("takes a page size above 100 as 100", async () => {
      expect((await client.get("/api/agents?pageSize=5000")).status).toBe(200);
    });

    it.each([
      ["pageSize=0", "pageSize"],
      ["pageSize=-1", "pageSize"],
      ["pageSize=1.5", "pageSize"],
      ["pageSize=ten", "pageSize"],
      ["sort=color", "sort"],
      ["search=", "search"],
      ["cursor=abc", "cursor"],
      ["page=2", "page"],
    ])("refuses %s", async (query, field) => {
      const { status, json } = await client.get(`/api/agents?${query}`);
      expect(status).toBe(400);
      expect((json["errors"] as { field: string }[]).map((error) => error.field)).toEqual([field]);
    });

    it("refuses a cursor of another list, account, filter or sort", async () => {
      await client.post("/api/agents", { name: "a" });
      await client.post("/api/agents", { name: "b" });
      const page = await client.get<AgentPage>(
        "/api/agents?pageSize=1&search=&sort=name".replace("search=&", ""),
      );
      const next = new URL(page.json.next ?? "");
      const cursor = next.searchParams.get("cursor") ?? "";
      // Alters the signature. A fixed letter would sometimes equal the present one.
      const altered = cursor.replace(/\.(.)/, (_, letter) => (letter === "A" ? ".B" : ".A"));
      const other = await newClient(server, current().db);
      expect((await client.get(next.href)).status).toBe(200);
      expect((await client.get(`/api/agents?cursor=${cursor}&sort=name&pageSize=50`)).status).toBe(200);
      for (const refused of [
        client.get(`/api/agents?cursor=${cursor}`),
        client.get(`/api/agents?cursor=${cursor}&sort=-name`),
        client.get(`/api/agents?cursor=${cursor}&sort=name&search=a`),
        client.get(`/api/calls?cursor=${cursor}`),
        client.get(`/api/agents?sort=name&cursor=${altered}`),
        other.get(next.href),
      ]) {
        const { status, json } = await refused;
        expect(status).toBe(400);
        expect(json["errors"]).toEqual([{ field: "cursor", message: "is not a cursor of this list" }]);
      }
    });
  });
});
