/** Services that are killed while a carrier is being asked: nobody is dialled twice, and no call is forgotten. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { restOf, startChildService, type ChildService } from "../demo/child-service.ts";
import type { CarrierSubject, PlacedCall } from "../src/ports/testing/carriers-conformance.ts";
import { openFakeTwilio } from "../src/providers/carriers/testing/fake-twilio.ts";
import type { CallRecord, EventRecord } from "./running-service.ts";

const PATIENT = { timeout: 120_000, interval: 100 };
const NUMBERS = { to: "+4930123456", from: "+4930654321" };
const API_KEY = "dialTest.abcdefghijklmnopqrstuvwxyzABCDEF";

interface World {
  readonly carrier: CarrierSubject;
  readonly start: () => Promise<ChildService>;
}

async function openWorld(): Promise<World> {
  const carrier = await openFakeTwilio();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-dial-"));
  const running: ChildService[] = [];
  onTestFinished(async () => {
    await Promise.all(running.map((service) => service.stop()));
    await carrier.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const env = { API_KEY, TWILIO_BASE_URL: carrier.baseUrl, LOG_LEVEL: "fatal" };
  return {
    carrier,
    start: async () => {
      const service = await startChildService({ dataDir, env });
      running.push(service);
      return service;
    },
  };
}

/** Begins something that dials, and kills the service when the carrier has dialled and the service does not know it. */
async function killWhileDialling(
  { carrier, start }: World,
  begin: (service: ChildService) => Promise<void>,
): Promise<PlacedCall> {
  const service = await start();
  const { settings, secrets } = carrier.account;
  await restOf(service)("POST", "/api/telephony_configs/telephony1", { ...settings, ...secrets });
  carrier.failWith({ kind: "acts_silently" });
  await begin(service);
  await vi.waitFor(() => expect(carrier.placed()).toHaveLength(1), PATIENT);
  process.kill(service.pid, "SIGKILL");
  await service.exited;
  carrier.failWith(null);
  const [placed] = carrier.placed();
  if (placed === undefined) throw new Error("the carrier was not asked");
  return placed;
}

/** Posts the progress of the call as the carrier does, to the service as it runs now. */
async function report(
  { baseUrl }: ChildService,
  carrier: CarrierSubject,
  placed: PlacedCall,
  state: "busy" | "ringing",
): Promise<number> {
  const url = `${baseUrl}${new URL(placed.statusUrl).pathname}`;
  const { headers, body } = carrier.sign(carrier.callback(state, placed.id), url);
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": String(headers["x-twilio-signature"]),
    },
    body: Buffer.from(body),
  });
  return response.status;
}

test("a call that was being dialled is not dialled again, and is known by the carrier's callback", async () => {
  const world = await openWorld();
  const { carrier, start } = world;
  const placed = await killWhileDialling(world, async (service) => {
    const body = { medium: { telephony1: { outgoing: NUMBERS } }, joinTimeout: "3600s" };
    // Nobody answers this request.
    restOf(service)("POST", "/api/calls", body).catch(() => undefined);
  });
  const service = await start();
  const rest = restOf(service);
  const { results } = await rest<{ results: readonly CallRecord[] }>("GET", "/api/calls");
  expect(results).toMatchObject([{ ended: null, joined: null }]);
  const callId = results[0]?.callId ?? "";
  expect(placed.statusUrl).toContain(callId);
  expect(await report(service, carrier, placed, "ringing")).toBe(204);
  expect(await report(service, carrier, placed, "busy")).toBe(204);
  await vi.waitFor(async () => {
    expect(await rest<CallRecord>("GET", `/api/calls/${callId}`)).toMatchObject({ endReason: "unjoined" });
  }, PATIENT);
  const events = await rest<{ results: readonly EventRecord[] }>("GET", `/api/calls/${callId}/events`);
  expect(events.results.map(({ type }) => type)).toContain("telephony.failed");
  expect(carrier.placed()).toHaveLength(1);
});

test("a batch dials nobody twice, and says that the outcome is unknown", async () => {
  const world = await openWorld();
  const { carrier, start } = world;
  let scheduled = "";
  await killWhileDialling(world, async (service) => {
    const rest = restOf(service);
    const agent = await rest<{ agentId: string }>("POST", "/api/agents", {});
    const path = `/api/agents/${agent.agentId}/scheduled_batches`;
    const calls = [{ medium: { telephony1: { outgoing: NUMBERS } } }];
    const batch = await rest<{ batchId: string }>("POST", path, { calls });
    scheduled = `${path}/${batch.batchId}/scheduled_calls`;
  });
  const rest = restOf(await start());
  await vi.waitFor(async () => {
    const { results } = await rest<{ results: readonly { status: string; error: string | null }[] }>(
      "GET",
      scheduled,
    );
    expect(results).toMatchObject([{ status: "ERROR" }]);
    expect(results[0]?.error).toContain("outcome unknown");
  }, PATIENT);
  expect(carrier.placed()).toHaveLength(1);
});
