import {
  type AccountLimits,
  type AccountRow,
  createAccount,
  listAccounts,
  NO_ACCOUNT_LIMITS,
  removeAccount,
  setAccountLimits,
} from "../store/accounts/accounts.ts";
import { createApiKey } from "../store/accounts/api-keys.ts";
import { type Db, inTransaction } from "../store/database/db.ts";
import { recordOperatorChange } from "../store/accounts/audit-log.ts";
import { findAccount } from "../store/accounts/operator.ts";
import { setSipEnabled } from "../store/telephony/sip-accounts.ts";
import { AccountInUseError, DefaultAccountError } from "../store/database/store-errors.ts";
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandOption,
  JSON_OPTION,
  printRows,
  textOption,
  usageError,
} from "./command.ts";
import { withStore } from "./store.ts";

const MAX_NAME_LENGTH = 100;
const MAX_CONCURRENT_CALLS = 1_000_000;

export const ACCOUNT_ARGUMENT = {
  name: "ACCOUNT",
  description: 'its id; or "default" for the one of the first start',
} as const;

const CONCURRENT_CALLS: CommandOption = {
  value: "N",
  description: 'maximum of concurrent calls; "none": no limit but that of the service',
};

/** @throws CommandError when there is none. */
export async function accountNamed(db: Db, named: string): Promise<AccountRow> {
  const account = await findAccount(db, named);
  if (account === null) throw new CommandError(`There is no account "${named}"; see parley accounts list.`);
  return account;
}

function limitsIn(input: CommandInput): AccountLimits | null {
  const given = textOption(input, "concurrent-calls");
  if (given === undefined) return null;
  if (given === "none") return NO_ACCOUNT_LIMITS;
  const limit = /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN;
  if (!(limit <= MAX_CONCURRENT_CALLS)) {
    throw usageError(`--concurrent-calls must be a whole number up to ${MAX_CONCURRENT_CALLS}, or none.`);
  }
  return { allowedConcurrentCalls: limit };
}

/** @param what the subject of the error message */
export function checkedName(name: string, what: string, most = MAX_NAME_LENGTH): string {
  if (name.trim() === "" || name.length > most || /\p{Cc}/u.test(name)) {
    throw usageError(`${what} must have 1 to ${most} characters, and no control characters.`);
  }
  return name;
}

function printAccounts(input: CommandInput, accounts: readonly AccountRow[]): void {
  printRows(
    input,
    ["ACCOUNT", "NAME", "CREATED", "ACTIVE CALLS", "LIMIT"],
    accounts.map(({ accountId, name, createdAt, activeCalls, allowedConcurrentCalls }) => ({
      accountId,
      name,
      createdAt,
      activeCalls,
      allowedConcurrentCalls,
    })),
  );
}

const create: Command = {
  words: ["accounts", "create"],
  summary: "Creates an account and its first API key",
  arguments: [{ name: "NAME", description: "for people; need not be unique" }],
  options: { "concurrent-calls": CONCURRENT_CALLS, json: JSON_OPTION },
  details: ["The key is printed once and stored nowhere. Create more keys with parley keys create."],
  run: async (input) => {
    const name = checkedName(input.arguments[0] ?? "", "NAME");
    const limits = limitsIn(input) ?? NO_ACCOUNT_LIMITS;
    await withStore(input, async (db) => {
      const { account, key } = await inTransaction(db, async (tx) => {
        const made = await createAccount(tx, name, limits);
        const first = { name: "first key", creator: "command line", expiryDate: null };
        const key = await createApiKey(tx, made.accountId, first);
        const target = { id: made.accountId, name };
        const change = { operation: "createAccount", via: "command_line", target } as const;
        await recordOperatorChange(tx, made.accountId, change);
        return { account: made, key };
      });
      printRows(
        input,
        ["ACCOUNT", "NAME", "API KEY"],
        [{ accountId: account.accountId, name: account.name, secret: key.secret }],
      );
    });
  },
};

