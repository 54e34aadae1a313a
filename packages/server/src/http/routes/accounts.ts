import type { accountRoutes } from "@parley/schema";
import { type AccountRow, getAccount } from "../../store/accounts/accounts.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { accountResource } from "../resources/resources.ts";
import { notFound } from "./shared.ts";

/** The account of the key, unless it was removed since the key was checked. */
async function ownAccount(deps: HandlerDeps, accountId: string): Promise<AccountRow> {
  const row = await getAccount(deps.http.store.db, accountId);
  if (row === null) throw notFound("account");
  return row;
}

const listAccountsRoute: Handler<"listAccounts"> = async ({ accountId }, deps) => ({
  status: 200,
  json: [accountResource(await ownAccount(deps, accountId))],
});

const getAccountRoute: Handler<"getAccount"> = async ({ accountId }, deps) => ({
  status: 200,
  json: accountResource(await ownAccount(deps, accountId)),
});

export const accountHandlers: HandlersOf<typeof accountRoutes> = {
  listAccounts: listAccountsRoute,
  getAccount: getAccountRoute,
};
