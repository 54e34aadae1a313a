/** Draws requests: most of them valid or nearly valid, the others as invalid as clients and attackers send them. */

import { type Route, ROUTE_NAMES, type RouteName, routeOf } from "@parley/schema";
import { SchemaPrinter } from "@parley/schema/openapi/openapi-schemas";
import { spoilt, TRICKY_TEXTS, valueOf } from "@parley/schema/testing/arbitrary";
import * as fc from "fast-check";
import { Draw } from "../../sim/draw.ts";

export interface DrawnRequest {
  readonly name: RouteName;
  readonly method: string;
  readonly path: string;
  /** Values of the path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

/** Bodies and queries that are generated once per operation and then drawn from; generating one takes a millisecond. */
const SAMPLES = 300;
/** Ids kept of each kind; the oldest are dropped, so that deleted records are requested as well. */
const IDS_KEPT = 200;

interface Material {
  readonly route: Route;
  readonly bodies: readonly unknown[];
  readonly spoilt: readonly unknown[];
  readonly queries: readonly unknown[];
}

const UNKNOWN_ID = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

const WRONG_BODIES: readonly (string | Buffer)[] = [
  "",
  "{",
  "[]",
  "null",
  '"x"',
  "{}{}",
  '{"name":"a\\u0000b"}',
  '{"name":"\\ud800"}',
  '{"__proto__":{"polluted":true}}',
  `{"name":${"[".repeat(100)}${"]".repeat(100)}}`,
  Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  `{"name":"${"x".repeat(100_000)}"}`,
];

const WRONG_TYPES = [
  "text/plain",
  "application/xml",
  "multipart/form-data; boundary=x",
  "",
  "application/json; charset=x",
];

export class RequestDraw {
  readonly #draw: Draw;
  readonly #material: ReadonlyMap<RouteName, Material>;
  readonly #ids = new Map<string, string[]>();
  /** Ids that belong together, such as those of a source and its corpus. */
  readonly #families = new Map<string, Readonly<Record<string, string>>[]>();
  readonly #keys: { readonly own: string; readonly other: string };

  constructor(seed: number, keys: { readonly own: string; readonly other: string }) {
    this.#draw = new Draw(seed);
    this.#keys = keys;
    this.#material = new Map(ROUTE_NAMES.map((name, index) => [name, materialOf(name, seed + index)]));
  }

