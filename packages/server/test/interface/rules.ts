/** Requests for rows of the interface: those that must be accepted and those that must be refused. */

import assert from "node:assert/strict";
import type { RunningService } from "../running-service.ts";

/** Throws when the service does not do as the row says. */
export type Proof = (service: RunningService) => Promise<void>;

/** Rows of one part of the interface, each with its requests. */
export type Rules<Row extends string> = Readonly<Record<Row, readonly Proof[]>>;

type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export async function ask(
  service: RunningService,
  method: string,
  path: string,
  body?: unknown,
): Promise<Reply> {
  const { status, body: answer, headers } = await service.ask<Json | undefined>(method, path, body);
  return { status, body: answer ?? {}, headers };
}

export async function made(service: RunningService, path: string, body: unknown): Promise<Json> {
  const { status, body: answer } = await ask(service, "POST", path, body);
  assert.equal(status, 201, `POST ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

export function fieldsOf({ body }: Reply): string[] {
  return ((body["errors"] ?? []) as readonly { readonly field: string }[]).map(({ field }) => field);
}

/** 400, and the field is among those that the answer names. */
export function assertRefused(reply: Reply, field: string): void {
  const seen = JSON.stringify(reply.body);
  assert.equal(reply.status, 400, seen);
  assert.equal(reply.body["code"], "validation_failed");
  assert.ok(fieldsOf(reply).includes(field), `${field} is not named: ${seen}`);
  assert.equal(typeof reply.body["detail"], "string");
}

/** The part of `found` that `wanted` names must be equal to it. */
export function assertHolds(found: unknown, wanted: unknown, path = "body"): void {
  if (typeof wanted !== "object" || wanted === null) {
    assert.deepEqual(found, wanted, path);
    return;
  }
  assert.equal(typeof found, "object", `${path}: ${JSON.stringify(found)}`);
  assert.notEqual(found, null, path);
  for (const [key, value] of Object.entries(wanted)) {
    assertHolds((found as Json)[key], value, `${path}.${key}`);
  }
}

/** A record that is stored with such a member and read back with it, or with what it reads back as. */
function stored(path: string, idName: string, bodyOf: (value: Json) => Json) {
  return {
    accepts(value: Json, readAs: Json = value): Proof {
      return async (service) => {
        const record = await made(service, path, bodyOf(value));
        const read = await ask(service, "GET", `${path}/${String(record[idName])}`);
        assert.equal(read.status, 200);
        assertHolds(read.body, bodyOf(readAs));
        assertHolds(record, bodyOf(readAs));
      };
    },
  };
}

const agents = stored("/api/agents", "agentId", (callTemplate) => ({ callTemplate }));

/** Members of a call template. */
export const template = {
  accepts: (value: Json, readAs?: Json): Proof => agents.accepts(value, readAs),
  /** Refused at creation and by a change, which then changes nothing. */
  refuses(value: Json, field: string): Proof {
    return async (service) => {
      const callTemplate = value;
      const name = `callTemplate.${field}`;
      assertRefused(await ask(service, "POST", "/api/agents", { callTemplate }), name);
      const kept = await made(service, "/api/agents", { callTemplate: { systemPrompt: "kept" } });
      const path = `/api/agents/${String(kept["agentId"])}`;
      assertRefused(await ask(service, "PATCH", path, { callTemplate }), name);
      assert.deepEqual((await ask(service, "GET", path)).body, kept);
    };
  },
};

const WEBSOCKET = { serverWebSocket: { inputSampleRate: 16_000 } };

/** Settings of a call, as they are answered after its creation. */
export const call = {
  accepts(value: Json, readAs: Json = value): Proof {
    return async (service) => {
      const record = await made(service, "/api/calls", { medium: WEBSOCKET, ...value });
      const read = await ask(service, "GET", `/api/calls/${String(record["callId"])}`);
      assertHolds(read.body, readAs);
    };
  },
  refuses(value: Json, field: string): Proof {
    return async (service) => {
      const before = await callCount(service);
      assertRefused(await ask(service, "POST", "/api/calls", { medium: WEBSOCKET, ...value }), field);
      assert.equal(await callCount(service), before, "no record stays behind");
    };
  },
};

export async function callCount(service: RunningService): Promise<unknown> {
  return (await ask(service, "GET", "/api/calls?pageSize=1")).body["total"];
}

/** The same in a template and in a call. */
export function settingTakes(value: Json, readAs: Json = value): readonly Proof[] {
  return [template.accepts(value, readAs), call.accepts(value, readAs)];
}

export function settingRefuses(value: Json, field: string): readonly Proof[] {
  return [template.refuses(value, field), call.refuses(value, field)];
}

/** A body that a path accepts with this status. */
export function takes(method: string, path: string, body: unknown, status: number): Proof {
  return async (service) => {
    const reply = await ask(service, method, path, body);
    assert.equal(reply.status, status, JSON.stringify(reply.body));
  };
}

export function refuses(method: string, path: string, body: unknown, field: string): Proof {
  return async (service) => assertRefused(await ask(service, method, path, body), field);
}
