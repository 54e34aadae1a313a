/** Tools that calls can refer to: private ones of an account, and public ones. Lists are in `tool-list.ts`. */

import { randomUUID } from "node:crypto";
import { BUILT_IN_TOOLS, BUILT_IN_TOOLS_CREATED, type BaseToolDefinition } from "@parley/schema";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { inSlices } from "../../pacing/in-slices.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { documentForAnswer, openDocument, sealDocument, type SealedDocument } from "../secrets/redaction.ts";
import { restoreMasked } from "../secrets/restore-masked.ts";
import { searchText } from "../database/search-text.ts";
import { MaskedValueError } from "../database/store-errors.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface ToolRow {
  readonly toolId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly ownership: "public" | "private";
  /** Header values masked. */
  readonly definition: Readonly<Record<string, unknown>>;
}

export interface NewTool {
  readonly name: string;
  readonly definition: object;
}

/** Characters of definitions that one statement writes: some milliseconds of the main thread. */
const PORTION_CHARS = 256 * 1024;

interface PreparedTool {
  readonly toolId: string;
  readonly name: string;
  readonly sealed: SealedDocument;
}

/**
 * Stores all of them or none. An import has up to 4 MiB of definitions, so that the work is cut into slices.
 * @throws MaskedValueError when a value is one that only an answer can hold.
 */
export async function createTools(
  db: Db,
  accountId: string,
  tools: readonly NewTool[],
): Promise<readonly ToolRow[]> {
  const createdAt = creationTime();
  const portions: PreparedTool[][] = [];
  let chars = PORTION_CHARS;
  await inSlices(tools, ({ name, definition }) => {
    const toolId = randomUUID();
    const sealed = seal(db, toolId, definition, null);
    if (chars >= PORTION_CHARS) {
      portions.push([]);
      chars = 0;
    }
    portions.at(-1)?.push({ toolId, name: toStorableText(name), sealed });
    chars += sealed.document.length;
  });
  const insert = async (to: Db, portion: readonly PreparedTool[]): Promise<void> => {
    await to.query
      .insertInto("tools")
      .values(portion.map((tool) => newRow(accountId, createdAt, tool)))
      .execute();
  };
  const [first = []] = portions;
  // One tool is one statement, without a transaction around it.
  if (portions.length <= 1) await insert(db, first);
  else {
    await inTransaction(db, async (tx) => {
      for (const portion of portions) await insert(tx, portion);
    });
  }
  const rows: ToolRow[] = [];
  await inSlices(portions.flat(), ({ toolId, name, sealed }) => {
    const { stored: document, sealedSecrets } = sealed;
    rows.push(toToolRow(db, { toolId, name, createdAt: createdAt.toISOString(), document, sealedSecrets }));
  });
  return rows;
}

function newRow(accountId: string, createdAt: Date, { toolId, name, sealed }: PreparedTool) {
  return {
    id: toolId,
    account_id: accountId,
    name,
    name_key: toolNameKey(name),
    search_text: toolSearchText(name, sealed.stored["definition"]),
    created_at: createdAt,
    document: sealed.document,
    sealed_secrets: sealed.sealedSecrets,
  };
}

/** A private tool of the account, or a public one. */
export async function getTool(db: Db, accountId: string, toolId: string): Promise<ToolRow | null> {
  const builtIn = BUILT_IN_TOOLS.find((tool) => tool.toolId === toolId);
  if (builtIn !== undefined) {
    const { name, definition } = builtIn;
    return { toolId, name, createdAt: BUILT_IN_TOOLS_CREATED, ownership: "public", definition };
  }
  const columns = await readTool(db, accountId, toolId);
  return columns === null ? null : toToolRow(db, columns);
}

/** A tool with its secrets, for use inside the service. */
export interface KnownTool {
  readonly toolId: string;
  readonly name: string;
  /** True: private. False: public. */
  readonly own: boolean;
  /** The name of the implementation in the service; null: it has none. */
  readonly builtIn: string | null;
  readonly definition: BaseToolDefinition;
}

