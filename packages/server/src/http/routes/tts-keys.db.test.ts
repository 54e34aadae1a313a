import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { openedTexts } from "../../store/testing/sealed.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const PATH = "/api/accounts/me/tts_api_keys";
const none = {
  provider1: null,
  provider2: null,
  provider3: null,
  provider4: null,
  provider5: null,
  provider6: null,
};
const keyDocument = {
  type: "service_account",
  project_id: "demo",
  private_key_id: "abcdef0123",
  private_key: "-----BEGIN PRIVATE KEY-----\nvery-private\n-----END PRIVATE KEY-----\n",
  client_email: "speaker@demo.example",
};

const problemsOf = (json: Record<string, unknown>) =>
  (json["errors"] as { field: string; message: string }[] | undefined)?.map(
    ({ field, message }) => `${field} ${message}`,
  );

describeOnBothDatabases("the keys of voice providers", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
  });

  const storedKeys = () =>
    openedTexts(current().db, client.accountId, { table: "tts_api_keys", column: "sealed_key" });

  it("are set, shown by four characters, kept where absent, and removed by null", async () => {
    expect((await client.get(PATH)).json).toEqual(none);
    const set = await client.patch(PATH, { eleven_labs: "sk_secret_one", cartesia: "second-secret" });
    expect(set).toMatchObject({
      status: 200,
      json: { ...none, provider1: { prefix: "sk_s" }, provider2: { prefix: "seco" } },
    });
    const changed = await client.patch(PATH, {
      provider1: null,
      provider2: "other-secret",
      provider6: "short",
    });
    expect(changed.json).toEqual({ ...none, provider2: { prefix: "othe" }, provider6: { prefix: "" } });
    const read = await client.get(PATH);
    expect(read.json).toEqual(changed.json);
    expect(set.text + changed.text + read.text).not.toMatch(/secret|short/);
    expect((await client.patch(PATH, {})).json).toEqual(read.json);
    expect(await storedKeys()).toEqual(["other-secret", "short"]);
  });

  it("of provider4 are a document, as an object or as its text", async () => {
    for (const given of [keyDocument, JSON.stringify(keyDocument, null, 2)]) {
      const { status, json, text } = await client.patch(PATH, { google: given });
      expect([status, json["provider4"]]).toEqual([200, { prefix: "abcd" }]);
      expect(text).not.toContain("very-private");
      expect((await storedKeys()).map((key) => JSON.parse(key) as unknown)).toEqual([keyDocument]);
    }
    const { private_key_id: _, ...unnamed } = keyDocument;
    expect((await client.patch(PATH, { provider4: unnamed })).json["provider4"]).toEqual({ prefix: "spea" });
    expect((await client.patch(PATH, { provider4: null })).json).toEqual(none);
  });

  it.each<[object, string[]]>([
    [{ provider1: "" }, ["provider1 must not be empty"]],
    [{ provider1: "a b" }, ["provider1 must be printable ASCII without spaces"]],
    [{ provider2: "key\n" }, ["provider2 must be printable ASCII without spaces"]],
    [{ provider3: "x".repeat(4097) }, ["provider3 must have at most 4096 characters"]],
    [{ provider5: keyDocument }, ["provider5 must be text"]],
    [
      { provider4: "an api key" },
      ["provider4 must be the JSON document of a service account, as an object or as its text"],
    ],
    [
      { provider4: [] },
      ["provider4 must be the JSON document of a service account, as an object or as its text"],
    ],
    [{ provider4: { ...keyDocument, type: "user" } }, ['provider4 must be of the type "service_account"']],
    [{ provider4: { type: "service_account" } }, ["provider4 must have client_email and private_key"]],
    [{ provider4: { ...keyDocument, private_key: "x" } }, ["provider4 must have a private_key in PEM form"]],
    [
      { provider4: { ...keyDocument, more: "x".repeat(17_000) } },
      ["provider4 must have at most 16384 characters"],
    ],
    [{ provider7: "x", provider1: "" }, ["provider7 is not a known field", "provider1 must not be empty"]],
  ])("refuse %o", async (body, problems) => {
    await client.patch(PATH, { provider1: "0123456789" });
    const { status, json } = await client.patch(PATH, body);
    const found = problemsOf(json)?.map((text) => text.replace(/ here; did you mean.*/, ""));
    expect([status, found]).toEqual([400, problems]);
    expect((await client.get(PATH)).json).toEqual({ ...none, provider1: { prefix: "0123" } });
  });

  it("belong to one account", async () => {
    await client.patch(PATH, { provider1: "0123456789" });
    const stranger = await newClient(server, current().db);
    expect((await stranger.get(PATH)).json).toEqual(none);
    await stranger.patch(PATH, { provider1: null });
    expect((await client.get(PATH)).json["provider1"]).toEqual({ prefix: "0123" });
  });
});
