/** ElevenLabs, "API reference": `POST /v1/voices/add` (instant voice cloning), `DELETE /v1/voices/{voice_id}`. */

import { z } from "zod";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { VoiceCloner } from "../../ports/voice-cloning.ts";
import { primaryLanguage, recordingFile } from "./recording-file.ts";
import { answerOf, askVendor, removeAt, VoiceId } from "./vendor-request.ts";

const VENDOR = "ElevenLabs";
const Answer = z.object({ voice_id: VoiceId, requires_verification: z.boolean().default(false) });

export function openElevenLabsCloner(baseUrl = "https://api.elevenlabs.io"): VoiceCloner {
  const headersOf = (key: string) => ({ "xi-api-key": key, accept: "application/json" });
  const remove: VoiceCloner["remove"] = (voiceId, key, signal) => {
    const url = `${baseUrl}/v1/voices/${encodeURIComponent(voiceId)}`;
    return removeAt({ vendor: VENDOR, url, headers: headersOf(key), key }, signal);
  };
  return {
    kind: "provider1",
    name: VENDOR,
    remove,
    async clone({ name, description, language, recording }, key, signal) {
      const body = new FormData();
      body.set("name", name);
      body.set("files", recordingFile(recording));
      if (description !== null) body.set("description", description);
      body.set("labels", JSON.stringify({ language: primaryLanguage(language) }));
      const url = `${baseUrl}/v1/voices/add`;
      const asked = askVendor(
        { vendor: VENDOR, method: "POST", url, headers: headersOf(key), body, key },
        signal,
      );
      const { voice_id: voiceId, requires_verification: isLocked } = answerOf(VENDOR, Answer, await asked);
      if (!isLocked) return voiceId;
      // It cannot speak until its owner has proved to be the speaker, in the vendor's own pages.
      await remove(voiceId, key, signal);
      throw new EngineFailure("ElevenLabs wants to verify the speaker of this recording", {
        type: "verification",
      });
    },
  };
}
