/** Routes of API keys. */

import { z } from "zod";
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyWrite } from "./api-key.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";

const ApiKeyParams = z.strictObject({ api_key_prefix: z.string().regex(/^[a-zA-Z0-9]{8}$/) });

export const ApiKeyPage = pageOf(ApiKey);

export const apiKeyRoutes = {
  listApiKeys: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/api_keys",
    tag: "account",
    summary: "List the API keys of the account, without their secrets",
    query: PageQuery,
    responses: { 200: json(ApiKeyPage, "A page of API keys, newest first.") },
  },
  createApiKey: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/api_keys",
    tag: "account",
    summary: "Create an API key; only this response contains the whole key",
    request: ApiKeyCreate,
    responses: { 201: json(ApiKeyCreated, "The new API key, with the whole key in `secret`.") },
  },
  getApiKey: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/api_keys/{api_key_prefix}",
    tag: "account",
    summary: "Get an API key, without its secret",
    params: ApiKeyParams,
    responses: { 200: json(ApiKey, "The API key without its secret.") },
    errors: ["not_found"],
  },
  replaceApiKey: {
    ...plain,
    method: "PUT",
    scope: "admin",
    path: "/api/api_keys/{api_key_prefix}",
    tag: "account",
    summary: "Revoke an API key; no other field can change",
    params: ApiKeyParams,
    request: ApiKeyWrite,
    responses: { 200: json(ApiKey, "The API key without its secret.") },
    errors: ["not_found", "conflict"],
  },
  updateApiKey: {
    ...plain,
    method: "PATCH",
    scope: "admin",
    path: "/api/api_keys/{api_key_prefix}",
    tag: "account",
    summary: "Revoke an API key, at once and permanently; the last valid key of an account cannot be revoked",
    params: ApiKeyParams,
    request: ApiKeyWrite,
    partial: true,
    responses: { 200: json(ApiKey, "The API key without its secret.") },
    errors: ["not_found", "conflict"],
  },
  deleteApiKey: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/api_keys/{api_key_prefix}",
    tag: "account",
    summary: "Delete an API key; the last valid key of an account cannot be deleted",
    params: ApiKeyParams,
    responses: { 204: noContent },
    errors: ["not_found", "conflict"],
  },
} as const satisfies Record<string, Route>;
