import { VOICE_KINDS, VOICE_PROVIDERS } from "@parley/schema";
import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpDeps, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, type Reply } from "../testing/http-fixture.ts";

interface Page {
  readonly results: readonly { readonly name: string; readonly billingStyle: string }[];
}

const voice = { name: "Ada", definition: { provider1: { voiceId: "abc", speed: 1.1 } } };
const generic = {
  name: "Own server",
  definition: {
    generic: { url: "https://tts.example/say", headers: { Authorization: "Bearer voice-secret" } },
  },
};

const fieldsOf = (json: Record<string, unknown>) =>
  (json["errors"] as { field: string }[] | undefined)?.map(({ field }) => field);

describeOnBothDatabases("voices of providers", (current) => {
  let server: HttpServer;
  let client: Client;
  let changes: Partial<HttpDeps>;
  const defined: unknown[] = [];
  let ofDefinition: Awaited<ReturnType<HttpDeps["previewDefinition"]>>;

  beforeEach(async () => {
    defined.length = 0;
    ofDefinition = { kind: "heard", wav: Buffer.from("RIFF own") };
    changes = {
      previewDefinition: (accountId, definition, primaryLanguage) => {
        defined.push([accountId === client.accountId, definition, primaryLanguage]);
        return Promise.resolve(ofDefinition);
      },
    };
    server = await openTestServer(current(), changes);
    client = await newClient(server, current().db);
  });

  const create = async (body: unknown): Promise<{ readonly voiceId: string }> => {
    const { status, json } = await client.post<{ voiceId: string }>("/api/voices", body);
    expect(status).toBe(201);
    return json;
  };

  it("lets an own voice be heard with its secrets, stored or not, and says why it cannot", async () => {
    const { voiceId } = await create({ ...generic, primaryLanguage: "de" });
    const path = `/api/voices/${voiceId}/preview`;
    const { definition } = generic;
    const heard = [
      await client.get(path),
      await client.post("/api/voice_preview", { definition, primaryLanguage: "de" }),
    ];
    for (const { status, headers, text } of heard) {
      expect([status, headers["content-type"], text]).toEqual([200, "audio/wav", "RIFF own"]);
    }
    expect(defined).toEqual([
      [true, definition, "de"],
      [true, definition, "de"],
    ]);
    const stranger = await newClient(server, current().db);
    expect((await stranger.get(path)).status).toBe(404);
    ofDefinition = { kind: "failed", reason: "ElevenLabs answered HTTP 401: invalid key" };
    expect(await client.get(path)).toMatchObject({
      status: 400,
      json: { detail: "The voice preview failed: ElevenLabs answered HTTP 401: invalid key." },
    });
    ofDefinition = { kind: "busy" };
    expect((await client.get(path)).status).toBe(503);
  });

  it("shows and finds voices that the deployment pays for, until the account has a key of its own", async () => {
    const ours = await openTestServer(current(), {
      ...changes,
      deploymentVoiceKinds: new Set(["provider1"]),
    });
    const own = await newClient(ours, current().db);
    await own.post("/api/voices", voice);
    await own.post("/api/voices", { ...generic, name: "hu" });
    const named = async (style: string): Promise<string[]> => {
      const query = `ownership=private&billingStyle=VOICE_BILLING_STYLE_${style}`;
      const { results } = (await own.get<Page>(`/api/voices?${query}`)).json;
      expect(results.every((row) => row.billingStyle === `VOICE_BILLING_STYLE_${style}`)).toBe(true);
      return results.map(({ name }) => name);
    };
    expect([await named("INCLUDED"), await named("EXTERNAL")]).toEqual([["Ada"], ["hu"]]);
    await own.patch("/api/accounts/me/tts_api_keys", { provider1: "0123456789" });
    expect([await named("INCLUDED"), await named("EXTERNAL")]).toEqual([[], ["hu", "Ada"]]);
    await ours.close();
  });

  const askFor = async (kind: string): Promise<Reply[]> => {
    const definition = { [kind]: kind === "generic" ? { url: "https://tts.example" } : {} };
    const { voiceId } = await create({ name: "x", definition });
    return [
      await client.get(`/api/voices/${voiceId}/preview`),
      await client.post("/api/voice_preview", { definition }),
    ];
  };

  it.each(VOICE_PROVIDERS)("cannot speak with %s without a key", async (kind) => {
    ofDefinition = { kind: "no_key" };
    for (const { status, json } of await askFor(kind)) {
      expect([status, fieldsOf(json)]).toEqual([400, [`definition.${kind}`]]);
    }
  });

  it.each(VOICE_KINDS)("says that this version lacks an adapter for %s", async (kind) => {
    ofDefinition = { kind: "not_spoken" };
    for (const { status, json } of await askFor(kind)) {
      expect([status, json["code"]]).toEqual([501, "not_available"]);
      expect(json["detail"]).toContain(kind);
    }
  });
});
