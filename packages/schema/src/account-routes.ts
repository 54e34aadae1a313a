/** The operations on the account of the key: itself, its usage. */

import { z } from "zod";
import { Account } from "./account.ts";
import { json, plain, type Route } from "./route.ts";

export const accountRoutes = {
  listAccounts: {
    ...plain,
    method: "GET",
    path: "/api/accounts",
    tag: "account",
    summary: "List the accounts that the key may use: its own",
    responses: { 200: json(z.array(Account), "One account.") },
  },
  getAccount: {
    ...plain,
    method: "GET",
    path: "/api/accounts/me",
    tag: "account",
    summary: "Read the account of the key",
    responses: { 200: json(Account, "The account.") },
  },
} as const satisfies Record<string, Route>;
