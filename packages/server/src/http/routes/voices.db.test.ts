import { beforeEach, expect, it } from "vitest";
import { publicVoices } from "../../voices/public-voices.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpDeps, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, send, testDeps } from "../testing/http-fixture.ts";

interface VoiceJson extends Record<string, unknown> {
  readonly voiceId: string;
  readonly name: string;
  readonly definition: Record<string, unknown> | null;
}

interface Page {
  readonly results: readonly VoiceJson[];
  readonly next: string | null;
  readonly total: number;
}

const secret = "Bearer voice-secret";
const voice = {
  name: "Ada",
  description: "Calm and clear",
  primaryLanguage: "de-CH",
  definition: { provider1: { voiceId: "abc", speed: 1.1 } },
};
const generic = {
  name: "Own server",
  definition: { generic: { url: "https://tts.example/say", headers: { Authorization: secret } } },
};
const everybodys = publicVoices({ name: "espeak-ng", voices: ["espeak", "espeak-f1"] });

const fieldsOf = (json: Record<string, unknown>) =>
  (json["errors"] as { field: string }[] | undefined)?.map(({ field }) => field);

describeOnBothDatabases("the voices of the interface", (current) => {
  let server: HttpServer;
  let client: Client;
  let changes: Partial<HttpDeps>;
  const previewed: unknown[] = [];
  let preview: Awaited<ReturnType<HttpDeps["previewVoice"]>>;

  beforeEach(async () => {
    previewed.length = 0;
    preview = { kind: "heard", wav: Buffer.from("RIFF wav") };
    changes = {
      publicVoices: () => everybodys,
      refusedTarget: (url) => (url.includes("127.0.0.1") ? "address not allowed" : null),
      previewVoice: (wanted) => {
        previewed.push(wanted);
        return Promise.resolve(preview);
      },
    };
    server = await openTestServer(current(), changes);
    client = await newClient(server, current().db);
  });

  const create = async (body: unknown = voice): Promise<VoiceJson> => {
    const { status, json } = await client.post<VoiceJson>("/api/voices", body);
    expect(status).toBe(201);
    return json;
  };

  it("creates, reads, changes, replaces and deletes a voice", async () => {
    const created = await client.post<VoiceJson>("/api/voices", {
      ...voice,
      ownership: "public",
      provider: 7,
    });
    const { voiceId } = created.json;
    const url = `https://voice.example/api/voices/${voiceId}`;
    expect(created.headers["location"]).toBe(url);
    expect(created.json).toEqual({
      voiceId,
      ...voice,
      languageLabel: "German (Switzerland)",
      previewUrl: `${url}/preview`,
      ownership: "private",
      billingStyle: "VOICE_BILLING_STYLE_EXTERNAL",
      provider: "provider1",
    });
    expect((await client.get(url)).json).toEqual(created.json);
    const patched = await client.patch<VoiceJson>(url, { description: null, definition: { lmnt: {} } });
    expect(patched.json).toEqual({
      ...created.json,
      description: null,
      provider: "provider3",
      definition: { provider3: {} },
    });
    const replaced = await client.put<VoiceJson>(url, { name: "Bea", definition: { provider5: {} } });
    expect(replaced).toMatchObject({
      status: 200,
      json: { voiceId, name: "Bea", description: null, primaryLanguage: null, languageLabel: null },
    });
    expect((await client.put(url, replaced.json)).json).toEqual(replaced.json);
    expect((await client.delete(url)).status).toBe(204);
    for (const answer of [
      await client.get(url),
      await client.patch(url, {}),
      await client.get(`${url}/preview`),
      await client.delete(url),
    ]) {
      expect(answer.status).toBe(404);
    }
  });

  it("seals header values, and takes masked ones back for the stored", async () => {
    const made = await create(generic);
    const masked = { generic: { url: "https://tts.example/say", headers: { Authorization: "Bear…" } } };
    expect(made).toMatchObject({ provider: "generic", definition: masked });
    const path = `/api/voices/${made.voiceId}`;
    const kept = await client.put<VoiceJson>(path, { ...made, name: "Renamed" });
    expect(kept.json).toMatchObject({ name: "Renamed", definition: masked });
    const elsewhere = { definition: { generic: { ...masked.generic, headers: { "X-Other": "Bear…" } } } };
    const refused = await client.patch(path, elsewhere);
    expect([refused.status, fieldsOf(refused.json)]).toEqual([400, ["definition.generic.headers.X-Other"]]);
    const led = { definition: { generic: { ...masked.generic, url: "http://evil.example/x" } } };
    const sentAway = await client.patch(path, led);
    expect([sentAway.status, fieldsOf(sentAway.json)]).toEqual([
      400,
      ["definition.generic.headers.Authorization"],
    ]);
    expect((await client.get<VoiceJson>(path)).json).toMatchObject({ definition: masked });
    expect((await client.post("/api/voices", { name: "x", definition: masked })).status).toBe(400);
  });

  it("refuses bodies that are no voice, naming the fields", async () => {
    const { voiceId } = await create();
    const cases: [unknown, string[]][] = [
      [{ definition: voice.definition }, ["name"]],
      [{ name: "x" }, ["definition"]],
      [{ ...voice, name: "x".repeat(41) }, ["name"]],
      [{ ...voice, name: " " }, ["name"]],
      [{ ...voice, description: "x".repeat(241) }, ["description"]],
      [{ ...voice, primaryLanguage: "x" }, ["primaryLanguage"]],
      [{ ...voice, primaryLanguage: "en-US-abcdefgh" }, ["primaryLanguage"]],
      [{ ...voice, definition: {} }, ["definition"]],
      [{ ...voice, definition: { provider1: {}, provider2: {} } }, ["definition"]],
      [{ ...voice, definition: { provider1: { speed: 9 } } }, ["definition.provider1.speed"]],
      [{ name: "x", definition: { generic: { url: "http://127.0.0.1/" } } }, ["definition.generic.url"]],
      [{ ...voice, colour: "red" }, ["colour"]],
    ];
    for (const [body, fields] of cases) {
      for (const answer of [
        await client.post("/api/voices", body),
        await client.put(`/api/voices/${voiceId}`, body),
      ]) {
        expect([body, answer.status, fieldsOf(answer.json)]).toEqual([body, 400, fields]);
      }
    }
    const patch = { definition: { generic: { url: "http://127.0.0.1/" } } };
    expect((await client.patch(`/api/voices/${voiceId}`, patch)).status).toBe(400);
    expect((await client.get<Page>("/api/voices?ownership=private")).json.total).toBe(1);
  });

  it("shows the voices of everybody, which nobody changes", async () => {
    const [first] = everybodys;
    const path = `/api/voices/${first?.voiceId ?? ""}`;
    expect((await client.get<Page>("/api/voices")).json.results.map(({ name }) => name)).toEqual([
      "espeak",
      "espeak-f1",
    ]);
    expect((await client.get(path.toUpperCase().replace("/API/VOICES", "/api/voices"))).json).toEqual({
      ...first,
      primaryLanguage: null,
      languageLabel: null,
      previewUrl: `https://voice.example${path}/preview`,
      ownership: "public",
      billingStyle: "VOICE_BILLING_STYLE_INCLUDED",
      provider: null,
      definition: null,
    });
    for (const answer of [
      await client.put(path, voice),
      await client.patch(path, { name: "x" }),
      await client.delete(path),
    ]) {
      expect([answer.status, answer.json["code"]]).toEqual([403, "forbidden"]);
    }
  });

  it("answers 404 for a voice of another account, and lists none of it", async () => {
    const { voiceId } = await create();
    const stranger = await newClient(server, current().db);
    const path = `/api/voices/${voiceId}`;
    const answers = [
      await stranger.get(path),
      await stranger.put(path, voice),
      await stranger.patch(path, {}),
      await stranger.delete(path),
      await stranger.get(`${path}/preview`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await stranger.get<Page>("/api/voices?ownership=private")).json.total).toBe(0);
    expect((await client.get(path)).status).toBe(200);
  });

  it("lists own voices newest first before those of everybody, page by page", async () => {
    for (const name of ["a", "b", "c"]) await create({ ...voice, name });
    const seen: string[] = [];
    let url: string | null = "/api/voices?pageSize=2";
    for (let pages = 0; url !== null; pages += 1) {
      const page: { json: Page } = await client.get<Page>(url);
      seen.push(...page.json.results.map(({ name }) => name));
      url = page.json.next;
      if (pages === 0) await create({ ...voice, name: "late" });
    }
    expect(seen).toEqual(["c", "b", "a", "espeak", "espeak-f1"]);
  });

  it.each<[string, string[]]>([
    ["ownership=private", ["hu", "Ben", "Ada"]],
    ["ownership=public", ["espeak", "espeak-f1"]],
    ["billingStyle=VOICE_BILLING_STYLE_INCLUDED", ["espeak", "espeak-f1"]],
    ["billing_style=VOICE_BILLING_STYLE_EXTERNAL&ownership=private", ["hu", "Ben", "Ada"]],
    ["billingStyle=VOICE_BILLING_STYLE_EXTERNAL&ownership=public", []],
    ["primaryLanguage=de", ["Ada"]],
    ["primaryLanguage=DE-ch", ["Ada"]],
    ["primaryLanguage=de-CH-1996", []],
    ["primaryLanguage=d_", []],
    ["primaryLanguage=%25", []],
    ["provider=provider1", ["Ada"]],
    ["provider=elevenLabs", ["Ada"]],
    ["provider=eleven_labs", ["Ada"]],
    ["provider=cartesia&provider=generic", ["hu", "Ben"]],
    ["provider=provider6", []],
    ["search=CALM", ["Ada"]],
    ["search=espeak-f", ["espeak-f1"]],
    ["search=deployment", ["espeak", "espeak-f1"]],
    ["search=e&ownership=private", ["Ben", "Ada"]],
  ])("filters by %s", async (query, names) => {
    await create();
    await create({ name: "Ben", primaryLanguage: "en", definition: { provider2: {} } });
    await create({ ...generic, name: "hu" });
    const { status, json } = await client.get<Page>(`/api/voices?${query}`);
    expect([status, json.results.map(({ name }) => name), json.total]).toEqual([200, names, names.length]);
  });

  it("refuses filters that mean nothing", async () => {
    for (const query of [
      "provider=deepgram",
      "provider=",
      "primaryLanguage=",
      "search=",
      "ownership=mine",
      "billingStyle=free",
    ]) {
      expect([query, (await client.get(`/api/voices?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it("spells providers as the deployment does", async () => {
    const base = testDeps(current(), changes);
    const vendor = await openTestServer(current(), { settings: { ...base.settings, apiNames: "vendor" } });
    const { voiceId } = await create();
    const { json } = await send(vendor, "GET", `/api/voices/${voiceId}`, {
      headers: { "x-api-key": client.key },
    });
    expect(json).toMatchObject({ provider: "elevenLabs", definition: { elevenLabs: { voiceId: "abc" } } });
    await vendor.close();
  });

  it("lets a voice of everybody be heard, and says why it cannot", async () => {
    const path = `/api/voices/${everybodys[1]?.voiceId ?? ""}/preview`;
    const heard = await client.get(path);
    expect([
      heard.status,
      heard.headers["content-type"],
      heard.headers["content-length"],
      heard.text,
    ]).toEqual([200, "audio/wav", "8", "RIFF wav"]);
    expect(previewed).toEqual([everybodys[1]]);
    preview = { kind: "failed", reason: "the voice server answered HTTP 500" };
    expect(await client.get(path)).toMatchObject({
      status: 400,
      json: {
        code: "validation_failed",
        detail: "The voice preview failed: the voice server answered HTTP 500.",
      },
    });
    preview = { kind: "busy" };
    expect((await client.get(path)).status).toBe(503);
  });

  it("previews of what is not stored check the definition", async () => {
    const bad: [unknown, string[]][] = [
      [{}, ["definition"]],
      [{ definition: { provider1: { speed: 9 } } }, ["definition.provider1.speed"]],
      [{ definition: { generic: { url: "http://127.0.0.1/" } } }, ["definition.generic.url"]],
      [
        { definition: { generic: { url: "https://a.example/", headers: { A: "Bear…" } } } },
        ["definition.generic.headers.A"],
      ],
    ];
    for (const [body, fields] of bad) {
      const { status, json } = await client.post("/api/voice_preview", body);
      expect([body, status, fieldsOf(json)]).toEqual([body, 400, fields]);
    }
  });

  it("shows and finds the language of a public voice that speaks one", async () => {
    const german = publicVoices({ name: "piper", voices: ["thorsten"], languageOf: () => "de-DE" });
    const both = () => [...german, ...everybodys];
    server = await openTestServer(current(), { ...changes, publicVoices: both });
    client = await newClient(server, current().db);
    const { results } = (await client.get<Page>("/api/voices?primaryLanguage=DE")).json;
    expect(results).toMatchObject([
      { name: "thorsten", primaryLanguage: "de-DE", languageLabel: "German (Germany)", ownership: "public" },
    ]);
    const found = await client.get(`/api/voices/${german[0]?.voiceId ?? ""}`);
    expect(found.json).toEqual(results[0]);
    expect((await client.get<Page>("/api/voices")).json.total).toBe(3);
  });

  it("lists calls by the voice that they began with", async () => {
    const { voiceId } = await create();
    const medium = { serverWebSocket: { inputSampleRate: 8000 } };
    const call = await client.post("/api/calls", { medium, voice: voiceId });
    await client.post("/api/calls", { medium });
    const listed = await client.get<{ results: object[]; total: number }>(
      `/api/calls?voiceId=${voiceId.toUpperCase()}`,
    );
    expect(listed.json).toMatchObject({ total: 1, results: [{ callId: call.json["callId"] }] });
    const other = everybodys[0]?.voiceId ?? "";
    expect((await client.get<{ total: number }>(`/api/calls?voiceId=${other}`)).json.total).toBe(0);
  });
});
