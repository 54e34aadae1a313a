/** Entries of the audit log: administrative changes of an account, without secrets and bodies. */

import { z } from "zod";
import { ERROR_CODES } from "../values/errors.ts";
import { Timestamp, Uuid } from "../values/fields.ts";

/** Where a change came from: a request, the operator's command line, or the start of the service. */
export const AuditVia = z.enum(["api", "command_line", "start"]);
export type AuditVia = z.output<typeof AuditVia>;

export const AuditResult = z.enum(["done", "refused"]);
export type AuditResult = z.output<typeof AuditResult>;

export const AuditEntry = z.strictObject({
  entryId: Uuid,
  created: Timestamp.describe("By the clock of the database."),
  operation: z
    .string()
    .describe(
      "The `operationId` of the request, such as `deleteAgent`, or what a command did, such as `refundCall`.",
    ),
  via: AuditVia.describe(
    "Where the change came from: a request, the command line, or the start of the service.",
  ),
  keyPrefix: z.string().nullable().describe("The first eight characters of the API key of the request."),
  keyName: z.string().nullable(),
  targetId: z
    .string()
    .nullable()
    .describe("What was changed: the last id of the path, or the id of what was created. Null: the account."),
  targetName: z.string().nullable().describe("Its name before the change, or as it was created."),
  clientAddress: z.string().nullable().describe("The IP address of the client."),
  result: AuditResult.describe("`refused`: nothing was changed."),
  code: z.enum(ERROR_CODES).nullable().describe("Why it was refused: the `code` of the problem."),
  requestId: z.string().nullable().describe("As in the header `X-Request-Id` and in the service's log."),
});
export type AuditEntry = z.output<typeof AuditEntry>;
