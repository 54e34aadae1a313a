import { describe, expect, it } from "vitest";
import { toolAnswer, type ServerAnswer } from "./answer.ts";

const TEXT = { "content-type": "text/plain" };
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

function answer(
  body: string | Uint8Array,
  headers: Record<string, string> = TEXT,
  status = 200,
): ServerAnswer {
  return { status, headers, body: Buffer.from(body), truncated: false };
}

const read = (given: ServerAnswer, secrets: readonly string[] = []) => toolAnswer(given, secrets);

function resultOf(given: ServerAnswer): string {
  const read = toolAnswer(given, []);
  return read.kind === "completed" ? read.result : `failed: ${read.text}`;
}

describe("results", () => {
  it.each([
    ["a text", answer("sunny"), "sunny"],
    ["JSON as it is", answer('{ "a": 1 }', JSON_TYPE), '{ "a": 1 }'],
    ["a JSON dialect", answer("{}", { "content-type": "application/problem+json" }), "{}"],
    [
      "Latin-1",
      answer(Buffer.from("Z\u00fcrich", "latin1"), { "content-type": "text/plain; charset=iso-8859-1" }),
      "Zürich",
    ],
    [
      "an unknown character set",
      answer("Zürich", { "content-type": "text/plain; charset=klingon" }),
      "Zürich",
    ],
    ["a text without a type", answer("sunny", {}), "sunny"],
    ["nothing", answer("", TEXT), "OK"],
    ["nothing, of a binary type", answer("", { "content-type": "image/png" }), "OK"],
    ["204", answer("", {}, 204), "OK"],
    [
      "an image",
      answer("1234", { "content-type": "image/png" }),
      "[Binary content that cannot be shown: image/png, 4 bytes.]",
    ],
    [
      "bytes without a type",
      answer(Buffer.of(1, 0, 255), {}),
      "[Binary content that cannot be shown: unknown type, 3 bytes.]",
    ],
    [
      "what is compressed all the same",
      answer("xxxx", { ...TEXT, "content-encoding": "gzip" }),
      "[Binary content that cannot be shown: text/plain, 4 bytes.]",
    ],
  ])("take %s", (_what, given, result) => {
    expect(resultOf(given)).toBe(result);
  });

  it("are cut at 64 KiB between characters, with a notice", () => {
    const whole = "a".repeat(65_536);
    expect(resultOf(answer(whole))).toBe(whole);
    const cut = resultOf(answer("é".repeat(40_000)));
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(65_536);
    expect(cut).toMatch(/^é+\n\[The rest was cut: the result was longer than 64 KiB\.\]$/);
  });
});

describe("failures", () => {
  it.each([199, 301, 400, 404, 500, 503])("is status %d, with what the server says of it", (status) => {
    expect(read(answer("no such city", TEXT, status))).toMatchObject({
      kind: "failed",
      cause: "error",
      text: `The tool failed: HTTP ${String(status)}\nno such city`,
    });
  });

  it("shows the model 2,000 characters and the record 16 KiB", () => {
    const failure = read(answer("a".repeat(100_000), TEXT, 500));
    if (failure.kind !== "failed") throw new Error("it did not fail");
    expect(failure.text).toBe(`The tool failed: HTTP 500\n${"a".repeat(2_000)}`);
    expect(failure.errorDetails).toBe(`HTTP 500\ncontent-type: text/plain\n\n${"a".repeat(16_384)}`);
  });

  it("shows no bytes and no empty line", () => {
    expect(read(answer("x", { "content-type": "image/png" }, 404))).toMatchObject({
      text: "The tool failed: HTTP 404",
      errorDetails: expect.stringContaining("image/png, 1 bytes") as string,
    });
    expect(read(answer("", {}, 404))).toMatchObject({ text: "The tool failed: HTTP 404" });
  });

  it("keeps secrets out, also those that the server repeats", () => {
    const headers = {
      ...TEXT,
      "set-cookie": "s=1",
      "x-auth-token": "t",
      "www-authenticate": "w",
      "x-a": "k3y-1",
    };
    const failure = read(answer("bad key k3y-1", headers, 401), ["k3y-1", "abc"]);
    if (failure.kind !== "failed") throw new Error("it did not fail");
    expect(failure.text).toBe("The tool failed: HTTP 401\nbad key [secret]");
    expect(failure.errorDetails).toBe(
      "HTTP 401\ncontent-type: text/plain\nx-a: [secret]\n\nbad key [secret]",
    );
  });
});

it("a secret across the limit of a good result leaves no part of itself", () => {
  const secret = "very-secret-key";
  const given = toolAnswer(answer("a".repeat(65_530) + secret), [secret], [secret]);
  if (given.kind !== "completed") throw new Error(given.text);
  expect(given.result).not.toContain("very");
});

