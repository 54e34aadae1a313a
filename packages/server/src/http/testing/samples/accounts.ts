import type { Samples } from "./samples.ts";

const rules = [{ maxCalls: 2, windowSeconds: 1 }];

export const accountSamples: Samples = {
  async make(owner) {
    const key = await owner.post("/api/api_keys", { name: "second" });
    const throttle = await owner.post("/api/call_throttles", { name: "gently", rules });
    return {
      api_key_prefix: String(key.json["prefix"]),
      throttle_id: String(throttle.json["throttleId"]),
    };
  },
  bodies: {
    testEngine: { engine: "llm" },
    createApiKey: { name: "second" },
    createCallThrottle: { name: "gently", rules },
    replaceCallThrottle: { name: "gently", rules },
  },
};
