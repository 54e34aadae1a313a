/** Batches by the HTTP API, for tests: a server at a fixed time, and an account with an agent. */

import { expect } from "vitest";
import type { TestStore } from "../../store/testing/databases.ts";
import type { HttpDeps, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, type Reply } from "./http-fixture.ts";

export interface BatchJson {
  readonly batchId: string;
  readonly webhookSecret: string;
  readonly [field: string]: unknown;
}

export const nowMs = Date.parse("2030-01-01T12:00:00.000Z");
export const at = (time: string): string => `2030-01-01T${time}.000Z`;
export const MADE_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

export const dial = (to: string) => ({
  medium: { telephony1: { outgoing: { to, from: "+4930654321" } } },
});
export const dialled = { calls: [dial("+49301"), dial("+49302")] };
export const joined = { calls: [{}, dial("+49301")], webhookUrl: "https://hooks.example/join" };

export function errorsOf({ json }: Reply): unknown {
  return (json["errors"] as { field: string; message: string }[] | undefined)?.map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

export interface BatchesApi {
  readonly server: HttpServer;
  readonly client: Client;
  readonly agentId: string;
  /** The path of the agent's batches. */
  readonly url: string;
  readonly newAgent: (callTemplate?: object) => Promise<string>;
  readonly create: (body?: object, url?: string) => Promise<BatchJson>;
}

/** The time is `nowMs`, and addresses with 127.0.0.1 are refused. */
export async function openBatches(store: TestStore, changes: Partial<HttpDeps> = {}): Promise<BatchesApi> {
  const server = await openTestServer(store, {
    nowMs: () => nowMs,
    refusedTarget: (target) => (target.includes("127.0.0.1") ? "address not allowed" : null),
    ...changes,
  });
  const client = await newClient(server, store.db);
  const newAgent = async (callTemplate: object | null = null): Promise<string> =>
    String((await client.post("/api/agents", { name: "A", callTemplate })).json["agentId"]);
  const agentId = await newAgent();
  const url = `/api/agents/${agentId}/scheduled_batches`;
  const create = async (body: object = dialled, path = url): Promise<BatchJson> => {
    const { status, json } = await client.post<BatchJson>(path, body);
    expect([status, json["errors"]]).toEqual([201, undefined]);
    return json;
  };
  return { server, client, agentId, url, newAgent, create };
}
