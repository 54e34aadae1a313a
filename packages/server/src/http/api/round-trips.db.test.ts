/** Random records of every kind: they read back as they were sent, and can be sent back as they read. */

import { ApiError, MASK, parseBody, ROUTE_NAMES, type RouteName, routeOf } from "@parley/schema";
import { SchemaPrinter } from "@parley/schema/openapi/openapi-schemas";
import { valueOf } from "@parley/schema/testing/arbitrary";
import { viewOf } from "@parley/schema/values/walk";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";
import { makeSamples, type SampleIds } from "../testing/samples/samples.ts";

const RUNS = 25;
const printer = new SchemaPrinter();

interface Kind {
  readonly create: RouteName;
  /** Paths of the list, and of one record below it. */
  readonly path: string;
  readonly idName: string;
  readonly changes: readonly ("PUT" | "PATCH")[];
}

/** Kinds whose paths have the usual form: a list to post to, and records below it that can be read. */
const KINDS: readonly Kind[] = ROUTE_NAMES.flatMap((create) => {
  const { method, path, request } = routeOf(create);
  const below = ROUTE_NAMES.map(routeOf).filter(
    (other) => other.path.startsWith(`${path}/{`) && /^\{[a-z_]+\}$/.test(other.path.slice(path.length + 1)),
  );
  const read = below.find((other) => other.method === "GET");
  if (method !== "POST" || request === null || read === undefined) return [];
  const changes = below.map((other) => other.method).filter((one) => one === "PUT" || one === "PATCH");
  return [{ create, path, idName: read.path.slice(path.length + 2, -1), changes }];
});

function bodies({ create }: Kind): fc.Arbitrary<object> {
  const { request } = routeOf(create);
  if (request === null) throw new Error(`${create} takes no body`);
  return valueOf(printer.print(request), printer.printed).filter((value): value is object => {
    try {
      parseBody(request, structuredClone(value));
      // A template sent back without the members that are never answered is a different one.
      return !/"(?:authTokens|sharedSecrets)"/.test(JSON.stringify(value));
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  });
}

/** Only the service sets `unhealthy`; a request that sends it changes nothing. */
const NOT_KEPT = new Set(["status"]);

/** Places where the answer differs from what was sent, apart from values that are never answered. */
function differences(schema: z.core.$ZodType, sent: unknown, answered: unknown, path = ""): string[] {
  const { structure, marks } = viewOf(schema);
  if (marks.writeOnly === true || marks.secret === true || marks.readOnly === true) return [];
  if (structure.kind === "object" && typeof sent === "object" && sent !== null) {
    const members = (answered ?? {}) as Record<string, unknown>;
    return Object.entries(sent).flatMap(([key, value]) => {
      const field = structure.fields.get(key);
      if (field === undefined || value === undefined || NOT_KEPT.has(key)) return [];
      return differences(field, value, members[key], `${path}.${key}`);
    });
  }
  if (structure.kind === "list" && Array.isArray(sent)) {
    const items = Array.isArray(answered) ? (answered as unknown[]) : [];
    return (sent as unknown[]).flatMap((value, index) =>
      differences(structure.item, value, items[index], `${path}.${String(index)}`),
    );
  }
  const shown = JSON.stringify(answered) ?? "";
  // Answers show only the beginning of credentials, wherever they occur.
  const same = JSON.stringify(sent) === shown || shown.includes(`${MASK}"`);
  return same ? [] : [`${path}: ${JSON.stringify(sent)} became ${JSON.stringify(answered)}`];
}

function idOf(record: Readonly<Record<string, unknown>>, { idName }: Kind): string {
  const camel = idName.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return String(
    record[camel] ?? record[camel.replace(/^api.*|^call/, "")] ?? record["prefix"] ?? record["stageId"],
  );
}

describeOnBothDatabases("random records", (current) => {
  let server: HttpServer;
  let client: Client;
  let ids: SampleIds = {};

  beforeAll(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
    ids = await makeSamples(client);
  });
  afterAll(() => server.close());

  describe.each(KINDS)("made by $create", (kind) => {
    const { create, path, changes } = kind;
    const { request, responses } = routeOf(create);
    const answer = responses[201]?.schema;
    const structure = answer === undefined || answer === null ? null : viewOf(answer).structure;
    /** Members that answers have; some are for bodies alone. */
    const answered = new Set(structure?.kind === "object" ? structure.fields.keys() : []);
    const list = (): string => path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => ids[name] ?? "");

    it("read back as they were sent, and can be sent back as they read", async () => {
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(bodies(kind), async (body) => {
          const made = await client.post(list(), body);
          // What only the store or the deployment can decide is refused with a problem, like everything else.
          expect([made.text, made.status < 500 || made.status === 501]).toEqual([made.text, true]);
          if (made.status !== 201) return;
          taken += 1;
          const url = `${list()}/${idOf(made.json, kind)}`;
          const { secret: _, ...withoutSecret } = made.json;
          const read = await client.get(url);
          expect(read.json).toEqual(create === "createApiKey" ? withoutSecret : made.json);
          const sent = parseBody(request as z.ZodType, structuredClone(body)) as object;
          const shown = Object.entries(sent).filter(([name]) => answered.has(name));
          // A call answers the settings it runs with, which are more than was requested.
          const differing =
            create === "createCall"
              ? []
              : differences(request as z.ZodType, Object.fromEntries(shown), read.json);
          expect(differing).toEqual([]);
          for (const method of changes) {
            const change = await (method === "PUT" ? client.put : client.patch)(url, read.json);
            expect([change.status, change.json]).toEqual([
              200,
              { ...read.json, ...renewed(change.json, read.json) },
            ]);
          }
        }),
        { numRuns: RUNS },
      );
      expect(taken).toBeGreaterThan(0);
    });
  });
});

/** What may differ after a change that changes nothing. */
function renewed(now: Readonly<Record<string, unknown>>, before: Readonly<Record<string, unknown>>): object {
  return "stats" in before ? { stats: now["stats"] } : {};
}
