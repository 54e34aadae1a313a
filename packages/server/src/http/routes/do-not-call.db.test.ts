import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

interface Entry {
  readonly number: string;
  readonly note: string | null;
  readonly created: string;
}

const url = "/api/do_not_call";

describeOnBothDatabases("the do-not-call list", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
  });

  const add = async (body: object): Promise<Entry> => {
    const { status, json } = await client.post<Entry>(url, body);
    expect(status).toBe(201);
    return json;
  };
  const numbers = async (query = "", by = client): Promise<unknown> => {
    const { json } = await by.get<{ results: Entry[]; total: number }>(`${url}${query}`);
    return [json.total, ...json.results.map(({ number }) => number)];
  };

  it("holds each number once, in one spelling, newest first", async () => {
    const first = await add({ number: "+49 (30) 123-456", note: "asked for it" });
    expect(first).toEqual({
      number: "+4930123456",
      note: "asked for it",
      created: expect.any(String) as string,
    });
    await add({ number: "SIP:Ann@Example.com;transport=tcp" });
    expect(await numbers()).toEqual([2, "sip:Ann@example.com", "+4930123456"]);
    expect(await add({ number: "tel:+4930123456", created: 1 })).toEqual({ ...first, note: null });
    expect(await numbers()).toEqual([2, "sip:Ann@example.com", "+4930123456"]);
  });

  it("refuses a number whose zero may be part of it or not", async () => {
    const { status, json } = await client.post<{ errors: { message: string }[] }>(url, {
      number: "+49 (0)30 123456",
    });
    expect([status, json.errors.map(({ message }) => message)]).toEqual([
      400,
      [
        "must be as it is dialled from abroad, without brackets around a zero: +49 30 123456, not +49 (0)30 123456",
      ],
    ]);
  });

  it("is searched in numbers and notes", async () => {
    await add({ number: "+4930111", note: "Müller 100%" });
    await add({ number: "+4930222", note: null });
    expect(await numbers("?search=M%C3%9CLLER")).toEqual([1, "+4930111"]);
    expect(await numbers("?search=100%25")).toEqual([1, "+4930111"]);
    expect(await numbers("?search=3022")).toEqual([1, "+4930222"]);
    expect(await numbers("?search=_")).toEqual([0]);
    expect(await numbers("?pageSize=1")).toEqual([2, "+4930222"]);
    expect((await client.get(`${url}?search=`)).status).toBe(400);
    // The earlier note is not found any more.
    await add({ number: "+4930111", note: "Meier" });
    expect(await numbers("?search=m%C3%BCller")).toEqual([0]);
  });

  it("lets go of a number in any spelling, each account its own", async () => {
    await add({ number: "+4930111" });
    await add({ number: "sip:ann@example.com" });
    const stranger = await newClient(server, current().db);
    expect(await numbers("", stranger)).toEqual([0]);
    expect((await stranger.delete(`${url}/+4930111`)).status).toBe(404);
    expect((await client.delete(`${url}/${encodeURIComponent("tel:+49-30-111")}`)).status).toBe(204);
    expect((await client.delete(`${url}/+4930111`)).status).toBe(404);
    expect((await client.delete(`${url}/${encodeURIComponent("SIP:ann@EXAMPLE.com")}`)).status).toBe(204);
    expect((await client.delete(`${url}/4930111`)).status).toBe(404);
    expect(await numbers()).toEqual([0]);
  });

  it.each([
    [{}, "number: is required"],
    [
      { number: "030 123" },
      "number: must be a number such as +4930123456, or a SIP URI such as sip:ann@example.com",
    ],
    [{ number: "+4930", note: "x".repeat(241) }, "note: must have at most 240 characters"],
    [{ number: "+4930", reason: "x" }, "reason: is not a known field"],
  ])("refuses %j", async (body, problem) => {
    const { status, json } = await client.post<{ errors: { field: string; message: string }[] }>(url, body);
    expect([status, json.errors.map(({ field, message }) => `${field}: ${message}`)]).toEqual([
      400,
      [problem],
    ]);
  });
});
