/** A streaming recogniser as the port has it: partial words, and an answer soon after the end of the audio. */

import type { SttEngine, SttListener, SttOptions, SttStream } from "../../ports/stt.ts";
import { STT_MAX_OPEN_UTTERANCES } from "../batch-stt.ts";
import { speaksLanguage, type LocalModel } from "../local-child/local-model.ts";
import { StreamingLink, type StreamingLinkOptions } from "./streaming-link.ts";
import { StreamingUtterance } from "./streaming-utterance.ts";

class StreamingCall implements SttStream {
  readonly #link: StreamingLink;
  readonly #listener: SttListener;
  readonly #whenClosed: () => void;
  readonly #utterances = new Map<number, StreamingUtterance>();
  #isClosed = false;

  constructor(link: StreamingLink, listener: SttListener, whenClosed: () => void) {
    this.#link = link;
    this.#listener = listener;
    this.#whenClosed = whenClosed;
  }

  open(utteranceId: number): void {
    if (this.#isClosed || this.#utterances.has(utteranceId)) return;
    const listener = this.#listener;
    const utterance = new StreamingUtterance(this.#link, {
      partial: (text) => listener.partial(utteranceId, text),
      final: (revision, text) => listener.final(utteranceId, revision, text, text !== ""),
      failed: (revision, error) => listener.failed(utteranceId, revision, error),
    });
    this.#utterances.set(utteranceId, utterance);
    const [oldest] = this.#utterances;
    if (this.#utterances.size <= STT_MAX_OPEN_UTTERANCES || oldest === undefined) return;
    this.#utterances.delete(oldest[0]);
    oldest[1].failAll(new Error("too many utterances are open"));
  }

  push(utteranceId: number, samples: Int16Array): void {
    this.#utterances.get(utteranceId)?.push(samples);
  }

  request(utteranceId: number, revision: number): void {
    this.#utterances.get(utteranceId)?.request(revision);
  }

  abandon(utteranceId: number): void {
    this.#utterances.get(utteranceId)?.close();
    this.#utterances.delete(utteranceId);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const utterance of this.#utterances.values()) utterance.close();
    this.#utterances.clear();
    this.#whenClosed();
  }
}

/** Resolves when the model is loaded. */
export async function openStreamingStt(model: LocalModel, options: StreamingLinkOptions): Promise<SttEngine> {
  const link = new StreamingLink(options);
  await link.load();
  const calls = new Set<StreamingCall>();
  let closing: Promise<void> | null = null;
  return {
    name: "local",
    model: model.name,
    unusable: link.unusable,
    open: ({ language }: SttOptions, listener) => {
      const call = new StreamingCall(link, listener, () => calls.delete(call));
      calls.add(call);
      const warning = warningFor(model, language);
      // Only after the caller has received the stream.
      if (warning !== null) queueMicrotask(() => calls.has(call) && listener.warned(warning));
      return call;
    },
    close: () => (closing ??= link.close()),
  };
}

/** Null: there is none. */
export function warningFor(model: LocalModel, language: string | null): string | null {
  if (language === null || speaksLanguage(model, language)) return null;
  const known = model.languages.join(", ");
  return `the recogniser ${model.name} understands ${known} only; this call speaks ${language}`;
}
