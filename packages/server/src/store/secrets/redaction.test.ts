import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  documentForAnswer,
  mask,
  openDocument,
  redactDocument,
  restoreMasked,
  sealDocument,
} from "./redaction.ts";
import { createSealer } from "./secrets.ts";

const sealer = createSealer(new Uint8Array(32).fill(3));

it("shows four characters of a value and nothing of a short one", () => {
  expect(mask("Bearer 0123")).toBe("Bear…");
  expect(mask("12345678")).toBe("1234…");
  expect(mask("1234567")).toBe("…");
  expect(mask("")).toBe("…");
  expect(mask("😀😁😂😃😄😅😆😇")).toBe("😀😁😂😃…");
});

it("opens every document as it was and never stores a secret in it", () => {
  const secret = fc.string({ minLength: 12, unit: "grapheme-ascii" }).map((text) => `SECRET${text}`);
  const headers = fc.dictionary(fc.string(), secret);
  const document = fc.record(
    {
      systemPrompt: fc.string(),
      other: fc.jsonValue(),
      sharedSecrets: fc.array(secret),
      dataConnection: fc.record({ headers }, { requiredKeys: [] }),
      voiceOverrides: fc.record({ generic: fc.record({ url: fc.string(), headers }) }),
      callbacks: fc.dictionary(fc.string(), fc.record({ url: fc.string(), secrets: fc.array(secret) })),
      selectedTools: fc.array(
        fc.record(
          { authTokens: headers, temporaryTool: fc.record({ mcp: fc.record({ headers }) }) },
          {
            requiredKeys: [],
          },
        ),
      ),
      medium: fc.record({ sip: fc.record({ outgoing: fc.record({ password: secret }) }) }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(document, (given) => {
      const plain = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
      fc.pre(!JSON.stringify({ ...plain, other: null, systemPrompt: null }).includes("\\u"));
      const sealed = sealDocument(sealer, plain, "row");
      expect(sealed.document).not.toContain("SECRET");
      expect(JSON.parse(sealed.document)).toEqual(sealed.stored);
      expect(openDocument(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(plain);
      const shown = documentForAnswer(sealer, sealed.stored, sealed.sealedSecrets, "row");
      // Only "SECR…" may be visible.
      expect(JSON.stringify(shown)).not.toContain("SECRET");
      expect(plain).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

it("leaves a document without secrets as it is", () => {
  const document = { systemPrompt: "a", sharedSecrets: null, selectedTools: [{ toolName: "x" }] };
  expect(sealDocument(sealer, document, "row")).toEqual({
    document: JSON.stringify(document),
    stored: document,
    sealedSecrets: null,
  });
});

it("leaves hidden values out of answers, empty ones too", () => {
  expect(
    redactDocument({
      sharedSecrets: [],
      selectedTools: [{ toolName: "x", authTokens: {} }],
      medium: { sip: { outgoing: { to: "a", password: "" } } },
    }),
  ).toEqual({ selectedTools: [{ toolName: "x" }], medium: { sip: { outgoing: { to: "a" } } } });
});

it("masks a header of a tool and no other of its parameters", () => {
  const parameters = (value: string): object => ({
    selectedTools: [
      {
        temporaryTool: {
          staticParameters: [
            { name: "a", location: "PARAMETER_LOCATION_HEADER", value },
            { name: "b", location: "PARAMETER_LOCATION_BODY", value: "Bearer 0123" },
          ],
        },
      },
    ],
  });
  expect(redactDocument(parameters("Bearer 0123"))).toEqual(parameters("Bear…"));
});

it("masks, seals and restores overrides of headers of a tool that is defined in place", () => {
  const lists = ["dynamicParameters", "staticParameters", "automaticParameters"];
  const override = (value: string): object => ({
    selectedTools: lists.map((list) => ({
      temporaryTool: {
        [list]: [
          { name: "x-key", location: "PARAMETER_LOCATION_HEADER" },
          { name: "other", location: "PARAMETER_LOCATION_QUERY" },
        ],
      },
      parameterOverrides: { "x-key": value, other: "Bearer 0123", elsewhere: "Bearer 0123" },
    })),
  });
  const whole = override("Bearer 4567") as Record<string, unknown>;
  expect(redactDocument(whole)).toEqual(override("Bear…"));
  const sealed = sealDocument(sealer, whole, "row");
  expect(sealed.document).not.toContain("4567");
  expect(openDocument(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(whole);
  expect(restoreMasked(override("Bear…"), whole)).toEqual({ document: whole, unresolved: [] });
});

it("masks, seals and restores every override of a tool that is named", () => {
  const selections = (key: string, path: string): object => ({
    selectedTools: [
      { toolName: "x", parameterOverrides: { "x-key": key, constructor: key, deep: { of: [key] }, n: 3 } },
      { toolId: "2fff509d-273f-414e-91ff-aa933435a545", parameterOverrides: { password: key } },
      { temporaryTool: null, toolName: "y", parameterOverrides: { path } },
    ],
  });
  const whole = selections("Bearer 0123", "a") as Record<string, unknown>;
  const shown = selections("Bear…", "…");
  expect(redactDocument(whole)).toEqual(shown);
  const sealed = sealDocument(sealer, whole, "row");
  expect(sealed.document).not.toContain("0123");
  expect(openDocument(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(whole);
  expect(restoreMasked(shown, whole)).toEqual({ document: whole, unresolved: [] });
  expect(restoreMasked(shown, null).unresolved).toContain("selectedTools.0.parameterOverrides.x-key");
});

it("shows what the built-in tools are given that reach nothing outside", () => {
  const document = {
    selectedTools: [
      { toolName: "queryCorpus", parameterOverrides: { corpus_id: "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11" } },
      {
        toolId: "56294126-5a7d-4948-b67d-3b7e13d55ea7",
        parameterOverrides: { reason: "The guest is gone.", strict: false },
      },
    ],
  };
  expect(redactDocument(document)).toEqual(document);
  const own = { selectedTools: [{ toolName: "queryCorpus", parameterOverrides: { key: "0123456789" } }] };
  expect(JSON.stringify(redactDocument(own))).toContain('"0123…"');
});

it("does not touch prototypes", () => {
  const hostile = JSON.parse(
    '{"dataConnection":{"headers":{"__proto__":"long enough secret"}},"callbacks":{"__proto__":{"secrets":["another long secret"]}}}',
  ) as Record<string, unknown>;
  const sealed = sealDocument(sealer, hostile, "row");
  expect(sealed.document).not.toContain('secret"');
  expect(openDocument(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(hostile);
  expect({}).not.toHaveProperty("secrets");
});

it("restores a masked value at its place, under its name in a tool that moved, or not at all", () => {
  const tool = (name: string, key: string): object => ({
    temporaryTool: { modelToolName: name, mcp: { headers: { Key: key } } },
  });
  const stored = {
    dataConnection: { headers: { A: "Bearer 0123", B: "Bearer 4567" } },
    selectedTools: [tool("first", "alpha-key-1"), tool("second", "omega-key-2")],
    callbacks: { ended: { secrets: ["callback-one", "another-two"] } },
  };
  const incoming = {
    dataConnection: { headers: { A: "Bear…", B: "new value", C: "Bear…", D: "a…b" } },
    selectedTools: [tool("second", "omeg…"), tool("first", "alph…")],
    callbacks: { ended: { secrets: ["anot…", "brand new secret"] } },
  };
  const { document, unresolved } = restoreMasked(incoming, stored);
  expect(unresolved).toEqual(["dataConnection.headers.C", "callbacks.ended.secrets.0"]);
  expect(document).toEqual({
    dataConnection: { headers: { A: "Bearer 0123", B: "new value", C: "Bear…", D: "a…b" } },
    selectedTools: [tool("second", "omega-key-2"), tool("first", "alpha-key-1")],
    callbacks: { ended: { secrets: ["anot…", "brand new secret"] } },
  });
  expect(restoreMasked(incoming, null).unresolved).toHaveLength(5);
});

it("restores from the same place before it looks anywhere else", () => {
  const stored = { dataConnection: { headers: { A: "Bearer 0123" } }, dataConnectionConfig: null };
  const restored = restoreMasked({ dataConnection: { headers: { A: "Bear…" } } }, stored);
  expect(restored).toEqual({
    document: { dataConnection: { headers: { A: "Bearer 0123" } } },
    unresolved: [],
  });
});

describe("a masked value whose target is changed", () => {
  const headers = (key: string) => ({ "X-Key": key });
  const parameter = (value: string) => ({ name: "X-Key", location: "PARAMETER_LOCATION_HEADER", value });
  const fixedIn = (url: string, key: string) => ({
    http: { baseUrlPattern: url },
    staticParameters: [parameter(key)],
  });
  const named = (toolId: string, key: string) => ({ toolId, parameterOverrides: { "X-Key": key } });
  const from = "https://ours.example/a/{id}";

  test.each<[string, (url: string, key: string) => object]>([
    ["a voice", (url, key) => ({ definition: { generic: { url, headers: headers(key) } } })],
    ["the voice of an agent", (url, key) => ({ externalVoice: { generic: { url, headers: headers(key) } } })],
    ["an overridden voice", (url, key) => ({ voiceOverrides: { generic: { url, headers: headers(key) } } })],
    ["a tool", (url, key) => ({ definition: fixedIn(url, key) })],
    ["a tool of MCP", (url, key) => ({ definition: { mcp: { serverUrl: url, headers: headers(key) } } })],
    ["a tool in place", (url, key) => ({ selectedTools: [{ temporaryTool: fixedIn(url, key) }] })],
    [
      "a tool of MCP in place",
      (url, key) => ({
        selectedTools: [{ temporaryTool: { mcp: { serverUrl: url, headers: headers(key) } } }],
      }),
    ],
    [
      "an override of a tool in place",
      (url, key) => ({
        selectedTools: [{ temporaryTool: fixedIn(url, "another key"), parameterOverrides: { "X-Key": key } }],
      }),
    ],
    ["a data connection", (url, key) => ({ dataConnection: { websocketUrl: url, headers: headers(key) } })],
    [
      "the same of a call",
      (url, key) => ({ dataConnectionConfig: { websocketUrl: url, headers: headers(key) } }),
    ],
    ["a callback", (url, key) => ({ callbacks: { ended: { url, secrets: [key] } } })],
  ])("of %s is restored for the same origin alone", (_what, at) => {
    const stored = at(from, "Bearer 0123");
    const sameOrigin = "https://ours.example:443/b";
    expect(restoreMasked(at(sameOrigin, "Bear…"), stored)).toEqual({
      document: at(sameOrigin, "Bearer 0123"),
      unresolved: [],
    });
    const elsewhere = [
      "https://theirs.example/a/{id}",
      "http://ours.example/a/{id}",
      "https://ours.example:8443/a/{id}",
      "https://ours.example@theirs.example/a/{id}",
    ];
    for (const url of elsewhere) {
      const { document, unresolved } = restoreMasked(at(url, "Bear…"), stored);
      expect(unresolved).toHaveLength(1);
      expect(JSON.stringify(document)).not.toContain("0123");
      expect(restoreMasked(at(url, "Bearer 9999"), stored).unresolved).toEqual([]);
    }
  });

  describe("by what fills the placeholders of its host", () => {
    const place = (value: string, location = "PARAMETER_LOCATION_PATH") => ({
      name: "host",
      location,
      value,
    });
    const tool = (key: string, ...others: object[]) => ({
      http: { baseUrlPattern: "https://{host}/a/{id}" },
      staticParameters: [
        parameter(key),
        { name: "id", location: "PARAMETER_LOCATION_PATH", value: "1" },
        ...others,
      ],
    });
    const inPlace = (key: string, host: string, overrides: object = {}) => ({
      selectedTools: [{ temporaryTool: tool(key, place(host)), parameterOverrides: overrides }],
    });
    const requested = { name: "host", location: "PARAMETER_LOCATION_PATH", schema: { type: "string" } };

    test.each<[string, object, object]>([
      [
        "a fixed value",
        { definition: tool("Bearer 0123", place("ours.example")) },
        { definition: tool("Bear…", place("theirs.example")) },
      ],
      [
        "the model's choice",
        { definition: tool("Bearer 0123", place("ours.example")) },
        { definition: { ...tool("Bear…"), dynamicParameters: [requested] } },
      ],
      ["the same in place", inPlace("Bearer 0123", "ours.example"), inPlace("Bear…", "theirs.example")],
      [
        "an override",
        inPlace("Bearer 0123", "ours.example"),
        inPlace("Bear…", "ours.example", { host: "theirs.example" }),
      ],
      [
        "a value beside an overridden header",
        inPlace("another key", "ours.example", { "X-Key": "Bearer 0123" }),
        inPlace("another key", "theirs.example", { "X-Key": "Bear…" }),
      ],
    ])("%s", (_what, stored, changed) => {
      const { document, unresolved } = restoreMasked(changed, stored);
      expect(unresolved).toHaveLength(1);
      expect(JSON.stringify(document)).not.toContain("0123");
    });

    test("and not by other parameters", () => {
      const stored = { definition: tool("Bearer 0123", place("ours.example")) };
      const changed = {
        definition: tool("Bear…", place("ours.example"), {
          name: "q",
          location: "PARAMETER_LOCATION_QUERY",
          value: 1,
        }),
      };
      expect(restoreMasked(changed, stored).unresolved).toEqual([]);
      const same = inPlace("Bearer 0123", "ours.example", { id: "2" });
      expect(restoreMasked(inPlace("Bear…", "ours.example", { id: "3" }), same).unresolved).toEqual([]);
    });
  });

  test("is not given to another tool, nor to one that is defined in place", () => {
    const stored = { selectedTools: [named("one", "Bearer 0123")] };
    for (const selection of [
      named("two", "Bear…"),
      { temporaryTool: fixedIn(from, "another key"), parameterOverrides: { "X-Key": "Bear…" } },
    ]) {
      const { unresolved } = restoreMasked({ selectedTools: [selection] }, stored);
      expect(unresolved).toEqual(["selectedTools.0.parameterOverrides.X-Key"]);
    }
    const moved = { selectedTools: [named("two", "a new key"), named("one", "Bear…")] };
    expect(restoreMasked(moved, stored).unresolved).toEqual([]);
  });
});
