/** Routes of the API key's account. */

import { z } from "zod";
import { Account } from "./account.ts";
import { json, plain, type Route } from "../routes/route.ts";

export const accountRoutes = {
  listAccounts: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts",
    tag: "account",
    summary: "List the accounts that the API key can use: only its own",
    responses: { 200: json(z.array(Account), "One account.") },
  },
  getAccount: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me",
    tag: "account",
    summary: "Get the account of the API key",
    responses: { 200: json(Account, "The account.") },
  },
} as const satisfies Record<string, Route>;
