/** Voices from recordings, which a vendor makes. */

import { beforeEach, expect, it } from "vitest";
import { wavHeader } from "../../media/wav.ts";
import type { CloneRequest } from "../../ports/voice-cloning.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { CloneOutcome, HttpDeps, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, send } from "../testing/http-fixture.ts";

interface Page {
  readonly total: number;
}

const fieldsOf = (json: Record<string, unknown>) =>
  (json["errors"] as { field: string }[] | undefined)?.map(({ field }) => field);

describeOnBothDatabases("voices from recordings", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
  });

  const form = (parts: readonly [name: string, file: boolean, content: string][]) => ({
    headers: { "x-api-key": client.key, "content-type": "multipart/form-data; boundary=B" },
    body: `${parts
      .map(
        ([name, file, content]) =>
          `--B\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="a.mp3"' : ""}\r\n` +
          `${file ? "Content-Type: audio/mpeg\r\n" : ""}\r\n${content}\r\n`,
      )
      .join("")}--B--\r\n`,
  });

  it("takes recordings only to say that nobody makes voices of them", async () => {
    const upload = async (parts: Parameters<typeof form>[0]) =>
      send(server, "POST", "/api/voices", form(parts));
    const mp3 = ["file", true, "ID3 speech"] as const;
    const named = ["name", false, "Ada"] as const;
    const wav = ["file", true, "RIFF----WAVEfmt "] as const;
    for (const parts of [
      [mp3, named],
      [named, ["description", false, "Calm"], ["language", false, "de"], wav],
    ] as const) {
      expect((await upload(parts as never)).json).toMatchObject({ status: 403, code: "forbidden" });
    }
    const bad: [Parameters<typeof form>[0], string[]][] = [
      [[[...mp3]], ["name"]],
      [[[...named]], ["file"]],
      [[["description", false, "x".repeat(241)]], ["file", "name", "description"]],
      [[[...mp3], [...named], ["language", false, "?"]], ["language"]],
      [[[...mp3], [...named], ["colour", false, "red"]], ["colour"]],
      [[[...mp3], [...named], [...named]], ["name"]],
      [[["file", true, "OggS speech"], [...named]], ["file"]],
      [[["file", false, "ID3"], [...named]], ["file"]],
    ];
    for (const [parts, fields] of bad) {
      const { status, json } = await upload(parts);
      expect([parts, status, fieldsOf(json)]).toEqual([parts, 400, expect.arrayContaining(fields)]);
    }
    expect((await upload([["file", true, "I".repeat(10 * 1024 * 1024 + 1)], [...named]])).status).toBe(413);
    expect((await client.get<Page>("/api/voices?ownership=private")).json.total).toBe(0);
  });

  /** A rate at which all bytes of the file are ASCII, so that the form can be a text. */
  const wavText = (seconds: number, sampleRateHz = 8_192): string => {
    const bytes = seconds * sampleRateHz * 2;
    return Buffer.concat([wavHeader({ sampleRateHz, channels: 1 }, bytes), Buffer.alloc(bytes)]).toString();
  };

  const cloningClient = async (outcome: CloneOutcome) => {
    const asked: CloneRequest[] = [];
    const clone = (wanted: CloneRequest): Promise<CloneOutcome> => {
      asked.push(wanted);
      return Promise.resolve(outcome);
    };
    const clonerFor: HttpDeps["clonerFor"] = () => Promise.resolve({ vendor: "ElevenLabs", clone });
    server = await openTestServer(current(), { clonerFor });
    client = await newClient(server, current().db);
    const upload = (content: string, ...others: readonly [string, boolean, string][]) =>
      send(server, "POST", "/api/voices", form([["file", true, content], ["name", false, "Ada"], ...others]));
    return { asked, upload };
  };
  const cloned: CloneOutcome = {
    kind: "cloned",
    definition: { provider1: { voiceId: "made" } },
    undo: () => Promise.reject(new Error("must not be undone")),
  };

  it("makes a voice from a recording and stores it", async () => {
    const { asked, upload } = await cloningClient(cloned);
    const made = await upload(wavText(5));
    expect([made.status, made.json]).toEqual([
      201,
      expect.objectContaining({
        name: "Ada",
        description: null,
        primaryLanguage: "en",
        provider: "provider1",
        ownership: "private",
        definition: { provider1: { voiceId: "made" } },
      }),
    ]);
    const other = await upload(wavText(9), ["language", false, "de-CH"], ["description", false, "Calm"]);
    expect(other.json).toMatchObject({ primaryLanguage: "de-CH", description: "Calm" });
    expect(asked).toMatchObject([
      {
        name: "Ada",
        description: null,
        language: "en",
        recording: { mediaType: "audio/wav", durationMs: 5_000 },
      },
      { description: "Calm", language: "de-CH", recording: { durationMs: 9_000 } },
    ]);
    expect(made.headers["location"]).toContain(String(made.json["voiceId"]));
    expect((await client.get<Page>("/api/voices?ownership=private")).json.total).toBe(2);
  });

  it("refuses a recording that is too short, too long or has no audio", async () => {
    const { asked, upload } = await cloningClient(cloned);
    for (const content of [wavText(4), wavText(301, 1_024), "ID3 speech", "RIFF----WAVEfmt "]) {
      const { status, json } = await upload(content);
      expect([status, fieldsOf(json)]).toEqual([400, ["file"]]);
    }
    expect(asked).toEqual([]);
  });

  it("tells what the provider said of a recording, and that too many are under way", async () => {
    const failing = await cloningClient({ kind: "failed", reason: "ElevenLabs answered HTTP 401: no" });
    expect((await failing.upload(wavText(5))).json).toMatchObject({
      status: 400,
      detail: "ElevenLabs could not create the voice: ElevenLabs answered HTTP 401: no.",
    });
    const busy = await cloningClient({ kind: "busy" });
    expect((await busy.upload(wavText(5))).json).toMatchObject({ code: "no_capacity" });
    expect((await client.get<Page>("/api/voices?ownership=private")).json.total).toBe(0);
  });

  it("removes a voice at its provider that cannot be stored", async () => {
    let undone = 0;
    const { upload } = await cloningClient({
      kind: "cloned",
      // Only an answer has such a value.
      definition: { generic: { url: "https://a.example/", headers: { A: "Bear…" } } },
      undo() {
        undone += 1;
        return Promise.resolve();
      },
    });
    expect((await upload(wavText(5))).status).toBe(400);
    expect(undone).toBe(1);
  });
});
