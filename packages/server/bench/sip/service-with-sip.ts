/** The benchmark's service with SIP on a free port of the loopback address, and an agent that anyone there may call. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeAgent } from "../load.ts";
import { startBenchService, type BenchService } from "../service.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
/** The address of the callers. Other loopback addresses are strangers. */
export const CALLER_ADDRESS = "127.0.0.1";

export interface SipBenchService extends BenchService {
  readonly sipPort: number;
  /** Of the Request-URI. */
  readonly callee: string;
}

export async function startServiceWithSip(nodeArguments: readonly string[]): Promise<SipBenchService> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-sip-"));
  const { promise: listens, resolve } = Promise.withResolvers<number>();
  const onLine = (line: string): boolean => {
    const port = /sip: udp \S+ port (\d+)/.exec(line)?.[1];
    if (port !== undefined) resolve(Number(port));
    return port !== undefined;
  };
  const env = {
    DATA_DIR: dataDir,
    SIP_HOST: "sip.test",
    SIP_BIND: CALLER_ADDRESS,
    SIP_PORT: "0",
    SIP_TLS_PORT: "0",
    ALLOW_PRIVATE_TARGETS: "127.0.0.0/8",
  };
  const service = await startBenchService(DELAYS, env, { nodeArguments, onLine });
  try {
    await allowSip(dataDir);
    const allowed = { allowedCidrRanges: [`${CALLER_ADDRESS}/32`], allowAllAgents: true };
    const { domain } = await service.rest<{ domain: string }>("PATCH", "/api/sip", allowed);
    const agentId = await makeAgent(service.rest, { medium: undefined });
    const stop = async (): Promise<void> => {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
    return { ...service, stop, sipPort: await listens, callee: `agent_${agentId}@${domain}` };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** As an operator does it, with the command line. */
async function allowSip(dataDir: string): Promise<void> {
  const program = fileURLToPath(new URL("../../src/cli/parley.ts", import.meta.url));
  const child = spawn(process.execPath, [program, "accounts", "sip", "default", "on"], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (code !== 0) throw new Error(`SIP could not be allowed: exit code ${String(code)}`);
}
