import { createRestClient } from "@parley/client/rest";
import { expect, test } from "vitest";
import { problemOf } from "./lookups.ts";
import type { Reference } from "./references.ts";

const ID = "91fa9bcf-93c8-467c-8b29-973720e3f167";

/** For a service with one voice and one model. */
function clientOf(aliases: object) {
  const page = (name: string) => ({
    results: [{ name, ownership: "public" }],
    next: null,
    previous: null,
    total: 1,
  });
  const answers = new Map<string, object>([
    ["/api/models", page("default")],
    ["/api/voices", page("espeak-m1")],
    ["/api/name_aliases", { voices: [], models: [], ...aliases }],
  ]);
  return createRestClient({
    baseUrl: "http://service",
    apiKey: "key",
    fetch: async (url) => {
      const answer = answers.get(new URL(url).pathname);
      return answer === undefined
        ? Response.json({ status: 404, code: "not_found", detail: "There is none." }, { status: 404 })
        : Response.json(answer);
    },
  });
}

async function problem(aliases: object, kind: Reference["kind"], name: string): Promise<string | null> {
  return problemOf(clientOf(aliases), { path: kind, kind, name }, new AbortController().signal);
}

test.each([["voice", "voices"] as const, ["model", "models"] as const])(
  "a %s that only an alias has is known",
  async (kind, of) => {
    expect(await problem({}, kind, "Mark")).toMatch(/ “Mark” does not exist\./);
    const named = { [of]: [{ name: "Mark", target: "default" }] };
    expect(await problem(named, kind, "Mark")).toBeNull();
    expect(await problem(named, kind, "Jessica")).toMatch(/ “Jessica” does not exist\./);
    const any = { [of]: [{ name: "*", target: "default" }] };
    expect(await problem(any, kind, "Jessica")).toBeNull();
    const other = { voices: [], models: [], [of === "voices" ? "models" : "voices"]: any[of] };
    expect(await problem(other, kind, "Jessica")).not.toBeNull();
  },
);

test("ids of aliases are read in any case, names are not", async () => {
  const voices = [
    { name: ID, target: "espeak-m1" },
    { name: "Mark", target: "espeak-m1" },
  ];
  expect(await problem({ voices }, "voice", ID.toUpperCase())).toBeNull();
  expect(await problem({ voices }, "voice", "mark")).not.toBeNull();
});
