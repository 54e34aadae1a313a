import { afterEach, describe, expect, it } from "vitest";
import { neverAborted } from "../../ports/testing/collect.ts";
import { renamedFields } from "../../ports/testing/renamed-fields.ts";
import type { CloneRequest, VoiceCloner } from "../../ports/voice-cloning.ts";
import { openCartesiaCloner } from "./cartesia.ts";
import { openElevenLabsCloner } from "./elevenlabs.ts";
import { openInworldCloner } from "./inworld.ts";
import { openLmntCloner } from "./lmnt.ts";
import {
  KEY,
  openFakeVendor,
  RECORDING,
  VENDORS,
  type Answer,
  type FakeVendor,
  type Vendor,
} from "./testing/fake-vendors.ts";

const opened: FakeVendor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const request: CloneRequest = {
  name: "Ada „die Erste“",
  description: "Calm",
  language: "de-CH",
  recording: { bytes: RECORDING, mediaType: "audio/wav" },
};
const recorded = { file: "recording.wav", type: "audio/wav", bytes: RECORDING };

interface Case {
  readonly name: string;
  readonly vendor: Vendor;
  readonly open: (baseUrl: string) => VoiceCloner;
  /** What the vendor gets for `request`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    name: "ElevenLabs",
    vendor: VENDORS.elevenlabs,
    open: openElevenLabsCloner,
    fields: { name: request.name, files: recorded, description: "Calm", labels: '{"language":"de"}' },
  },
  {
    name: "Cartesia",
    vendor: VENDORS.cartesia,
    open: openCartesiaCloner,
    fields: { name: request.name, clip: recorded, description: "Calm", language: "de" },
  },
  {
    name: "LMNT",
    vendor: VENDORS.lmnt,
    open: openLmntCloner,
    fields: {
      files: recorded,
      name: request.name,
      enhance: "false",
      description: "Calm",
      metadata: JSON.stringify({ name: request.name, enhance: false, description: "Calm", type: "instant" }),
    },
  },
  {
    name: "Inworld",
    vendor: VENDORS.inworld,
    open: openInworldCloner,
    fields: {
      displayName: request.name,
      langCode: "DE_DE",
      description: "Calm",
      voiceSamples: [{ audioData: RECORDING.toString("base64") }],
    },
  },
];

describe.each(CASES)("making voices at $name", ({ name, vendor, open, fields }) => {
  const start = async (fault: Answer | "hang" | null = null) => {
    const fake = await openFakeVendor(vendor, fault);
    opened.push(fake);
    return { fake, cloner: open(fake.baseUrl) };
  };
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it("sends the recording and what is known of it, and removes the voice again", async () => {
    const { fake, cloner } = await start();
    const id = await cloner.clone(request, KEY, neverAborted());
    expect(fake.made).toEqual([fields]);
    expect([...fake.voices]).toEqual([id]);
    await cloner.remove(id, KEY, neverAborted());
    expect([...fake.voices]).toEqual([]);
    await cloner.remove(id, KEY, neverAborted());
  });

  it("has all that is sent and answered in its contract, and notices each field that changes", async () => {
    const { fake, cloner } = await start();
    await cloner.clone(request, KEY, neverAborted());
    for (const [schema, document] of [
      [vendor.Request, fake.made[0]],
      [vendor.Answer, fake.answers[0]],
    ] as const) {
      expect(schema.safeParse(document).success).toBe(true);
      // The recording is no document.
      const renamed = renamedFields(document, new Set(["files", "clip"]));
      expect(renamed.length).toBeGreaterThan(1);
      const unnoticed = renamed.filter(({ document: changed }) => schema.safeParse(changed).success);
      expect(unnoticed.map(({ path }) => path)).toEqual([]);
    }
  });

  it("leaves out a description that there is not", async () => {
    const { fake, cloner } = await start();
    const mp3 = { bytes: RECORDING, mediaType: "audio/mpeg" } as const;
    await cloner.clone({ ...request, description: null, recording: mp3 }, KEY, neverAborted());
    expect(Object.keys(fake.made[0] ?? {})).not.toContain("description");
  });

  it("tells of a refused key, without the key, for good", async () => {
    const { cloner } = await start();
    const error = await failureOf(cloner.clone(request, "another-key-0123", neverAborted()));
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent: true, type: "401" });
    const { cloner: refusing } = await start({ status: 401, body: { message: `wrong key ${KEY}` } });
    const quoted = await failureOf(refusing.clone(request, KEY, neverAborted()));
    expect(String(quoted)).toBe(`EngineFailure: ${name} answered HTTP 401: wrong key [key]`);
  });

  it.each([
    [{ status: 429, body: { error: "slow down" } }, "answered HTTP 429: slow down"],
    [{ status: 503, body: "<p>oops" }, "answered HTTP 503"],
    [{ status: 422, body: { detail: [{ loc: ["body"], msg: "too short" }] } }, "HTTP 422: too short"],
    [{ status: 400, body: { detail: { status: "x", message: "too noisy" } } }, "HTTP 400: too noisy"],
    [{ status: 200, body: "<p>hello" }, "answered something that is not JSON"],
    [{ status: 200, body: {} }, "answered no voice"],
    [{ status: 200, body: { voice_id: "a/../b", id: "a/../b", voice: { voiceId: "a/../b" } } }, "no voice"],
    [{ status: 200, body: " ".repeat(300_000) }, "answered no voice"],
  ] as const)("tells of %j", async (fault, message) => {
    const { cloner } = await start(fault);
    const error = await failureOf(cloner.clone(request, KEY, neverAborted()));
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent: false });
    expect(String(error)).toContain(`${name} `);
    expect(String(error)).toContain(message);
  });

  it("ends when it is aborted, and tells when nobody listens", async () => {
    const { fake, cloner } = await start("hang");
    const abort = new AbortController();
    const work = failureOf(cloner.clone(request, KEY, abort.signal));
    await fake.reached;
    abort.abort();
    expect(await work).toMatchObject({ name: "AbortError" });
    await fake.close();
    const error = await failureOf(cloner.clone(request, KEY, neverAborted()));
    expect(String(error)).toBe(`EngineFailure: ${name} cannot be reached (ECONNREFUSED)`);
  });
});

describe("voices that cannot be made", () => {
  it("ElevenLabs wants to verify the speaker: nothing is left there", async () => {
    const vendor: Vendor = {
      ...VENDORS.elevenlabs,
      async make(made) {
        const { fields } = await VENDORS.elevenlabs.make(made);
        return { fields, answer: (id) => ({ voice_id: id, requires_verification: true }) };
      },
    };
    const fake = await openFakeVendor(vendor);
    opened.push(fake);
    const cloning = openElevenLabsCloner(fake.baseUrl).clone(request, KEY, neverAborted());
    await expect(cloning).rejects.toThrow("wants to verify the speaker");
    expect([...fake.voices]).toEqual([]);
  });

  it("Inworld takes no recording of more than 4 MiB", async () => {
    const recording = { bytes: new Uint8Array(4 * 1_024 * 1_024 + 1), mediaType: "audio/wav" } as const;
    const cloning = openInworldCloner("http://127.0.0.1:9").clone(
      { ...request, recording },
      KEY,
      neverAborted(),
    );
    await expect(cloning).rejects.toThrow("at most 4 MiB");
  });

  it("Inworld finds out a language that it has no name for", async () => {
    const fake = await openFakeVendor(VENDORS.inworld);
    opened.push(fake);
    await openInworldCloner(fake.baseUrl).clone({ ...request, language: "gsw" }, KEY, neverAborted());
    expect(fake.made[0]).toMatchObject({ langCode: "AUTO" });
  });
});
