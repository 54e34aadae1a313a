/** A voice whose requests are counted, of the deployment or of a vendor. */

import type { UseListener } from "../../ports/engine-use.ts";
import type { TtsEngine, TtsPart } from "../../ports/tts.ts";
import { meteredStream, UseMeter, type MeterParts } from "./engine-meter.ts";

/** @param name as the metrics name it */
export function meteredTts(engine: TtsEngine, name: string, parts: MeterParts): TtsEngine {
  const meter = new UseMeter(
    {
      kind: "tts",
      engine: name,
      provider: engine.name,
      model: engine.model ?? null,
      isLocal: engine.server === undefined,
    },
    parts,
  );
  return {
    ...engine,
    speaks: (language) => engine.speaks(language),
    synthesize: (request, signal) =>
      meteredSpeech({
        meter,
        listener: request.meter,
        signal,
        text: request.text,
        start: () => engine.synthesize(request, signal),
      }),
  };
}

export interface MeteredSpeech {
  readonly meter: UseMeter;
  readonly listener: UseListener | undefined;
  readonly signal: AbortSignal;
  readonly text: string;
  readonly start: () => AsyncIterable<TtsPart>;
}

/** A request that failed without audio counts no characters: vendors charge for what they say. */
export function meteredSpeech({ text, ...request }: MeteredSpeech): AsyncGenerator<TtsPart> {
  let spokenMs = 0;
  return meteredStream<TtsPart>({
    ...request,
    take: (part) => {
      if (part.type !== "audio" || part.samples.length === 0) return null;
      spokenMs += (part.samples.length * 1_000) / part.sampleRateHz;
      return "first";
    },
    amounts: (outcome, hasBegun) => ({
      amounts:
        outcome === "failed" && !hasBegun
          ? {}
          : { characters: Array.from(text).length, spokenMs: Math.round(spokenMs) },
    }),
  });
}