  next(): DrawnRequest {
    const draw = this.#draw;
    const name = draw.one(ROUTE_NAMES as [RouteName, ...RouteName[]]);
    const material = this.#material.get(name);
    if (material === undefined) throw new Error(`${name} has no material`);
    const { route } = material;
    const method = draw.chance(0.01) ? draw.one(["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]) : route.method;
    const params = this.#params(route);
    const path = pathOf(route, params) + this.#query(material);
    const headers: Record<string, string> = this.#key();
    let body: string | Buffer | null = null;
    if (route.request !== null || draw.chance(0.02)) {
      body = this.#body(material);
      headers["content-type"] = draw.chance(0.02)
        ? draw.one(WRONG_TYPES as [string, ...string[]])
        : "application/json";
    }
    if (draw.chance(0.05)) headers["idempotency-key"] = draw.one(["a", "b", "c", "x".repeat(300)]);
    return { name, method, path, params, headers, body };
  }

  /** Remembers the ids of an answer, so that later requests name records that exist, below those of `params`. */
  learn(answer: unknown, params: Readonly<Record<string, string>>): void {
    if (typeof answer !== "object" || answer === null) return;
    const records = (answer as { results?: unknown }).results;
    if (Array.isArray(records)) {
      for (const record of records.slice(0, 2)) this.learn(record, params);
      return;
    }
    const family: Record<string, string> = { ...params };
    for (const [key, value] of Object.entries(answer)) {
      // The keys in use are not revoked.
      if (key === "prefix" && Object.values(this.#keys).some((used) => used.startsWith(String(value))))
        continue;
      if (typeof value !== "string" || !/^(?:[a-z]+Id|prefix|callStageId)$/i.test(key)) continue;
      const parameter =
        key === "prefix"
          ? "api_key_prefix"
          : key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const known = this.#ids.get(parameter) ?? [];
      known.push(value);
      if (known.length > IDS_KEPT) known.shift();
      this.#ids.set(parameter, known);
      family[parameter] = value;
    }
    for (const parameter of Object.keys(family)) {
      const known = this.#families.get(parameter) ?? [];
      known.push(family);
      if (known.length > IDS_KEPT) known.shift();
      this.#families.set(parameter, known);
    }
  }

  #key(): Record<string, string> {
    const draw = this.#draw;
    if (draw.chance(0.9)) return { "x-api-key": this.#keys.own };
    if (draw.chance(0.8)) return { "x-api-key": this.#keys.other };
    return draw.chance(0.5)
      ? {}
      : { "x-api-key": draw.one(["x", "", "a".repeat(5000), "ABCDEFGH.".padEnd(41, "x")]) };
  }

  #params(route: Route): Readonly<Record<string, string>> {
    const draw = this.#draw;
    const names = [...route.path.matchAll(/\{([a-z_]+)\}/g)].map(([, name = ""]) => name);
    const whole = (this.#families.get(names.at(-1) ?? "") ?? []).filter((family) =>
      names.every((name) => family[name] !== undefined),
    );
    const [first, ...others] = whole;
    if (names.length > 1 && first !== undefined && draw.chance(0.85)) return draw.one([first, ...others]);
    return Object.fromEntries(names.map((name) => [name, this.#param(name)]));
  }

  #param(name: string): string {
    const draw = this.#draw;
    if (name === "carrier")
      return draw.one(["telephony1", "telephony2", "telephony3", "twilio", "telephony4"]);
    if (name.endsWith("_index")) return String(draw.whole(-1, 3));
    const [first, ...others] = this.#ids.get(name) ?? [];
    if (first !== undefined && draw.chance(0.85)) return draw.one([first, ...others]);
    return draw.chance(0.5) ? UNKNOWN_ID : draw.one(WELL_FORMED);
  }

  #query({ queries }: Material): string {
    const draw = this.#draw;
    if (draw.chance(0.5)) return "";
    if (draw.chance(0.05))
      return `?${draw.one(["a=b", "pageSize=0", "cursor=x", "sort=;", "%", "a[]=1&a[]=2", "&&&", "cursor=" + "x".repeat(3000)])}`;
    const query = queries[draw.whole(0, queries.length - 1)] ?? {};
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      // A random cursor is refused at once, before anything else is tested.
      if (key === "cursor" && draw.chance(0.95)) continue;
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (typeof one === "object" && one !== null) {
          for (const [inner, text] of Object.entries(one)) parameters.append(`${key}.${inner}`, String(text));
        } else parameters.append(key, String(one));
      }
    }
    return `?${parameters.toString()}`;
  }

  #body({ bodies, spoilt: wrong }: Material): string | Buffer {
    const draw = this.#draw;
    if (bodies.length === 0 || draw.chance(0.02)) return draw.one(WRONG_BODIES as [string, ...string[]]);
    const from = draw.chance(0.2) ? wrong : bodies;
    return this.#withIds(JSON.stringify(from[draw.whole(0, from.length - 1)] ?? {}));
  }

  /** Most ids inside bodies name records that exist. */
  #withIds(body: string): string {
    return body.replaceAll(/"(agentId|toolId|corpusId)":"[0-9a-fA-F-]{36}"/g, (all, key: string) => {
      const [first, ...others] = this.#ids.get(key.replace("Id", "_id")) ?? [];
      return first === undefined ? all : `"${key}":"${this.#draw.one([first, ...others])}"`;
    });
  }
}

function pathOf(route: Route, params: Readonly<Record<string, string>>): string {
  return route.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

const WELL_FORMED = TRICKY_TEXTS.filter((text) => text.isWellFormed()) as unknown as [string, ...string[]];

function materialOf(name: RouteName, seed: number): Material {
  const route = routeOf(name);
  const printer = new SchemaPrinter();
  const options = { numRuns: SAMPLES, seed };
  const isBody = (value: unknown): value is object => typeof value === "object" && value !== null;
  const body =
    route.request === null ? null : valueOf(printer.print(route.request), printer.printed).filter(isBody);
  return {
    route,
    bodies: body === null ? [] : fc.sample(body, options),
    spoilt:
      body === null
        ? []
        : fc.sample(
            body.chain((value) => spoilt(value)).map(({ value }) => value),
            options,
          ),
    queries: fc.sample(valueOf(printer.printInPlace(route.query), printer.printed), options),
  };
}
