import { ApiError, type FieldError, validationError, type webhookRoutes } from "@parley/schema";
import { TooManyWebhooksError } from "../../store/database/store-errors.ts";
import { createSampleDelivery, listDeliveries, redeliver } from "../../store/webhooks/webhook-deliveries.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  MAX_WEBHOOKS,
  updateWebhook,
  type WebhookRow,
} from "../../store/webhooks/webhooks.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { deliveryResource } from "../resources/resources.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { notFound } from "./shared.ts";

const listWebhooksRoute: Handler<"listWebhooks"> = async ({ accountId, query, list }, { http }) => {
  const { agentId } = query;
  const page = await pageAnswer(
    list,
    (wanted) => listWebhooks(http.store.db, accountId, { agentId }, wanted),
    webhookResource,
  );
  return { status: 200, json: page };
};

const createWebhookRoute: Handler<"createWebhook"> = async ({ accountId, body, change }, deps) => {
  refuseUrl(body.url, deps);
  const { url, events, agentId = null, secrets = [] } = body;
  const requested = { url, events, agentId, secrets };
  const create = change((tx) => createWebhook(tx, accountId, requested), {
    idOf: ({ webhookId }) => webhookId,
  });
  const row = await create.catch((error: unknown) => {
    if (!(error instanceof TooManyWebhooksError)) throw error;
    const message = `is one webhook too many: an account has at most ${MAX_WEBHOOKS}`;
    throw validationError([{ field: "", message }]);
  });
  const headers = { location: `${deps.publicUrl()}/api/webhooks/${row.webhookId}` };
  return { status: 201, json: webhookResource(row), headers };
};

const getWebhookRoute: Handler<"getWebhook"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: webhookResource(await webhookOrNotFound(deps, accountId, params.webhook_id)),
});

const replaceWebhookRoute: Handler<"replaceWebhook"> = async ({ accountId, params, body, change }, deps) => {
  refuseUrl(body.url, deps);
  const { url, events, agentId = null, secrets = [], status } = body;
  const changes = { url, events, agentId, secrets, resetHealth: status === "normal" };
  const row = await change((tx) => updateWebhook(tx, accountId, params.webhook_id, changes));
  if (row === null) throw notFound("webhook");
  return { status: 200, json: webhookResource(row) };
};

const updateWebhookRoute: Handler<"updateWebhook"> = async ({ accountId, params, body, change }, deps) => {
  const { url, events, agentId, secrets, status } = body;
  if (url !== undefined) refuseUrl(url, deps);
  const changes = {
    url,
    events,
    agentId,
    // Without secrets one is generated, as at creation.
    secrets: secrets === null ? [] : secrets,
    resetHealth: status === "normal",
  };
  const row = await change((tx) => updateWebhook(tx, accountId, params.webhook_id, changes));
  if (row === null) throw notFound("webhook");
  return { status: 200, json: webhookResource(row) };
};

const deleteWebhookRoute: Handler<"deleteWebhook"> = async ({ accountId, params, change }) => {
  if (!(await change((tx) => deleteWebhook(tx, accountId, params.webhook_id)))) throw notFound("webhook");
  return { status: 204 };
};

const testWebhookRoute: Handler<"testWebhook"> = async ({ accountId, params, body, change }, { http }) => {
  const { event = "call.ended" } = body;
  const { db } = http.store;
  const webhook = await getWebhook(db, accountId, params.webhook_id);
  if (webhook === null) throw notFound("webhook");
  const record = http.sampleCall(accountId, event);
  const row = await change((tx) => createSampleDelivery(tx, accountId, webhook.webhookId, event, record));
  if (row === null) throw notFound("webhook");
  http.deliver();
  return { status: 202, json: deliveryResource(row) };
};

const listDeliveriesRoute: Handler<"listWebhookDeliveries"> = async (input, deps) => {
  const { accountId, params, query, list } = input;
  await webhookOrNotFound(deps, accountId, params.webhook_id);
  const { status } = query;
  const page = await pageAnswer(
    list,
    (wanted) => listDeliveries(deps.http.store.db, accountId, params.webhook_id, { status }, wanted),
    deliveryResource,
  );
  return { status: 200, json: page };
};

const redeliverRoute: Handler<"redeliverWebhookDelivery"> = async (
  { accountId, params, change },
  { http },
) => {
  const { webhook_id: webhookId, delivery_id: deliveryId } = params;
  const outcome = await change((tx) => redeliver(tx, accountId, webhookId, deliveryId), {
    isDone: (result) => typeof result !== "string",
  });
  if (outcome === "not_found") throw notFound("delivery of this webhook");
  if (outcome === "erased") {
    throw new ApiError("wrong_state", "The call was deleted, and the content of the delivery with it.");
  }
  http.deliver();
  return { status: 202, json: deliveryResource(outcome) };
};

async function webhookOrNotFound(
  { http }: HandlerDeps,
  accountId: string,
  webhookId: string,
): Promise<WebhookRow> {
  const row = await getWebhook(http.store.db, accountId, webhookId);
  if (row === null) throw notFound("webhook");
  return row;
}

/** Literal addresses are refused when stored; names are resolved when they are dialled. */
function refuseUrl(url: string, { http }: HandlerDeps): void {
  const reason = http.refusedTarget(url);
  const errors: FieldError[] = [{ field: "url", message: `is not allowed: ${reason}` }];
  if (reason !== null) throw validationError(errors);
}

function webhookResource(row: WebhookRow): Resource {
  return {
    webhookId: row.webhookId,
    created: row.createdAt,
    url: row.url,
    events: row.events,
    agentId: row.agentId,
    secrets: row.secrets,
    status: row.status,
    lastStatusChange: row.lastStatusChangeAt,
    recentFailures: row.recentFailures,
  };
}

export const webhookHandlers: HandlersOf<typeof webhookRoutes> = {
  listWebhooks: listWebhooksRoute,
  createWebhook: createWebhookRoute,
  getWebhook: getWebhookRoute,
  replaceWebhook: replaceWebhookRoute,
  updateWebhook: updateWebhookRoute,
  deleteWebhook: deleteWebhookRoute,
  testWebhook: testWebhookRoute,
  listWebhookDeliveries: listDeliveriesRoute,
  redeliverWebhookDelivery: redeliverRoute,
};
