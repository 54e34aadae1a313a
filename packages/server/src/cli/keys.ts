import { MAX_API_KEY_YEARS, moment, SCOPES, type Scopes } from "@parley/schema";
import { type ApiKeyRow, createApiKey, listApiKeys, revokeApiKey } from "../store/accounts/api-keys.ts";
import { recordOperatorChange } from "../store/accounts/audit-log.ts";
import { findAccountOfApiKey } from "../store/accounts/operator.ts";
import { type Db, inTransaction } from "../store/database/db.ts";
import { LastApiKeyError } from "../store/database/store-errors.ts";
import { ACCOUNT_ARGUMENT, accountNamed, checkedName } from "./accounts.ts";
import {
  type Command,
  CommandError,
  type CommandInput,
  JSON_OPTION,
  printRows,
  textOption,
  usageError,
} from "./command.ts";
import { withStore } from "./store.ts";

/** Limit of a key's name, as in the API. */
const MAX_NAME_LENGTH = 50;
/** Limit of printed keys, far above what an account has. */
const LISTED_KEYS = 10_000;

function expiryIn(input: CommandInput): string | null {
  const given = textOption(input, "expires");
  if (given === undefined) return null;
  const { data: expiry } = moment("first").safeParse(given);
  if (expiry === undefined) {
    throw usageError("--expires must be a date such as 2030-01-31, or 2030-01-31T12:00:00Z.");
  }
  if (Date.parse(expiry) <= Date.now()) throw usageError("--expires must lie in the future.");
  const latest = new Date();
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_API_KEY_YEARS);
  if (Date.parse(expiry) > latest.getTime()) {
    throw usageError(`--expires must be at most ${MAX_API_KEY_YEARS} years ahead.`);
  }
  return expiry;
}

function scopesIn(input: CommandInput): Scopes {
  const given = textOption(input, "scopes");
  if (given === undefined) return null;
  const names = given.split(",").map((name) => name.trim());
  const scopes = SCOPES.filter((scope) => names.includes(scope));
  if (!names.every((name) => scopes.some((scope) => scope === name))) {
    throw usageError(`--scopes must be a list of ${SCOPES.join(", ")}, separated by commas.`);
  }
  return scopes;
}

function printKeys(input: CommandInput, keys: readonly ApiKeyRow[]): void {
  printRows(
    input,
    ["PREFIX", "NAME", "CREATED", "CREATED BY", "EXPIRES", "SCOPES", "REVOKED"],
    keys.map(({ prefix, name, createdAt, creator, expiryDate, scopes, revoked }) => ({
      prefix,
      name,
      createdAt,
      creator,
      expiryDate,
      scopes: scopes?.join(",") ?? null,
      revoked,
    })),
  );
}

const create: Command = {
  words: ["keys", "create"],
  summary: "Creates an API key of an account",
  arguments: [{ ...ACCOUNT_ARGUMENT, optional: true }],
  options: {
    name: { value: "NAME", description: 'its purpose; default: "command line"' },
    expires: { value: "DATE", description: "when it expires; default: never" },
    scopes: { value: "SCOPES", description: `any of ${SCOPES.join(",")}; default: everything` },
    json: JSON_OPTION,
  },
  details: ["Without ACCOUNT the key belongs to the default account. It is printed once and stored nowhere."],
  run: async (input) => {
    const name = checkedName(textOption(input, "name") ?? "command line", "--name", MAX_NAME_LENGTH);
    const expiryDate = expiryIn(input);
    const scopes = scopesIn(input);
    await withStore(input, async (db) => {
      const { accountId } = await accountNamed(db, input.arguments[0] ?? "default");
      const key = await inTransaction(db, async (tx) => {
        const made = await createApiKey(tx, accountId, { name, creator: "command line", expiryDate, scopes });
        const target = { id: made.prefix, name };
        await recordOperatorChange(tx, accountId, { operation: "createApiKey", via: "command_line", target });
        return made;
      });
      printRows(input, ["ACCOUNT", "NAME", "API KEY"], [{ accountId, name: key.name, secret: key.secret }]);
    });
  },
};

const list: Command = {
  words: ["keys", "list"],
  summary: "Lists the API keys of an account by their prefixes, newest first",
  arguments: [{ ...ACCOUNT_ARGUMENT, optional: true }],
  options: { json: JSON_OPTION },
  details: [
    "Without ACCOUNT the keys of the default account are listed. No command and no request shows a key again.",
  ],
  run: async (input) => {
    await withStore(input, async (db) => {
      const { accountId } = await accountNamed(db, input.arguments[0] ?? "default");
      const { rows } = await listApiKeys(db, accountId, {
        after: null,
        direction: "forward",
        limit: LISTED_KEYS,
      });
      printKeys(input, rows);
    });
  },
};

const revoke: Command = {
  words: ["keys", "revoke"],
  summary: "Revokes an API key permanently",
  arguments: [{ name: "PREFIX", description: "the first eight characters of the key" }],
  options: { json: JSON_OPTION },
  details: [
    "It takes effect within a second. The last valid key of an account that may do everything cannot be revoked: create " +
      "another one first.",
  ],
  run: async (input) => {
    const [prefix = ""] = input.arguments;
    await withStore(input, async (db) => {
      const accountId = await findAccountOfApiKey(db, prefix);
      try {
        const key = accountId === null ? null : await revoked(db, accountId, prefix);
        if (key === null) throw new CommandError(`There is no key that begins with "${prefix.slice(0, 8)}".`);
        printKeys(input, [key]);
      } catch (error) {
        if (error instanceof LastApiKeyError) throw new CommandError(error.message);
        throw error;
      }
    });
  },
};

async function revoked(db: Db, accountId: string, prefix: string): Promise<ApiKeyRow | null> {
  return inTransaction(db, async (tx) => {
    const key = await revokeApiKey(tx, accountId, prefix);
    if (key === null) return null;
    const target = { id: prefix, name: key.name };
    await recordOperatorChange(tx, accountId, { operation: "updateApiKey", via: "command_line", target });
    return key;
  });
}

export const keyCommands: readonly Command[] = [create, list, revoke];
