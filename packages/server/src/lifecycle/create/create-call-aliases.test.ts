import { describe, expect, test } from "vitest";
import { parsePlan } from "../../plan/stored-plan.ts";
import { refusal, setUp, socket } from "./testing/call-creation.ts";

describe("aliases", () => {
  const id = "91FA9BCF-93C8-467C-8B29-973720E3F167";
  const aliases = {
    voices: [
      { name: "Mark", target: "en-us" },
      { name: id, target: "alba" },
    ],
    models: [{ name: "fixie-ai/small", target: "small" }],
  };
  const any = [{ name: "*", target: "default" }];
  const withAny = { voices: [...aliases.voices, ...any], models: [...aliases.models, ...any] };

  test.each<[object, object]>([
    [{ voice: "Mark" }, { voice: { kind: "deployment", name: "en-us" } }],
    [{ voice: id.toLowerCase() }, { voice: { kind: "deployment", name: "alba" } }],
    [{ voice: "alba" }, { voice: { kind: "deployment", name: "alba" } }],
    [{ model: "fixie-ai/small" }, { model: "small" }],
    [{ model: "fixie-ai/other" }, { model: "default" }],
  ])("%o means %o, is echoed as sent, and warns of nothing", async (request, meant) => {
    const { call, started, stored } = setUp({ aliases: withAny });
    await call(request);
    expect(started[0]?.stage).toMatchObject(meant);
    expect(started[0]?.stage).not.toHaveProperty("warnings");
    expect(stored[0]?.settings).toMatchObject(request);
    expect(stored[0]?.stage.settings).toMatchObject(request);
  });

  test("a model that is given the user's voice says so in the plan, which can be stored", async () => {
    const { call, started, stored } = setUp({ aliases, takesAudio: (model) => model === "small" });
    await call({ model: "fixie-ai/small" });
    await call({ model: "default" });
    expect(started.map(({ stage }) => stage.takesAudio)).toEqual([true, undefined]);
    expect(started[0]).toEqual(parsePlan(JSON.parse(JSON.stringify(stored[0]?.plan))));
  });

  test("the voice that an alias means is on record", async () => {
    const { call, stored } = setUp({ aliases });
    await call({ voice: "Mark" });
    expect(stored[0]?.voiceId).toBe("44444444-4444-4444-8444-444444444444");
  });

  test("a voice of the account comes before an alias of its name", async () => {
    const definition = { generic: { url: "https://tts.example" } };
    const voiceId = "55555555-5555-4555-8555-555555555555";
    const mark = { voiceId, name: "Mark", kind: "generic", definition } as const;
    const error = await refusal(
      setUp({ aliases: withAny, findVoices: async () => [mark] }).call({ voice: "Mark" }),
    );
    expect(error.kind).toBe("not_available");
  });

  test("unknown names stay 400 without *, and the refusal lists the aliases", async () => {
    const error = await refusal(setUp({ aliases }).call({ voice: "Jessica", model: "gpt" }));
    expect(error.errors).toEqual([
      { field: "model", message: "must be a known model: default, small, fixie-ai/small" },
      {
        field: "voice",
        message: `names a voice that does not exist: Jessica; there are alba, en-us, Mark, ${id}`,
      },
    ]);
  });

  test("* takes every other name, with a warning for each", async () => {
    const { call, started, stored } = setUp({ aliases: withAny });
    const request = { voice: "Jessica", model: "gpt", voiceOverrides: { provider1: { speed: 1.1 } } };
    await call(request);
    expect(started[0]?.stage).toMatchObject({ voice: { kind: "deployment", name: null }, model: "default" });
    expect(started[0]?.stage.warnings).toEqual([
      { type: "model.replaced", text: "there is no model gpt here; MODEL_ALIASES replaces it by default" },
      {
        type: "voice.replaced",
        text: "there is no voice Jessica here; VOICE_ALIASES replaces it by default",
      },
      {
        type: "voice.overrides_ignored",
        text: "voiceOverrides have no effect: Jessica is an alias of a voice of this deployment",
      },
    ]);
    expect(stored[0]?.settings).toMatchObject(request);
    expect(started).toEqual([parsePlan(JSON.parse(JSON.stringify(stored[0]?.plan)))]);
  });

  test("apply to the template of an agent and to the voice that a request puts over it", async () => {
    const { callAgent, started } = setUp(
      { aliases: withAny },
      { voice: "Mark", model: "theirs", medium: socket },
    );
    await callAgent();
    await callAgent({ voice: "Jessica" });
    expect(started.map(({ stage }) => [stage.voice, stage.warnings?.map(({ type }) => type)])).toEqual([
      [{ kind: "deployment", name: "en-us" }, ["model.replaced"]],
      [{ kind: "deployment", name: null }, ["model.replaced", "voice.replaced"]],
    ]);
  });
});