const list: Command = {
  words: ["accounts", "list"],
  summary: "Lists the accounts with their limits and running calls, oldest first",
  arguments: [],
  options: { json: JSON_OPTION },
  details: [],
  run: async (input) => {
    await withStore(input, async (db) => printAccounts(input, await listAccounts(db)));
  },
};

const limits: Command = {
  words: ["accounts", "limits"],
  summary: "Changes the limits of an account",
  arguments: [ACCOUNT_ARGUMENT],
  options: { "concurrent-calls": CONCURRENT_CALLS, json: JSON_OPTION },
  details: [
    "The limits apply to calls created from now on; running calls continue. Without options the present limits are printed.",
  ],
  run: async (input) => {
    const wanted = limitsIn(input);
    await withStore(input, async (db) => {
      const account = await accountNamed(db, input.arguments[0] ?? "");
      const changed = wanted === null ? account : await limited(db, account, wanted);
      printAccounts(input, [changed ?? account]);
    });
  },
};

async function limited(
  db: Db,
  { accountId, name }: AccountRow,
  wanted: AccountLimits,
): Promise<AccountRow | null> {
  return inTransaction(db, async (tx) => {
    const target = { id: accountId, name };
    const change = { operation: "setAccountLimits", via: "command_line", target } as const;
    await recordOperatorChange(tx, accountId, change);
    return setAccountLimits(tx, accountId, wanted);
  });
}

const sip: Command = {
  words: ["accounts", "sip"],
  summary: "Allows or forbids an account to use SIP",
  arguments: [ACCOUNT_ARGUMENT, { name: "STATE", description: '"on" or "off"' }],
  options: { json: JSON_OPTION },
  details: [
    "The state applies to calls created from now on; running calls continue. Accounts cannot use SIP at first.",
  ],
  run: async (input) => {
    const state = input.arguments[1];
    if (state !== "on" && state !== "off") throw usageError('STATE must be "on" or "off".');
    await withStore(input, async (db) => {
      const { accountId, name } = await accountNamed(db, input.arguments[0] ?? "");
      await inTransaction(db, async (tx) => {
        const target = { id: accountId, name };
        const change = { operation: "setAccountSip", via: "command_line", target } as const;
        await recordOperatorChange(tx, accountId, change);
        await setSipEnabled(tx, accountId, state === "on");
      });
      printRows(input, ["ACCOUNT", "NAME", "SIP"], [{ accountId, name, sip: state }]);
    });
  },
};

const remove: Command = {
  words: ["accounts", "remove"],
  summary: "Deletes an account with everything in it",
  arguments: [{ name: "ACCOUNT", description: "its id" }],
  options: {
    yes: { value: null, description: "confirms the deletion, which only a backup can undo" },
    json: JSON_OPTION,
  },
  details: [
    "Its keys stop working at once. Then its calls are deleted with their messages, recordings and event logs, and last " +
      "its agents, tools and settings. The command is refused while calls of the account run, and for the default " +
      "account. After an interruption run it again.",
    "Recordings are files: the service that has them deletes them within minutes, or after its next start.",
  ],
  run: async (input) => {
    await withStore(input, async (db) => {
      const account = await accountNamed(db, input.arguments[0] ?? "");
      if (input.options["yes"] !== true) {
        throw usageError(
          `This deletes the account "${account.name}" and all its calls; add --yes to confirm.`,
        );
      }
      try {
        await removeAccount(db, account.accountId);
      } catch (error) {
        if (!(error instanceof AccountInUseError || error instanceof DefaultAccountError)) throw error;
        throw new CommandError(error.message);
      }
      printRows(input, ["REMOVED", "NAME"], [{ accountId: account.accountId, name: account.name }]);
    });
  },
};

export const accountCommands: readonly Command[] = [create, list, limits, sip, remove];
