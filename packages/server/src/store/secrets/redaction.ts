/**
 * Secrets inside stored documents (call templates, call and stage settings, tools, voices). A document is stored with
 * null in place of each secret; the secrets are stored in one sealed text. Answers show the first characters of header
 * values, and secrets of callbacks as the scopes of the key allow (D163); they omit all others.
 */

import { BUILT_IN_TOOLS, namesSecret } from "@parley/schema";
import { toJsonText } from "../database/json-text.ts";
import type { Sealer } from "../database/sealer.ts";

export type Document = Record<string, unknown>;
export type Path = readonly (string | number)[];

interface SecretRule {
  /** `*` matches every member. */
  readonly path: readonly string[];
  /**
   * `hidden`: never in an answer. `masked`: strings in it are shown by their first characters. `scoped`: the same, but
   * only where the schema of the answer says so. `whole`: only sealed.
   */
  readonly shown: "hidden" | "masked" | "scoped" | "whole";
  /**
   * The object that contains the target address of the secret, this many steps outwards from the path. For masked ones.
   */
  readonly target?: number;
  /** The rule applies to members `name` of the last object for which this is true; `around` contains that object. */
  readonly when?: (last: Document, name: string, around: Document) => boolean;
}

/** A tool without authTokens has its key in a fixed request header. */
function secretHeaders(...definition: readonly string[]): SecretRule {
  return {
    path: [...definition, "staticParameters", "*", "value"],
    shown: "masked",
    target: 3,
    when: isHeader,
  };
}

function isHeader(parameter: Document): boolean {
  return parameter["location"] === "PARAMETER_LOCATION_HEADER";
}

const PARAMETER_LISTS = ["dynamicParameters", "staticParameters", "automaticParameters"] as const;

/**
 * The same for overrides. If the tool is defined in place, its headers are known. If it is a reference, the tool may
 * change later, so any override may be or become a header: all are sealed, and those are masked whose names, or names in
 * them, indicate secrets.
 */
const overriddenHeaders: readonly SecretRule[] = [
  { ...overrides((isHeaderOfOwn, isSecret) => isHeaderOfOwn ?? isSecret), shown: "masked" },
  { ...overrides((isHeaderOfOwn, isSecret) => isHeaderOfOwn === null && !isSecret), shown: "whole" },
];

/** @param matches gets whether it is a header of the tool, or null for a reference; and whether names indicate a secret */
function overrides(
  matches: (isHeaderOfOwn: boolean | null, isSecret: boolean) => boolean,
): Omit<SecretRule, "shown"> {
  return {
    path: ["selectedTools", "*", "parameterOverrides", "*"],
    target: 2,
    when: (given, name, selection) => {
      const { temporaryTool } = selection;
      if (typeof temporaryTool === "object" && temporaryTool !== null)
        return matches(hasHeader(temporaryTool as Document, name), false);
      return !isPlain(selection, name) && matches(null, isNamedSecret(name, given[name]));
    },
  };
}

function isNamedSecret(name: string | number, value: unknown): boolean {
  if (typeof name === "string" && namesSecret(name)) return true;
  return membersOf(value).some(([key, member]) => isNamedSecret(key, member));
}

function hasHeader(tool: Document, name: string): boolean {
  return PARAMETER_LISTS.some((list) =>
    membersOf(tool[list]).some(([, parameter]) => {
      const one = Object(parameter) as Document;
      return one["name"] === name && isHeader(one);
    }),
  );
}

/** Built-in tools that call no external system: their parameters are not secret, and users read them. */
const PLAIN_TOOLS = BUILT_IN_TOOLS.filter(({ builtIn }) =>
  ["hangUp", "leaveVoicemail", "playDtmfSounds", "queryCorpus"].includes(builtIn),
);

/** Also for a private tool of the same name, but only for parameters that the built-in tool has. */
function isPlain({ toolId, toolName }: Document, parameter: string): boolean {
  const tool = PLAIN_TOOLS.find((one) => one.name === toolName || one.toolId === toolId);
  if (tool === undefined) return false;
  return PARAMETER_LISTS.some((list) => tool.definition[list]?.some(({ name }) => name === parameter));
}

