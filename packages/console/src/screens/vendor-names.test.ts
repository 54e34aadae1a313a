import { expect, test } from "vitest";
import { providerNameOf } from "./vendor-names.ts";

test("a voice is named by the company that speaks it", () => {
  expect(providerNameOf({ provider1: { voiceId: "v" } })).toBe("ElevenLabs");
  expect(providerNameOf({ provider6: {} })).toBe("Respeecher");
  expect(providerNameOf({ generic: { url: "https://tts.example" } })).toBe("Your HTTP service");
});
