import * as fc from "fast-check";
import { expect, it } from "vitest";
import { documentForAnswer, mask, openDocument, redactDocument, sealDocument } from "./redaction.ts";
import { restoreMasked } from "./restore-masked.ts";
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
      // Only "SECR…" may be visible; the schema of the answer decides on callbacks.
      expect(JSON.stringify({ ...shown, callbacks: null })).not.toContain("SECRET");
      expect(shown["callbacks"]).toEqual(plain["callbacks"]);
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

it("seals every override of a tool that is named, and masks those whose names indicate secrets", () => {
  const selections = (key: string, nested: object): object => ({
    selectedTools: [
      {
        toolName: "x",
        parameterOverrides: {
          "x-key": key,
          constructor: "visible value",
          deep: nested,
          n: 3,
          list: ["ten", "abc…"],
        },
      },
      { toolId: "2fff509d-273f-414e-91ff-aa933435a545", parameterOverrides: { password: key } },
      { temporaryTool: null, toolName: "y", parameterOverrides: { path: "a", city: "Winterthur" } },
    ],
  });
  const whole = selections("Bearer 0123", { of: ["Bearer 4567"], apiKey: "0123456789" }) as Record<
    string,
    unknown
  >;
  const shown = selections("Bear…", { of: ["Bear…"], apiKey: "0123…" });
  expect(redactDocument(whole)).toEqual(shown);
  const sealed = sealDocument(sealer, whole, "row");
  for (const value of ["0123", "4567", "visible", "Winterthur"]) expect(sealed.document).not.toContain(value);
  expect(openDocument(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(whole);
  expect(documentForAnswer(sealer, sealed.stored, sealed.sealedSecrets, "row")).toEqual(shown);
  expect(restoreMasked(shown, whole)).toEqual({ document: whole, unresolved: [] });
  const { unresolved } = restoreMasked(shown, null);
  expect(unresolved).toContain("selectedTools.0.parameterOverrides.x-key");
  expect(unresolved).not.toContain("selectedTools.0.parameterOverrides.list.1");
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
