import { expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { routeModels } from "./llm-router.ts";

const asked = (text: string) => llmRequest({ messages: [{ role: "user", text }] });

function open() {
  const reply = (who: string) => (request: { messages: readonly { text: string }[] }) =>
    `${who} heard ${request.messages.at(-1)?.text ?? "nothing"}`;
  const main = {
    ...openFakeLlm({ reply: reply("main"), models: ["small", "shared"] }),
    server: { address: "a", port: 1 },
  };
  const fast = openFakeLlm({ reply: reply("fast"), models: ["groq:x", "shared"] });
  const ears = { ...openFakeLlm({ reply: reply("ears"), models: ["compatible:y"] }), takesAudio: () => true };
  return { main, fast, ears, router: routeModels(main, [fast, ears]) };
}

describeLlmConformance("several language models together", {
  open: () => open().router,
  requests: [asked("one"), asked("two")],
});

it("sends each request to the engine that has the name", async () => {
  const { router } = open();
  const replies = await Promise.all(
    ["default", "small", "groq:x", "compatible:y", "shared"].map(async (model) =>
      textOf((await collect(router.generate({ ...asked("it"), model }, neverAborted()))).parts),
    ),
  );
  expect(replies).toEqual(["main", "main", "fast", "ears", "main"].map((who) => `${who} heard it`));
});

it("names all models, and is otherwise its main engine", () => {
  const { router, main, fast } = open();
  expect(router.models).toEqual(["small", "shared", "groq:x", "compatible:y"]);
  expect(router).toMatchObject({ name: main.name, server: main.server });
  expect([router.engineOf?.("groq:x"), router.engineOf?.("default"), router.engineOf?.("unknown")]).toEqual([
    fast,
    main,
    main,
  ]);
  expect([router.takesAudio?.("compatible:y"), router.takesAudio?.("default")]).toEqual([true, false]);
});

it("is the main engine itself where there is no other", () => {
  const { main } = open();
  expect(routeModels(main, [])).toBe(main);
});