/** Private and public tools that have one of the ids (in lower case) or exactly one of the names. */
export async function findTools(
  db: Db,
  accountId: string,
  wanted: { readonly ids: readonly string[]; readonly names: readonly string[] },
): Promise<readonly KnownTool[]> {
  const { ids, names } = wanted;
  const read = await sql<ToolColumns>`
    select ${toolColumns} from tools
    where account_id = ${accountId}
      and (id = any(${[...ids]}::uuid[]) or name = any(${names.map(toStorableText)}::text[]))`.execute(
    db.query,
  );
  const own = read.rows.map((columns): KnownTool => {
    const { toolId, name } = columns;
    return { toolId, name, own: true, builtIn: null, definition: openDefinition(db, columns) };
  });
  const publicTools = BUILT_IN_TOOLS.filter(
    ({ toolId, name }) => ids.includes(toolId) || names.includes(name),
  );
  return [...own, ...publicTools.map((tool): KnownTool => ({ ...tool, own: false }))];
}

/** The definition of one tool with its secrets. Null: there is no such private or public tool. */
export async function getToolDefinition(
  db: Db,
  accountId: string,
  toolId: string,
): Promise<KnownTool | null> {
  const found = await findTools(db, accountId, { ids: [toolId], names: [] });
  return found[0] ?? null;
}

/**
 * Replaces name and definition as a whole. A masked value stands for the stored value that it masks. Null: the account
 * has no such tool.
 * @throws MaskedValueError when a masked value has no stored value.
 */
export async function replaceTool(
  db: Db,
  accountId: string,
  toolId: string,
  tool: NewTool,
): Promise<ToolRow | null> {
  return inTransaction(db, async (tx) => {
    // Locked, so that masked values of concurrent changes stand for the values of the previous change.
    await sql`select id from tools where id = ${toolId} and account_id = ${accountId} for update`.execute(
      tx.query,
    );
    const present = await readTool(tx, accountId, toolId);
    if (present === null) return null;
    const name = toStorableText(tool.name);
    const sealed = seal(tx, toolId, tool.definition, { definition: openDefinition(tx, present) });
    await tx.query
      .updateTable("tools")
      .set({
        name,
        name_key: toolNameKey(name),
        search_text: toolSearchText(name, sealed.stored["definition"]),
        document: sealed.document,
        sealed_secrets: sealed.sealedSecrets,
      })
      .where("id", "=", toolId)
      .where("account_id", "=", accountId)
      .execute();
    return toToolRow(tx, { ...present, name, document: sealed.stored, sealedSecrets: sealed.sealedSecrets });
  });
}

/** Running calls keep their copy. False: the account has no such tool. */
export async function deleteTool(db: Db, accountId: string, toolId: string): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("tools")
    .where("id", "=", toolId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

const toolColumns = selectList("tools", {
  toolId: "id",
  name: "name",
  createdAt: "created_at",
  document: "document",
  sealedSecrets: "sealed_secrets",
});

export type ToolColumns = Selected<typeof toolColumns>;

async function readTool(db: Db, accountId: string, toolId: string): Promise<ToolColumns | null> {
  const read = await sql<ToolColumns>`
    select ${toolColumns} from tools where id = ${toolId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

export function toToolRow(db: Db, columns: ToolColumns): ToolRow {
  const { toolId, name, createdAt, document, sealedSecrets } = columns;
  const shown = documentForAnswer(db.sealer, document, sealedSecrets, toolContext(toolId));
  return { toolId, name, createdAt, ownership: "private", definition: definitionIn(shown) };
}

/** Stored documents have passed the schema. */
function openDefinition(db: Db, { toolId, document, sealedSecrets }: ToolColumns): BaseToolDefinition {
  return definitionIn(openDocument(db.sealer, document, sealedSecrets, toolContext(toolId)));
}

function definitionIn(document: Record<string, unknown>): BaseToolDefinition & Record<string, unknown> {
  return document["definition"] as BaseToolDefinition & Record<string, unknown>;
}

function seal(db: Db, toolId: string, definition: object, stored: object | null): SealedDocument {
  const { document, unresolved } = restoreMasked({ definition }, stored);
  if (unresolved.length > 0) throw new MaskedValueError(unresolved);
  return sealDocument(db.sealer, JSON.parse(toJsonText(document)) as object, toolContext(toolId));
}

/** The key by which names are sorted. Computed here, because the two databases convert case differently. */
export function toolNameKey(name: string): string {
  return toStorableText(name).normalize("NFC").toLowerCase();
}

export function toolSearchText(name: string, definition: unknown): string {
  const { description } = definition as { readonly description?: unknown };
  return searchText(typeof description === "string" ? [name, description] : [name]).normalize("NFC");
}

function toolContext(toolId: string): string {
  return `tools:${toolId}`;
}