const secretRules: readonly SecretRule[] = [
  { path: ["selectedTools", "*", "authTokens"], shown: "hidden" },
  { path: ["sharedSecrets"], shown: "hidden" },
  { path: ["medium", "sip", "outgoing", "password"], shown: "hidden" },
  { path: ["dataConnection", "headers"], shown: "masked", target: 1 },
  { path: ["dataConnectionConfig", "headers"], shown: "masked", target: 1 },
  { path: ["externalVoice", "generic", "headers"], shown: "masked", target: 1 },
  { path: ["voiceOverrides", "generic", "headers"], shown: "masked", target: 1 },
  { path: ["callbacks", "*", "secrets"], shown: "scoped", target: 1 },
  { path: ["selectedTools", "*", "temporaryTool", "mcp", "headers"], shown: "masked", target: 1 },
  secretHeaders("selectedTools", "*", "temporaryTool"),
  ...overriddenHeaders,
  { path: ["definition", "mcp", "headers"], shown: "masked", target: 1 },
  secretHeaders("definition"),
  { path: ["definition", "generic", "headers"], shown: "masked", target: 1 },
];

export interface FoundSecret {
  readonly rule: SecretRule;
  readonly path: Path;
  readonly value: unknown;
  /** The origin that it is sent to, or the id or name of the tool; empty if neither is known. */
  readonly target: string;
}

export interface SealedDocument {
  /** JSON text for the column. */
  readonly document: string;
  /** The same as an object. */
  readonly stored: Document;
  /** Null when there are no secrets; the stored document is then complete. */
  readonly sealedSecrets: string | null;
}

type SealedEntry = readonly [path: Path, value: unknown];

/** `context` names the row, see `Sealer`. The document is not changed. */
export function sealDocument(sealer: Sealer, document: object, context: string): SealedDocument {
  const secrets = findSecrets(document as Document);
  if (secrets.length === 0) {
    const text = toJsonText(document);
    return {
      document: text,
      // Most callers need only the text.
      get stored() {
        return JSON.parse(text) as Document;
      },
      sealedSecrets: null,
    };
  }
  const stored = copyOf(document);
  for (const secret of secrets) setAt(stored, secret.path, null);
  const entries: SealedEntry[] = secrets.map(({ path, value }) => [path, value]);
  return {
    document: toJsonText(stored),
    stored,
    sealedSecrets: sealer.seal(toJsonText(entries), context),
  };
}

/** The document with its secrets, for use inside the service. */
export function openDocument(
  sealer: Sealer,
  stored: Document,
  sealedSecrets: string | null,
  context: string,
): Document {
  if (sealedSecrets === null) return stored;
  const opened = copyOf(stored);
  const entries = JSON.parse(sealer.open(sealedSecrets, context)) as SealedEntry[];
  for (const [path, value] of entries) setAt(opened, path, value);
  return opened;
}

/** The document as answers show it, from its stored form. The schema of the answer masks what is `scoped`. */
export function documentForAnswer(
  sealer: Sealer,
  stored: Document,
  sealedSecrets: string | null,
  context: string,
): Document {
  return sealedSecrets === null
    ? stored
    : redactDocument(openDocument(sealer, stored, sealedSecrets, context));
}

/** The document as answers show it, from the document with its secrets. */
export function redactDocument(document: object): Document {
  const shown = copyOf(document);
  // In reverse order, so that removing a list member does not move the remaining ones.
  for (const { rule, path, value } of findSecrets(shown).toReversed()) {
    if (rule.shown === "hidden") removeAt(shown, path);
    else if (rule.shown === "masked") setAt(shown, path, mapStrings(value, mask));
  }
  return shown;
}

const SHOWN_CHARACTERS = 4;
/** Shorter values are not shown: four characters would be half of them. */
const SHORTEST_SHOWN = 2 * SHOWN_CHARACTERS;

