/** A caller in Firefox: the page of `browser-caller.ts`, which asks this program for what it should run. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLER_PAGE } from "../test/browser-caller.ts";

const FIREFOX = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);

/** What the microphone of Firefox's fake device plays. */
export const MICROPHONE_TONE_HZ = 440;
/** For one script, and for the first start of Firefox on a busy machine. */
const STEP_LIMIT_MS = 120_000;
const MAX_ANSWER_BYTES = 1_048_576;

/** Everything but loopback goes to a proxy on a port where nobody listens, so Firefox asks its maker for nothing. */
const PREFERENCES = {
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 1,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 1,
  "network.proxy.no_proxies_on": "127.0.0.1",
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.aboutwelcome.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.enabled": false,
  "toolkit.telemetry.server": "",
  "services.settings.server": "http://127.0.0.1:1/",
  "media.gmp-manager.url": "",
  "extensions.update.enabled": false,
  "media.autoplay.default": 0,
  "media.autoplay.blocking_policy": 0,
  "media.navigator.permission.disabled": true,
  "media.navigator.streams.fake": true,
  "media.navigator.audio.fake_frequency": MICROPHONE_TONE_HZ,
  "media.peerconnection.ice.obfuscate_host_addresses": false,
};

/** Asks for a script, runs it, and sends what it returned with the next request. */
const DRIVER = `<script>
(async () => {
  let answer = null;
  for (;;) {
    const response = await fetch("/steps", { method: "POST", body: JSON.stringify(answer) });
    if (response.status !== 200) return;
    const { script } = await response.json();
    answer = await Promise.resolve()
      .then(() => (0, eval)(script))
      .then((value) => ({ value: value ?? null }), (error) => ({ error: String(error) }));
  }
})();
</script>`;

type Result = { readonly value: unknown } | { readonly error: string };

interface Step {
  readonly script: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface FirefoxCaller {
  /** @throws what the script throws in the page, and after two minutes without an answer */
  run(script: string): Promise<unknown>;
  close(): Promise<void>;
}

/** The steps of one page, one after the other. */
class Steps {
  readonly #queue: Step[] = [];
  #running: Step | null = null;
  #idlePage: ServerResponse | null = null;

  run(script: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("Firefox did not answer")), STEP_LIMIT_MS);
      const settle =
        <Value>(done: (value: Value) => void) =>
        (value: Value): void => {
          clearTimeout(timer);
          done(value);
        };
      this.#queue.push({ script, resolve: settle(resolve), reject: settle(reject) });
      this.#sendNext();
    });
  }

  asked(result: Result | null, page: ServerResponse): void {
    const step = this.#running;
    this.#running = null;
    this.#idlePage = page;
    if (result !== null && "error" in result) step?.reject(new Error(result.error));
    else step?.resolve(result?.value);
    this.#sendNext();
  }

  #sendNext(): void {
    if (this.#idlePage === null) return;
    const step = this.#queue.shift();
    if (step === undefined) return;
    this.#running = step;
    this.#idlePage.setHeader("content-type", "application/json").end(JSON.stringify({ script: step.script }));
    this.#idlePage = null;
  }
}

async function resultIn(request: IncomingMessage): Promise<Result | null> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of request as AsyncIterable<Buffer>) {
    bytes += block.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the page's answer is too long");
    blocks.push(block);
  }
  return JSON.parse(Buffer.concat(blocks).toString("utf8")) as Result | null;
}

function openPageServer(steps: Steps): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      response.setHeader("content-type", "text/html").end(CALLER_PAGE + DRIVER);
      return;
    }
    resultIn(request).then(
      (result) => steps.asked(result, response),
      () => response.writeHead(400).end(),
    );
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

async function stop(firefox: ChildProcess): Promise<void> {
  if (firefox.exitCode !== null || firefox.signalCode !== null) return;
  const exited = once(firefox, "exit");
  firefox.kill("SIGKILL");
  await exited;
}

/** @throws where Firefox is not installed */
export async function openFirefoxCaller(): Promise<FirefoxCaller> {
  if (FIREFOX === undefined)
    throw new Error("Firefox is not installed (Debian: apt-get install firefox-esr)");
  const folder = await mkdtemp(join(tmpdir(), "parley-firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(folder, "user.js"), lines.join("\n"));
  const steps = new Steps();
  const server = await openPageServer(steps);
  const { port } = server.address() as AddressInfo;
  const firefox = spawn(
    FIREFOX,
    ["--headless", "--no-remote", "--profile", folder, `http://127.0.0.1:${String(port)}/`],
    { stdio: "ignore", env: { ...process.env, HOME: folder } },
  );
  return {
    run: (script) => steps.run(script),
    close: async () => {
      await stop(firefox);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      // Its processes for pages end a moment after it, and write until then.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
