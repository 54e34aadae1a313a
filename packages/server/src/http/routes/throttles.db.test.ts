import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

interface Page {
  readonly results: { readonly name: string }[];
  readonly total: number;
  readonly next: string | null;
}

const rules = [
  { maxCalls: 2, windowSeconds: 1 },
  { maxCalls: 100, windowSeconds: 86_400 },
];
const missing = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

describeOnBothDatabases("call throttles by REST", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeAll(async () => {
    server = await openTestServer(current());
  });
  beforeEach(async () => {
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  it("are created, read, replaced, changed and deleted", async () => {
    const made = await client.post("/api/call_throttles", { name: "gently", rules });
    const { throttleId, created, ...rest } = made.json;
    expect([made.status, rest]).toEqual([201, { name: "gently", rules }]);
    const url = `/api/call_throttles/${String(throttleId)}`;
    expect(made.headers["location"]).toMatch(new RegExp(`${url}$`));
    expect((await client.get(url)).json).toEqual(made.json);
    // A fetched record may be sent back.
    const replaced = await client.put(url, { ...made.json, name: "slowly", rules: rules.slice(1) });
    expect([replaced.status, replaced.json]).toEqual([
      200,
      { throttleId, created, name: "slowly", rules: rules.slice(1) },
    ]);
    expect((await client.patch(url, { name: "x" })).json).toEqual({ ...replaced.json, name: "x" });
    expect((await client.patch(url, { rules })).json).toEqual({ ...made.json, name: "x" });
    expect((await client.patch(url, {})).json).toEqual({ ...made.json, name: "x" });
    expect((await client.delete(url)).status).toBe(204);
    for (const gone of [await client.get(url), await client.delete(url), await client.patch(url, {})]) {
      expect(gone.status).toBe(404);
    }
    expect((await client.put(`/api/call_throttles/${missing}`, { name: "x", rules })).status).toBe(404);
  });

  it("are listed newest first, page by page, and names may repeat", async () => {
    for (const name of ["a", "b", "b"]) await client.post("/api/call_throttles", { name, rules });
    const first = await client.get<Page>("/api/call_throttles?pageSize=2");
    expect([first.json.total, first.json.results.map(({ name }) => name)]).toEqual([3, ["b", "b"]]);
    const second = await client.get<Page>(first.json.next ?? "");
    expect(second.json.results.map(({ name }) => name)).toEqual(["a"]);
  });

  it.each([
    [{ rules }, "name"],
    [{ name: " ", rules }, "name"],
    [{ name: "x".repeat(65), rules }, "name"],
    [{ name: "x" }, "rules"],
    [{ name: "x", rules: [] }, "rules"],
    [{ name: "x", rules: Array.from({ length: 11 }, () => rules[0]) }, "rules"],
    [{ name: "x", rules: [{ maxCalls: 0, windowSeconds: 1 }] }, "rules.0.maxCalls"],
    [{ name: "x", rules: [{ maxCalls: 101, windowSeconds: 1 }] }, "rules.0.maxCalls"],
    [{ name: "x", rules: [{ maxCalls: 1.5, windowSeconds: 1 }] }, "rules.0.maxCalls"],
    [{ name: "x", rules: [...rules, { maxCalls: 1, windowSeconds: 0 }] }, "rules.2.windowSeconds"],
    [{ name: "x", rules: [{ maxCalls: 1, windowSeconds: 86_401 }] }, "rules.0.windowSeconds"],
    [{ name: "x", rules: [{ maxCalls: 1 }] }, "rules.0.windowSeconds"],
    [{ name: "x", rules: [{ ...rules[0], colour: "red" }] }, "rules.0.colour"],
  ])("are refused as %j", async (body, field) => {
    const reply = await client.post("/api/call_throttles", body);
    expect(reply.status).toBe(400);
    expect((reply.json["errors"] as { field: string }[]).map((error) => error.field)).toEqual([field]);
  });
});
