import { describe, expect, it, test } from "vitest";
import { restoreMasked } from "./restore-masked.ts";

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
  expect(unresolved).toEqual(["dataConnection.headers.C"]);
  expect(document).toEqual({
    dataConnection: { headers: { A: "Bearer 0123", B: "new value", C: "Bear…", D: "a…b" } },
    selectedTools: [tool("second", "omega-key-2"), tool("first", "alpha-key-1")],
    callbacks: { ended: { secrets: ["another-two", "brand new secret"] } },
  });
  expect(restoreMasked(incoming, null).unresolved).toHaveLength(5);
});

describe("values with the same mask and target", () => {
  const selected = (name: string, key: string, more: object = {}) => ({
    toolId: "t",
    nameOverride: name,
    parameterOverrides: { Authorization: key, ...more },
  });
  const stored = { selectedTools: [selected("a", "Bearer 1111"), selected("b", "Bearer 2222")] };
  const restored = (...selectedTools: readonly object[]) => restoreMasked({ selectedTools }, stored);
  const result = (...selectedTools: readonly object[]) => ({ document: { selectedTools }, unresolved: [] });

  test.each<[string, object[], object[]]>([
    ["sent back as they are", [selected("a", "Bear…"), selected("b", "Bear…")], stored.selectedTools],
    ["without the first", [selected("b", "Bear…")], [selected("b", "Bearer 2222")]],
    [
      "moved and changed",
      [selected("b", "Bear…", { city: "Bern" }), selected("a", "Bear…")],
      [selected("b", "Bearer 2222", { city: "Bern" }), selected("a", "Bearer 1111")],
    ],
    [
      "renamed, so that one is left",
      [selected("b", "Bear…"), selected("new", "Bear…")],
      [selected("b", "Bearer 2222"), selected("new", "Bearer 1111")],
    ],
    [
      "all renamed in their places",
      [selected("c", "Bear…"), selected("d", "Bear…")],
      [selected("c", "Bearer 1111"), selected("d", "Bearer 2222")],
    ],
  ])("%s", (_what, incoming, expected) => {
    expect(restored(...incoming)).toEqual(result(...expected));
  });

  test("are not restored where it is unclear which one is meant", () => {
    expect(restored(selected("new", "Bear…")).unresolved).toEqual([
      "selectedTools.0.parameterOverrides.Authorization",
    ]);
    const secrets = { callbacks: { ended: { secrets: ["secret-one", "secret-two"] } } };
    const fewer = { callbacks: { ended: { secrets: ["secr…"] } } };
    expect(restoreMasked(fewer, secrets).unresolved).toEqual(["callbacks.ended.secrets.0"]);
    const same = { callbacks: { ended: { secrets: ["secr…", "secr…"] } } };
    expect(restoreMasked(same, secrets)).toEqual({ document: secrets, unresolved: [] });
  });

  test("of the headers of one tool are told apart by the names of the parameters", () => {
    const header = (name: string, value: string) => ({ name, location: "PARAMETER_LOCATION_HEADER", value });
    const tool = (...staticParameters: object[]) => ({ definition: { staticParameters } });
    const two = tool(header("X-One", "Bearer 1111"), header("X-Two", "Bearer 2222"));
    expect(restoreMasked(tool(header("X-Two", "Bear…")), two)).toEqual({
      document: tool(header("X-Two", "Bearer 2222")),
      unresolved: [],
    });
  });
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
