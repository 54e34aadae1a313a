import type { Samples } from "./samples.ts";

const voice = { name: "Ada", definition: { provider1: { voiceId: "a" } } };

export const voiceSamples: Samples = {
  async make(owner) {
    const made = await owner.post("/api/voices", voice);
    return { voice_id: String(made.json["voiceId"]) };
  },
  bodies: { createVoice: voice, replaceVoice: voice },
};
