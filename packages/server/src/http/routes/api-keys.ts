import { ApiError, type apiKeyRoutes } from "@parley/schema";
import {
  type ApiKeyRow,
  createApiKeyBy,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
} from "../../store/accounts/api-keys.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
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

const createApiKeyRoute: Handler<"createApiKey"> = async ({ accountId, keyPrefix, body }, deps) => {
  const { name, expiryDate = null, scopes = null } = body;
  const key = { name, expiryDate, scopes, creator: keyPrefix };
  const made = await createApiKeyBy(deps.http.store.db, accountId, key);
  const headers = { location: `${deps.publicUrl()}/api/api_keys/${made.prefix}` };
  return { status: 201, json: { ...apiKeyResource(made), secret: made.secret }, headers };
};

const getApiKeyRoute: Handler<"getApiKey"> = async ({ accountId, params }, { http }) => {
  const row = await getApiKey(http.store.db, accountId, params.api_key_prefix);
  if (row === null) throw notFound("API key");
  return { status: 200, json: apiKeyResource(row) };
};

async function changeKey(
  accountId: string,
  prefix: string,
  revoked: boolean | null | undefined,
  { http }: HandlerDeps,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const { db } = http.store;
  const row: ApiKeyRow | null =
    revoked === true ? await revokeApiKey(db, accountId, prefix) : await getApiKey(db, accountId, prefix);
  if (row === null) throw notFound("API key");
  if (revoked === false && row.revoked) {
    throw new ApiError("conflict", "A revoked API key cannot be restored; create another one.");
  }
  return { status: 200, json: apiKeyResource(row) };
}

const replaceApiKeyRoute: Handler<"replaceApiKey"> = async ({ accountId, params, body }, deps) =>
  changeKey(accountId, params.api_key_prefix, body.revoked, deps);

const updateApiKeyRoute: Handler<"updateApiKey"> = async ({ accountId, params, body }, deps) =>
  changeKey(accountId, params.api_key_prefix, body.revoked, deps);

const deleteApiKeyRoute: Handler<"deleteApiKey"> = async ({ accountId, params }, { http }) => {
  if (!(await deleteApiKey(http.store.db, accountId, params.api_key_prefix))) throw notFound("API key");
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
