/** Cartesia, "API reference", version 2025-11-04: `POST /voices/clone`, `DELETE /voices/{id}`. */

import { z } from "zod";
import type { VoiceCloner } from "../../ports/voice-cloning.ts";
import { primaryLanguage, recordingFile } from "./recording-file.ts";
import { answerOf, askVendor, removeAt, VoiceId } from "./vendor-request.ts";

const VENDOR = "Cartesia";
const VERSION = "2025-11-04";
const Answer = z.object({ id: VoiceId });

export function openCartesiaCloner(baseUrl = "https://api.cartesia.ai"): VoiceCloner {
  const headersOf = (key: string) => ({ "x-api-key": key, "cartesia-version": VERSION });
  return {
    kind: "provider2",
    name: VENDOR,
    async clone({ name, description, language, recording }, key, signal) {
      const body = new FormData();
      body.set("clip", recordingFile(recording));
      body.set("name", name);
      if (description !== null) body.set("description", description);
      body.set("language", primaryLanguage(language));
      const url = `${baseUrl}/voices/clone`;
      const asked = askVendor(
        { vendor: VENDOR, method: "POST", url, headers: headersOf(key), body, key },
        signal,
      );
      return answerOf(VENDOR, Answer, await asked).id;
    },
    remove(voiceId, key, signal) {
      const url = `${baseUrl}/voices/${encodeURIComponent(voiceId)}`;
      return removeAt({ vendor: VENDOR, url, headers: headersOf(key), key }, signal);
    },
  };
}
