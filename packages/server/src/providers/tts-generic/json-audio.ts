/** Audio in JSON: the text at a path of each document, as bytes, as samples. Pure. */

import { readSpeechBody, type SpeechBody, type SpeechSamples } from "../speech-body.ts";
import { ADVICE, failed } from "./failure.ts";
import type { GenericVoice } from "./request.ts";

export interface JsonAudio {
  /**
   * Samples of the audio in one document; null where it has none. Throws where it has an error or something else than
   * audio.
   */
  take(document: unknown): SpeechSamples | null;
  /** What was held back. */
  end(): SpeechSamples | null;
}

/** "RIFF", a size, "WAVE". */
const SNIFF_BYTES = 12;
const HEX = /^[0-9a-f]*$/i;
/** Both alphabets. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * A WAV header may begin the audio, or the audio of every document: each begins a file, and what has no header goes on
 * with the one before. Headerless samples may be cut anywhere.
 */
export function openJsonAudio(voice: GenericVoice): JsonAudio {
  const path = voice.jsonAudioFieldPath ?? null;
  const isHex = voice.jsonByteEncoding === "JSON_BYTE_ENCODING_HEX";
  let reader: SpeechBody | null = null;
  let hasYielded = false;
  let hasEverYielded = false;
  let rateHz: number | null = null;

  const noted = (samples: SpeechSamples | null): SpeechSamples | null => {
    if (samples === null) return null;
    hasYielded = true;
    hasEverYielded = true;
    rateHz ??= samples.sampleRateHz;
    if (samples.sampleRateHz === rateHz) return samples;
    const change = `from ${String(rateHz)} to ${String(samples.sampleRateHz)} Hz`;
    throw failed(`changed the rate of its audio ${change}`, { type: "garbage" });
  };

  const next = (isFile: boolean): SpeechBody => {
    const opened = readSpeechBody(isFile ? "audio/wav" : null, {
      pcmRateHz: voice.responseSampleRate,
      advice: ADVICE,
    });
    reader = opened;
    hasYielded = false;
    return opened;
  };

  return {
    take(document) {
      if (path === null)
        throw failed("answered JSON, and the voice has no jsonAudioFieldPath", {
          type: "no_path",
          isPermanent: true,
        });
      const text = valueAt(document, path.split("."));
      if (text === undefined || text === null || text === "") {
        const error = errorIn(document);
        if (error !== null) throw failed(`answered an error: ${error}`, { type: "error" });
        return null;
      }
      const bytes = typeof text === "string" ? bytesOf(text, isHex) : null;
      if (bytes === null)
        throw failed(`answered no ${isHex ? "hexadecimal" : "base64"} text at ${path}`, { type: "garbage" });
      if (!isFileStart(bytes)) return noted((reader ?? next(false)).push(bytes));
      // What the file before held back is less than a sample.
      return noted(next(true).push(bytes));
    },
    end() {
      // A last header without audio after it is no failure.
      if (reader === null || (hasEverYielded && !hasYielded)) return null;
      return noted(reader.end());
    },
  };
}

/** Own members only, so that a path cannot reach what every object has. */
function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Null: the text is not of the encoding. A part that is cut within a byte is not, either. */
function bytesOf(text: string, isHex: boolean): Uint8Array | null {
  // Some servers break lines, and a data URL is base64 after its comma.
  const plain = text.replaceAll(/\s+/g, "");
  if (isHex) return plain.length % 2 === 0 && HEX.test(plain) ? Buffer.from(plain, "hex") : null;
  const data = /^data:[^,]{0,100};base64,/.exec(plain)?.[0] ?? "";
  const encoded = plain.slice(data.length);
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

function isFileStart(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, SNIFF_BYTES)).toString("latin1");
  return start.startsWith("RIFF") && start.endsWith("WAVE");
}

/** What servers give beside or in place of audio. */
function errorIn(document: unknown): string | null {
  for (const path of [["error", "message"], ["error"], ["detail"], ["message"]]) {
    const value = valueAt(document, path);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
