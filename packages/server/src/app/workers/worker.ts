/** One worker of a service: a whole node, which shares its port with the others. */

import { once } from "node:events";
import { createServer } from "node:net";
import type { Parley } from "../parley.ts";
import type { ToPrimary, ToWorker } from "./messages.ts";

/** The primary answers within 2 s, or is held up. */
const METRICS_LIMIT_MS = 5_000;
/** Scrapes at once; each waits 5 s at most. */
const MOST_REQUESTS = 100;

export interface PrimaryLink {
  /** The metrics of all workers. Null: the primary process does not answer now. */
  readonly allMetrics: () => Promise<string | null>;
  /** Answers the primary process from now on. */
  readonly serve: (parley: Pick<Parley, "publicUrl" | "newApiKey" | "ownMetrics">, stop: () => void) => void;
}

export function openPrimaryLink(): PrimaryLink {
  const waiting = new Map<number, (text: string) => void>();
  let requests = 0;
  let stopRequested = false;
  let serving: { readonly ownMetrics: () => Promise<string>; readonly stop: () => void } | null = null;
  process.on("message", (message: ToWorker) => {
    if (message.kind === "stop") {
      stopRequested = true;
      serving?.stop();
      // Nothing is served yet, so nothing must end in order.
      if (serving === null) process.exit(0);
    } else if (message.kind === "allMetrics") {
      waiting.get(message.request)?.(message.text);
    } else {
      void answerMetrics(message.request, serving?.ownMetrics ?? null);
    }
  });
  return {
    async allMetrics() {
      if (waiting.size >= MOST_REQUESTS) return null;
      const request = (requests += 1);
      const { promise, resolve } = Promise.withResolvers<string | null>();
      const limit = setTimeout(() => resolve(null), METRICS_LIMIT_MS);
      waiting.set(request, resolve);
      tell({ kind: "metricsWanted", request });
      const text = await promise;
      clearTimeout(limit);
      waiting.delete(request);
      return text;
    },
    serve({ publicUrl, newApiKey, ownMetrics }, stop) {
      serving = { ownMetrics, stop };
      if (stopRequested) stop();
      else tell({ kind: "ready", served: { publicUrl, newApiKey } });
    },
  };
}

async function answerMetrics(request: number, own: (() => Promise<string>) | null): Promise<void> {
  // The primary names the workers that could not answer.
  const text = own === null ? null : await own().catch(() => null);
  tell({ kind: "metrics", request, text });
}

function tell(message: ToPrimary): void {
  // Without the primary process the runtime ends this one.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/**
 * The environment of one worker. Other workers reach it at a loopback address with a port of its own; where NODE_ADDRESS
 * names an address of the machine, at that address, with the next port for each worker.
 */
export async function workerEnvironment(
  env: NodeJS.ProcessEnv,
  number: number,
): Promise<Readonly<Record<string, string | undefined>>> {
  const given = (env["NODE_ADDRESS"] ?? "").trim();
  return { ...env, NODE_ADDRESS: given === "" ? await freeLoopbackAddress() : addressOf(given, number) };
}

/** @param given of the first worker; a wrong one is left as it is, for the reader of the settings to refuse */
export function addressOf(given: string, number: number): string {
  const url = URL.parse(given);
  if (url === null || url.port === "") return given;
  url.port = String(Number(url.port) + number - 1);
  return url.href.replace(/\/$/, "");
}

async function freeLoopbackAddress(): Promise<string> {
  return `http://127.0.0.1:${String(await freePort("127.0.0.1"))}`;
}

/** A port that nobody listens at now. */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  server.listen({ host, port: 0, exclusive: true });
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
