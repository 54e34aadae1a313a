/** A fake of Respeecher's speech websocket that refuses what Respeecher refuses. */

import { encodeMulaw } from "../../../media/g711.ts";
import { bytesOfSamples } from "../../../media/pcm.ts";
import { fakeSpeech, observed, piecesOf, type FakePace } from "../../sockets/testing/fake-voice.ts";
import {
  openFakeVoiceVendor,
  type FakeSocket,
  type FakeVoiceVendor,
} from "../../sockets/testing/fake-voice-vendor.ts";
import { RESPEECHER_GENERATIONS, RespeecherClientMessage, type RespeecherGeneration } from "../contract.ts";

export const RESPEECHER_KEY = "respeecher-secret-key-1";
export const RESPEECHER_VOICES = ["samantha", "olesia"];
/** Models, by their paths. */
export const RESPEECHER_PATHS = ["en-rt", "ua-rt"].map((model) => `/v1/public/tts/${model}/tts/websocket`);

export interface FakeRespeecherOptions extends FakePace {
  /** Bytes of audio in a chunk, before base64. Odd ones split samples. Default 1,001. */
  readonly chunkBytes?: number;
  /** Other paths that are served. */
  readonly paths?: readonly string[];
  /** The audio is not base64. */
  readonly spoilsAudio?: boolean;
  /** Each text is refused with this status. */
  readonly refuses?: { readonly status: number; readonly error: string; readonly withContext: boolean };
}

interface Account {
  generations: number;
  most: number;
}

export interface FakeRespeecher extends FakeVoiceVendor {
  /** Generations of the account at once so far. */
  readonly mostGenerations: number;
}

export async function openFakeRespeecher(options: FakeRespeecherOptions = {}): Promise<FakeRespeecher> {
  const account: Account = { generations: 0, most: 0 };
  const paths = [...RESPEECHER_PATHS, ...(options.paths ?? [])];
  const vendor = await openFakeVoiceVendor({
    upgrade: (request, url) => {
      if (!paths.includes(url.pathname) || url.search !== "")
        return { status: 404, body: '{"detail":"Not Found"}' };
      const key = request.headers["x-api-key"];
      if (key !== RESPEECHER_KEY) return { status: 401, body: `{"detail":"Wrong key ${String(key)}"}` };
      return null;
    },
    open: (socket) => new FakeConnection(socket, options, account).take,
  });
  // A new object would lose the getters.
  return Object.defineProperty(vendor, "mostGenerations", { get: () => account.most }) as FakeRespeecher;
}

class FakeConnection {
  readonly #socket: FakeSocket;
  readonly #options: FakeRespeecherOptions;
  readonly #account: Account;
  readonly #running = new Map<string, { isCancelled: boolean }>();
  readonly #finished = new Set<string>();

  constructor(socket: FakeSocket, options: FakeRespeecherOptions, account: Account) {
    this.#socket = socket;
    this.#options = options;
    this.#account = account;
  }

  readonly take = (value: unknown): void => {
    const read = RespeecherClientMessage.safeParse(value);
    if (!read.success) {
      this.#socket.refused(read.error.message);
      this.#socket.send({ type: "error", error: "validation failed", status_code: 422 });
      return;
    }
    const message = read.data;
    const { context_id: id } = message;
    if ("cancel" in message) {
      const running = this.#running.get(id);
      // A context that has just ended is no mistake of the client.
      if (running !== undefined) running.isCancelled = true;
      else if (!this.#finished.has(id)) this.#socket.refused(`${id} was never begun`);
      return;
    }
    this.#options.observe?.("text", message.transcript);
    this.#begin(id, message);
  };

  #begin(id: string, message: RespeecherGeneration): void {
    const { refuses } = this.#options;
    const { voice, output_format: format } = message;
    if (this.#running.has(id) || this.#finished.has(id)) {
      this.#socket.refused(`${id} was used before`);
      this.#fail(id, 400, "the context has ended");
    } else if (message.continue) {
      this.#socket.refused("a text that is not the last one of its context");
      this.#fail(id, 400, "not expected here");
    } else if (refuses !== undefined)
      this.#fail(refuses.withContext ? id : null, refuses.status, refuses.error);
    else if (!RESPEECHER_VOICES.includes(voice.id)) this.#fail(id, 404, `Voice ${voice.id} not found`);
    else if (format.encoding === "pcm_mulaw" && format.sample_rate !== 8_000) {
      this.#socket.refused("mu-law at another rate than 8000");
      this.#fail(id, 400, "mu-law needs 8000 Hz");
    } else if (this.#account.generations >= RESPEECHER_GENERATIONS) {
      this.#socket.refused("a sixth generation");
      this.#fail(id, 429, "Too many concurrent generations");
    } else {
      const running = { isCancelled: false };
      this.#running.set(id, running);
      this.#account.generations += 1;
      this.#account.most = Math.max(this.#account.most, this.#account.generations);
      this.#speak(id, message, running).catch((error: unknown) => this.#socket.refused(String(error)));
    }
  }

  async #speak(
    id: string,
    message: RespeecherGeneration,
    running: { readonly isCancelled: boolean },
  ): Promise<void> {
    const { encoding, sample_rate: rateHz } = message.output_format;
    const samples = fakeSpeech(message.transcript, rateHz, this.#options.msPerChar);
    const bytes = encoding === "pcm_mulaw" ? encodeMulaw(samples) : bytesOfSamples(samples);
    const frames = piecesOf(bytes, this.#options.chunkBytes ?? 1_001).map((piece) => () => {
      this.#chunk(id, piece);
    });
    const outcome = await this.#socket.deliver(
      observed(frames, message.transcript, this.#options),
      () => running.isCancelled,
    );
    this.#account.generations -= 1;
    this.#running.delete(id);
    this.#finished.add(id);
    // What was on its way when the cancellation came.
    if (outcome === "cancelled") this.#chunk(id, new Uint8Array(999).fill(0x55));
    if (outcome === "sent") this.#socket.send({ type: "done", context_id: id });
  }

  #chunk(id: string, piece: Uint8Array): void {
    const data = this.#options.spoilsAudio === true ? "~noise~" : Buffer.from(piece).toString("base64");
    this.#socket.send({ type: "chunk", context_id: id, data });
  }

  #fail(id: string | null, status: number, error: string): void {
    this.#socket.send({
      type: "error",
      ...(id === null ? {} : { context_id: id }),
      error,
      status_code: status,
    });
  }
}
