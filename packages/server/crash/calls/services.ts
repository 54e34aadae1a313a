/** Services that are killed and started again. */

import { startChildService, type ChildService } from "../../demo/child-service.ts";

/** A busy machine starts several services at a time. */
const READY_LIMIT_MS = 300_000;

export class Services {
  readonly #dirs: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #random: () => number;
  readonly #onLine: (node: number, line: string) => void;
  readonly #running: (ChildService | null)[] = [];

  constructor(
    dirs: readonly string[],
    env: Readonly<Record<string, string>>,
    random: () => number,
    onLine: (node: number, line: string) => void,
  ) {
    this.#dirs = dirs;
    this.#env = env;
    this.#random = random;
    this.#onLine = onLine;
    // This also runs where this program fails: nothing that it started keeps running.
    process.on("exit", () => {
      for (const service of this.#running) if (service !== null) killProcess(service);
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  }

  async startAll(): Promise<void> {
    for (let node = 0; node < this.#dirs.length; node += 1) this.#running.push(await this.#start(node));
  }

  /** Null: none runs now. */
  readonly any = (): ChildService | null => {
    const up = this.#running.filter((service) => service !== null);
    return up[Math.floor(this.#random() * up.length)] ?? null;
  };

  async killOne(): Promise<void> {
    const node = Math.floor(this.#random() * this.#dirs.length);
    const victim = this.#running[node];
    if (victim === null || victim === undefined) return;
    this.#running[node] = null;
    killProcess(victim);
    await victim.exited;
    this.#running[node] = await this.#start(node);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#running.flatMap((service) => (service === null ? [] : [service.stop()])));
  }

  #start(node: number): Promise<ChildService> {
    return startChildService({
      dataDir: this.#dirs[node] ?? "",
      env: this.#env,
      readyLimitMs: READY_LIMIT_MS,
      onLine: (line) => this.#onLine(node, line),
    });
  }
}

function killProcess({ pid }: ChildService): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