/** `Bear…` for `Bearer 0123`; only `…` for a value of fewer than 8 characters. */
export function mask(value: string): string {
  const characters = Array.from(value);
  return `${characters.length < SHORTEST_SHOWN ? "" : characters.slice(0, SHOWN_CHARACTERS).join("")}…`;
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((member) => mapStrings(member, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(membersOf(value).map(([name, member]) => [name, mapStrings(member, change)]));
}

export function findSecrets(document: Document): FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const rule of secretRules) descend(rule, [document], [], found);
  return found;
}

/** @param values from the value at the path outwards to the document */
function descend(rule: SecretRule, values: readonly unknown[], path: Path, found: FoundSecret[]): void {
  const [value, around] = values;
  const depth = path.length;
  const step = rule.path[depth];
  if (step === undefined) {
    if (value !== null && value !== undefined)
      found.push({ rule, path, value, target: targetIn(values[rule.target ?? 0], values) });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const last = depth === rule.path.length - 1;
  for (const [name, member] of membersOf(value)) {
    if (step !== "*" && step !== name) continue;
    if (last && rule.when?.(value as Document, String(name), (around ?? {}) as Document) === false) continue;
    descend(rule, [member, ...values], [...path, name], found);
  }
}

/**
 * The target of an object with headers, secrets or fixed parameters: a connection, voice, callback, tool or selection.
 * @param values all objects around the secret, for placeholders in the address
 */
function targetIn(holder: unknown, values: readonly unknown[]): string {
  if (typeof holder !== "object" || holder === null) return "";
  const { temporaryTool, http, mcp, ...rest } = holder as Document;
  const tool = temporaryTool ?? http ?? mcp ?? null;
  if (tool !== null) return targetIn(tool, values);
  const address = rest["websocketUrl"] ?? rest["serverUrl"] ?? rest["baseUrlPattern"] ?? rest["url"];
  if (typeof address === "string") return `${originOf(address)}${hostFilling(address, values)}`;
  const named = rest["toolId"] ?? rest["toolName"];
  return typeof named === "string" ? named : "";
}

const AUTHORITY = /^[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i;
const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The parameters that fill placeholders in the host: a change of one of them is another target. */
function hostFilling(address: string, values: readonly unknown[]): string {
  const host = AUTHORITY.exec(address)?.[1] ?? "";
  const names = [...host.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  if (names.length === 0) return "";
  const tools = values.flatMap((value) => {
    const { temporaryTool } = Object(value) as Document;
    return [value, temporaryTool];
  });
  return JSON.stringify(names.map((name) => tools.map((tool) => fillingOf(Object(tool) as Document, name))));
}

function fillingOf(tool: Document, name: string): unknown[] {
  const given = PARAMETER_LISTS.map((list) =>
    membersOf(tool[list]).flatMap(([, parameter]) =>
      (Object(parameter) as Document)["name"] === name ? [parameter] : [],
    ),
  );
  const { parameterOverrides } = tool;
  return [...given, (Object(parameterOverrides) as Document)[name] ?? null];
}

function originOf(address: string): string {
  const origin = URL.parse(address)?.origin ?? "null";
  return origin === "null" ? address : origin;
}

export function membersOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((member, index) => [index, member]);
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

export function copyOf(document: object): Document {
  return copyOfValue(document) as Document;
}

/** Copies JSON; several times faster than `structuredClone`. */
function copyOfValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOfValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOfValue(member)]));
}

export function setAt(document: Document, path: Path, value: unknown): void {
  const around = parentOf(document, path);
  const step = path.at(-1);
  if (around !== undefined && step !== undefined) {
    Object.defineProperty(around, step, { value, writable: true, enumerable: true, configurable: true });
  }
}

function removeAt(document: Document, path: Path): void {
  const around = parentOf(document, path);
  const step = path.at(-1);
  if (around !== undefined && step !== undefined) Reflect.deleteProperty(around, step);
}

function parentOf(document: Document, path: Path): object | undefined {
  let around: unknown = document;
  for (const step of path.slice(0, -1)) {
    around = membersOf(around).find(([name]) => name === step)?.[1];
  }
  return typeof around === "object" && around !== null ? around : undefined;
}
