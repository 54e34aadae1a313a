/** The files of the types of the interface: which file has which type, and what each imports. */

import { openApiDocument } from "@parley/schema";
import { componentsIn, type OpenApiDocument } from "./json-schema.ts";
import { capital, type Entry, OperationWriter } from "./operation-text.ts";
import { declaration, type Used } from "./type-text.ts";

/**
 * A component is in the file of the first of these tags that uses it, so files import only files of earlier tags.
 * Some are no tags: what many operations share.
 */
const TAGS = [
  "errors",
  "about",
  "engine-use",
  "deployment",
  "account",
  "voices",
  "media",
  "definitions",
  "requests",
  "calls",
  "stages",
  "agents",
  "tools",
  "corpora",
  "webhooks",
  "throttles",
  "sip",
  "telephony",
  "batches",
] as const;

/** Components that are a subject of their own, beside the tags. */
const ROOTS: Readonly<Record<string, readonly string[]>> = {
  errors: ["Problem"],
  "engine-use": ["Cost", "EngineUse", "EngineUsage"],
  voices: ["VoiceOverrides"],
  media: ["CallMedium", "VadSettings", "FirstSpeakerSettings", "Callbacks"],
  definitions: ["BaseToolDefinition"],
  requests: ["StartCallRequest", "StartAgentCallRequest", "SendCallDataMessage"],
};

/** Tags whose files have another name, that of their folder in the sources of the interface. */
const OTHER_NAMES: Readonly<Record<string, string>> = { service: "about" };

const HEAD =
  "/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */";

interface RecordFile {
  readonly texts: Map<string, string>;
  readonly used: Used;
}

/** The texts of all files by their paths below `src/api`. */
export function apiFiles(): ReadonlyMap<string, string> {
  const document = openApiDocument({ baseUrl: "", version: "" }) as unknown as OpenApiDocument;
  const entries = entriesByTag(document);
  const records = recordFiles(document, entries);
  const files = new Map<string, string>();
  const operations = new Map<string, { readonly text: string; readonly used: Used }>();
  const named = new Map<string, string>();
  for (const [tag, ofTag] of entries) {
    const texts = new OperationWriter(document, named).write(ofTag, mapName(tag));
    const file = records.get(tag);
    if (file === undefined) throw new Error(`The tag ${tag} has no place in the order of the files.`);
    for (const [name, text] of texts.records) file.texts.set(name, text);
    for (const name of texts.usedByRecords) file.used.add(name);
    operations.set(tag, { text: texts.operations, used: texts.usedByOperations });
  }
  const fileOf = new Map(
    [...records].flatMap(([tag, { texts }]) => [...texts.keys()].map((name) => [name, tag])),
  );
  for (const [tag, { texts, used }] of records) {
    if (texts.size === 0) continue;
    const text = [...texts.values()].join("\n");
    files.set(
      `records/${tag}.ts`,
      file([...importsOf(used, { own: tag, from: "./", fileOf }), ...choices(used, "../../")], text),
    );
  }
  for (const [tag, { text, used }] of operations) {
    const imports = importsOf(used, { own: "", from: "../records/", fileOf });
    const options = 'import type { RequestOptions } from "../../request-options.ts";';
    files.set(`operations/${tag}.ts`, file([options, ...imports, ...choices(used, "../../")], text));
  }
  files.set("all.ts", allText([...operations.keys()], [...files.keys()]));
  return files;
}

function entriesByTag({ paths }: OpenApiDocument): Map<string, Entry[]> {
  const byTag = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(paths)) {
    // Joining is the other half of this package.
    if (!path.startsWith("/api/")) continue;
    for (const [method, operation] of Object.entries(methods)) {
      const [own] = operation.tags;
      const tag = OTHER_NAMES[own] ?? own;
      byTag.set(tag, [...(byTag.get(tag) ?? []), { method: method.toUpperCase(), path, operation }]);
    }
  }
  return byTag;
}

/** The components of each tag, in the order of the document. */
function recordFiles(
  document: OpenApiDocument,
  entries: ReadonlyMap<string, Entry[]>,
): Map<string, RecordFile> {
  const { schemas } = document.components;
  const taken = new Map<string, string>();
  for (const tag of TAGS) {
    const waiting = [...(ROOTS[tag] ?? []), ...componentsIn(entries.get(tag) ?? [])];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const schema = schemas[name];
      if (taken.has(name) || schema === undefined) continue;
      taken.set(name, tag);
      waiting.push(...componentsIn(schema));
    }
  }
  const files = new Map(
    TAGS.map((tag): [string, RecordFile] => [tag, { texts: new Map(), used: new Set() }]),
  );
  for (const [name, schema] of Object.entries(schemas)) {
    const target = files.get(taken.get(name) ?? "");
    // Data messages are in `call/messages.ts`.
    target?.texts.set(name, declaration(name, schema, target.used));
  }
  return files;
}

const CHOICES = ["AtMostOne", "ExactlyOne"];

function choices(used: Used, root: string): string[] {
  const names = CHOICES.filter((name) => used.has(name));
  return names.length === 0 ? [] : [`import type { ${names.join(", ")} } from "${root}choices.ts";`];
}

interface Place {
  /** The file's own tag, which needs no import. */
  readonly own: string;
  readonly from: string;
  readonly fileOf: ReadonlyMap<string, string>;
}

function importsOf(used: Used, { own, from, fileOf }: Place): string[] {
  const byFile = new Map<string, string[]>();
  for (const name of [...used].sort()) {
    if (CHOICES.includes(name)) continue;
    const tag = fileOf.get(name);
    if (tag === undefined) throw new Error(`No file has the type ${name}.`);
    if (tag !== own) byFile.set(tag, [...(byFile.get(tag) ?? []), name]);
  }
  return [...byFile]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([tag, names]) =>
        `import type {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}${tag}.ts";`,
    );
}

function file(imports: readonly string[], text: string): string {
  return [HEAD, ...(imports.length === 0 ? [] : [imports.join("\n")]), text].join("\n\n");
}

function mapName(tag: string): string {
  return `${capital(tag)}Operations`;
}

/** All operations as one map, and the types that the package exports. */
function allText(tags: readonly string[], paths: readonly string[]): string {
  const imports = tags.map((tag) => `import type { ${mapName(tag)} } from "./operations/${tag}.ts";`);
  const bases = tags.map((tag) => `\n    ${mapName(tag)}`).join(",");
  const about = "/** All operations by their method and path. `row` is one result of a paged list. */";
  const exported = paths.map((path) => `export type * from "./${path}";`);
  return file(
    imports,
    [`${about}\nexport interface Operations\n  extends${bases} {}`, exported.join("\n"), ""]
      .join("\n\n")
      .trimEnd() + "\n",
  );
}