describe("a secret across a limit", () => {
  const secret = "very-secret-key";

  it.each([
    ["the model's text", 1_995],
    ["the record", 16_380],
  ])("leaves no part of itself in %s", (_what, before) => {
    const failure = read(answer("a".repeat(before) + secret, TEXT, 500), [secret]);
    if (failure.kind !== "failed") throw new Error("it did not fail");
    expect(failure.text + failure.errorDetails).not.toContain("very");
    expect(failure.errorDetails).toContain("a[sec");
  });

  it("leaves none where the answer itself ended too late to be read", () => {
    const cut = { ...answer(`a,${secret},very-sec`, TEXT, 500), truncated: true };
    const failure = read(cut, [secret]);
    if (failure.kind !== "failed") throw new Error("it did not fail");
    expect(failure.text + failure.errorDetails).not.toContain("very");
    expect(failure.text).toBe("The tool failed: HTTP 500\na,[s");
  });
});

describe("response conventions", () => {
  it("are read by our prefix and by the vendor's", () => {
    const of = (prefix: string) => ({
      ...TEXT,
      [`${prefix}response-type`]: "tool-response",
      [`${prefix}agent-reaction`]: "Speaks-Once",
      [`${prefix}update-call-state`]: '{"a":{"b":null}}',
    });
    const wanted = {
      kind: "completed",
      result: "done",
      responseType: "tool-response",
      reaction: "speaks-once",
      updateCallState: { a: { b: null } },
    };
    expect(read(answer("done", of("x-service-")))).toEqual(wanted);
    expect(read(answer("done", of("x-ultravox-")))).toEqual(wanted);
  });

  it("count as ours where both are there", () => {
    const headers = { ...TEXT, "x-service-agent-reaction": "listens", "x-ultravox-agent-reaction": "speaks" };
    expect(read(answer("", headers))).toMatchObject({ reaction: "listens", result: "OK" });
  });

  it("read UTF-8 in a state update", () => {
    const text = Buffer.from('{"city":"Zürich"}').toString("latin1");
    const headers = { "x-service-update-call-state": text };
    expect(read(answer("", headers))).toMatchObject({ updateCallState: { city: "Zürich" } });
  });

  it.each([
    ["response-type", "goodbye"],
    ["response-type", ""],
    ["agent-reaction", "sings"],
    ["update-call-state", "{"],
    ["update-call-state", "[1]"],
    ["update-call-state", "null"],
    ["update-call-state", JSON.stringify({ a: "x".repeat(65_536) })],
  ])("fail the tool when %s is %.40s", (name, value) => {
    const failure = read(answer("done", { ...TEXT, [`x-service-${name}`]: value }));
    expect(failure).toMatchObject({ kind: "failed", cause: "error" });
    expect(failure).toMatchObject({
      text: expect.stringMatching(/^The tool failed: unusable header X-Service-/) as string,
    });
  });

  it.each([
    ["hang-up", "", "{}"],
    ["hang-up", '{"strict":true,"message":"Bye"}', '{"strict":true,"message":"Bye"}'],
    ["hang-up", '{"strict":null}', '{"strict":null}'],
    ["new-stage", '{"systemPrompt":"x"}', '{"systemPrompt":"x"}'],
    ["send-to-thread", '{"callingThreadResultText":"ok"}', '{"callingThreadResultText":"ok"}'],
  ])("give the document of a %s: %s", (type, body, result) => {
    const headers = { ...JSON_TYPE, "x-service-response-type": type };
    expect(read(answer(body, headers))).toMatchObject({ kind: "completed", responseType: type, result });
  });

  it.each([
    ["hang-up", "Bye"],
    ["hang-up", '{"strict":"yes"}'],
    ["hang-up", '{"message":1}'],
    ["hang-up", "[]"],
    ["new-stage", ""],
    ["new-stage", "{"],
    ["new-stage", '"x"'],
    ["send-to-thread", "null"],
  ])("fail the tool for an unusable body of a %s: %j", (type, body) => {
    const headers = { ...JSON_TYPE, "x-service-response-type": type };
    expect(read(answer(body, headers))).toMatchObject({
      kind: "failed",
      text: `The tool failed: unusable body for ${type}`,
    });
  });

  it("do not take a document that was cut off, nor bytes", () => {
    const headers = { ...JSON_TYPE, "x-service-response-type": "new-stage" };
    expect(read({ ...answer("{}", headers), truncated: true }).kind).toBe("failed");
    expect(read(answer("{}", { ...headers, "content-type": "image/png" })).kind).toBe("failed");
  });

  it("do not count when the request failed", () => {
    const headers = { ...JSON_TYPE, "x-service-response-type": "hang-up" };
    expect(read(answer("{}", headers, 500))).toMatchObject({ text: "The tool failed: HTTP 500\n{}" });
  });
});
