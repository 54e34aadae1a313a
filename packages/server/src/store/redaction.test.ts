import * as fc from "fast-check";
import { expect, it } from "vitest";
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
      // "SECR…" is all that may be seen.
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

it("leaves overrides as they are where no definition says their place", () => {
  const overrides = { parameterOverrides: { "x-key": "Bearer 0123", constructor: "Bearer 0123" } };
  const document = {
    selectedTools: [
      { toolName: "x", ...overrides },
      { temporaryTool: null, ...overrides },
    ],
  };
  expect(redactDocument(document)).toEqual(document);
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
