import { ApiError, type apiKeyRoutes } from "@parley/schema";
import {
  type ApiKeyRow,
  createApiKeyBy,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
} from "../../store/accounts/api-keys.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { apiKeyResource } from "../resources/resources.ts";
import { notFound } from "./shared.ts";

const listApiKeysRoute: Handler<"listApiKeys"> = async ({ accountId, list }, { http }) => {
  const page = await pageAnswer(
    list,
    (wanted) => listApiKeys(http.store.db, accountId, wanted),
    apiKeyResource,
  );
  return { status: 200, json: page };
};

const createApiKeyRoute: Handler<"createApiKey"> = async ({ accountId, keyPrefix, body, change }, deps) => {
  const { name, expiryDate = null, scopes = null } = body;
  const key = { name, expiryDate, scopes, creator: keyPrefix };
  const made = await change((tx) => createApiKeyBy(tx, accountId, key), { idOf: ({ prefix }) => prefix });
  const headers = { location: `${deps.publicUrl()}/api/api_keys/${made.prefix}` };
  return { status: 201, json: { ...apiKeyResource(made), secret: made.secret }, headers };
};

const getApiKeyRoute: Handler<"getApiKey"> = async ({ accountId, params }, { http }) => {
  const row = await getApiKey(http.store.db, accountId, params.api_key_prefix);
  if (row === null) throw notFound("API key");
  return { status: 200, json: apiKeyResource(row) };
};

async function changeKey(
  {
    accountId,
    params,
    body,
    change,
  }: Pick<HandlerInput<"updateApiKey">, "accountId" | "params" | "body" | "change">,
  { http }: HandlerDeps,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const { api_key_prefix: prefix } = params;
  const { revoked } = body;
  const { db } = http.store;
  const row: ApiKeyRow | null =
    revoked === true
      ? await change((tx) => revokeApiKey(tx, accountId, prefix))
      : await getApiKey(db, accountId, prefix);
  // Looked up again only after the commit: before it, other requests still read a valid key.
  db.apiKeyCache.clear();
  if (row === null) throw notFound("API key");
  if (revoked === false && row.revoked) {
    throw new ApiError("conflict", "A revoked API key cannot be restored; create another one.");
  }
  return { status: 200, json: apiKeyResource(row) };
}

const replaceApiKeyRoute: Handler<"replaceApiKey"> = async (input, deps) => changeKey(input, deps);

const updateApiKeyRoute: Handler<"updateApiKey"> = async (input, deps) => changeKey(input, deps);

const deleteApiKeyRoute: Handler<"deleteApiKey"> = async ({ accountId, params, change }, { http }) => {
  const deleted = await change((tx) => deleteApiKey(tx, accountId, params.api_key_prefix));
  http.store.db.apiKeyCache.clear();
  if (!deleted) throw notFound("API key");
  return { status: 204 };
};

export const apiKeyHandlers: HandlersOf<typeof apiKeyRoutes> = {
  listApiKeys: listApiKeysRoute,
  createApiKey: createApiKeyRoute,
  getApiKey: getApiKeyRoute,
  replaceApiKey: replaceApiKeyRoute,
  updateApiKey: updateApiKeyRoute,
  deleteApiKey: deleteApiKeyRoute,
};
