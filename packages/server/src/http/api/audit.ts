/** Writes the audit log: a change with its entry in one transaction, and refused requests for changes. */

import { type ApiError, type Route, type RouteName, routeOf } from "@parley/schema";
import type { Logger } from "pino";
import {
  addAuditEntry,
  auditNameOf,
  type AuditTarget,
  readAuditTarget,
} from "../../store/accounts/audit-log.ts";
import type { AuthenticatedKey } from "../../store/database/api-key-cache.ts";
import { type Db, inTransaction } from "../../store/database/db.ts";
import { toApiError } from "./problems.ts";
import { rateLimit } from "./rate-limit.ts";

/** Of an account; further ones are not recorded. Without it, a key could fill the database with refused requests. */
export const REFUSALS_PER_SECOND = 1;

/** Requests whose changes, and refusals, are recorded. */
export function isAudited({ method, scope }: Pick<Route, "method" | "scope">): boolean {
  return method !== "GET" && scope === "admin";
}

/** Who requests what, from where. */
export interface AuditedRequest {
  readonly name: RouteName;
  readonly key: AuthenticatedKey;
  readonly params: Readonly<Record<string, string | number>>;
  readonly clientAddress: string;
  readonly requestId: string;
}

export interface ChangeOptions<Result> {
  /** The id of what the change creates. Absent: the change is of the record that the path names, if it names one. */
  readonly idOf?: (result: Result) => string;
  /** Whether something was changed. Default: the result is neither null nor false. */
  readonly isDone?: (result: Result) => boolean;
}

/** Runs `work` in a transaction, which may be repeated, and records it in the same transaction. */
export type RunChange = <Result>(
  work: (tx: Db) => Promise<Result>,
  options?: ChangeOptions<Result>,
) => Promise<Result>;

/** `request` is null where no key is needed: nothing is recorded then. */
export function runChange(db: Db, request: AuditedRequest | null): RunChange {
  return async (work, { idOf, isDone = isSomething } = {}) =>
    inTransaction(db, async (tx) => {
      if (request === null) return work(tx);
      const { accountId } = request.key;
      const named = namedIn(request);
      // Before the change, which may delete the record or its name.
      const before =
        idOf === undefined && named !== null ? await readAuditTarget(tx, accountId, ...named) : null;
      const result = await work(tx);
      if (!isDone(result)) return result;
      const target = idOf === undefined ? before : { id: idOf(result), name: auditNameOf(result) };
      await addAuditEntry(tx, accountId, { ...entryOf(request, target), refusal: null });
      return result;
    });
}

/** Runs `work`, and records it when it is refused. Its own failure only writes a line to the log. */
export type RecordRefusal = <Result>(
  request: AuditedRequest | null,
  work: () => Promise<Result>,
) => Promise<Result>;

export function recordRefusals(db: Db, logger: Pick<Logger, "warn">, nowMs: () => number): RecordRefusal {
  const rate = rateLimit(REFUSALS_PER_SECOND);
  const record = async (request: AuditedRequest, { code, status }: ApiError): Promise<void> => {
    const { accountId } = request.key;
    // A fault of the service changed nothing; its own log has it.
    if (!isAudited(routeOf(request.name)) || status >= 500 || rate.take(accountId, nowMs()) > 0) return;
    const named = namedIn(request);
    const target = named === null ? null : { id: named[1], name: null };
    try {
      await addAuditEntry(db, accountId, { ...entryOf(request, target), refusal: code });
    } catch (error) {
      logger.warn({ error: String(error), requestId: request.requestId }, "a refusal was not recorded");
    }
  };
  return async (request, work) => {
    try {
      return await work();
    } catch (error) {
      if (request !== null) await record(request, toApiError(error));
      throw error;
    }
  };
}

function isSomething(result: unknown): boolean {
  return result !== null && result !== false;
}

function entryOf({ name, key, clientAddress, requestId }: AuditedRequest, target: AuditTarget | null) {
  const { prefix, name: keyName } = key;
  return {
    operation: name,
    via: "api",
    key: { prefix, name: keyName },
    target,
    clientAddress,
    requestId,
  } as const;
}

/** The last parameter of the path and its value; null: the path has none. */
function namedIn({ name, params }: AuditedRequest): readonly [parameter: string, id: string] | null {
  const parameter = [...routeOf(name).path.matchAll(/\{([a-z_]+)\}/g)].at(-1)?.[1];
  const id = parameter === undefined ? undefined : params[parameter];
  return parameter === undefined || id === undefined ? null : [parameter, String(id)];
}
