/** LMNT, "API reference", Voices: `POST /v1/ai/voice`, `DELETE /v1/ai/voice/{id}`. */

import { z } from "zod";
import type { VoiceCloner } from "../../ports/voice-cloning.ts";
import { recordingFile } from "./recording-file.ts";
import { answerOf, askVendor, removeAt, VoiceId } from "./vendor-request.ts";

const VENDOR = "LMNT";
const VERSION = "1.1";
const Answer = z.object({ id: VoiceId });

export function openLmntCloner(baseUrl = "https://api.lmnt.com"): VoiceCloner {
  const headersOf = (key: string) => ({ "x-api-key": key, "lmnt-version": VERSION });
  return {
    kind: "provider3",
    name: VENDOR,
    async clone({ name, description, recording }, key, signal) {
      const details = { name, enhance: false, ...(description === null ? {} : { description }) };
      const body = new FormData();
      body.append("files", recordingFile(recording));
      // The interface took these as one JSON text first, and takes them as fields of the form since: both are sent.
      body.set("metadata", JSON.stringify({ ...details, type: "instant" }));
      for (const [field, value] of Object.entries(details)) body.set(field, String(value));
      const url = `${baseUrl}/v1/ai/voice`;
      const asked = askVendor(
        { vendor: VENDOR, method: "POST", url, headers: headersOf(key), body, key },
        signal,
      );
      return answerOf(VENDOR, Answer, await asked).id;
    },
    remove(voiceId, key, signal) {
      const url = `${baseUrl}/v1/ai/voice/${encodeURIComponent(voiceId)}`;
      return removeAt({ vendor: VENDOR, url, headers: headersOf(key), key }, signal);
    },
  };
}
