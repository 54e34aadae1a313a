import type { throttleRoutes } from "@parley/schema";
import {
  createThrottle,
  deleteThrottle,
  getThrottle,
  listThrottles,
  updateThrottle,
} from "../../store/accounts/throttles.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { throttleResource } from "../resources/resources.ts";
import { notFound } from "./shared.ts";

const listCallThrottlesRoute: Handler<"listCallThrottles"> = async ({ accountId, list }, { http }) => {
  const page = await pageAnswer(
    list,
    (wanted) => listThrottles(http.store.db, accountId, wanted),
    throttleResource,
  );
  return { status: 200, json: page };
};

const createCallThrottleRoute: Handler<"createCallThrottle"> = async ({ accountId, body, change }, deps) => {
  const row = await change((tx) => createThrottle(tx, accountId, body), {
    idOf: ({ throttleId }) => throttleId,
  });
  const headers = { location: `${deps.publicUrl()}/api/call_throttles/${row.throttleId}` };
  return { status: 201, json: throttleResource(row), headers };
};

const getCallThrottleRoute: Handler<"getCallThrottle"> = async ({ accountId, params }, { http }) => {
  const row = await getThrottle(http.store.db, accountId, params.throttle_id);
  if (row === null) throw notFound("call throttle");
  return { status: 200, json: throttleResource(row) };
};

/** A replacement contains every field, so it changes all of them. */
const updateCallThrottleRoute: Handler<"replaceCallThrottle" | "updateCallThrottle"> = async ({
  accountId,
  params,
  body,
  change,
}) => {
  const row = await change((tx) => updateThrottle(tx, accountId, params.throttle_id, body));
  if (row === null) throw notFound("call throttle");
  return { status: 200, json: throttleResource(row) };
};

const deleteCallThrottleRoute: Handler<"deleteCallThrottle"> = async ({ accountId, params, change }) => {
  if (!(await change((tx) => deleteThrottle(tx, accountId, params.throttle_id))))
    throw notFound("call throttle");
  return { status: 204 };
};

export const throttleHandlers: HandlersOf<typeof throttleRoutes> = {
  listCallThrottles: listCallThrottlesRoute,
  createCallThrottle: createCallThrottleRoute,
  getCallThrottle: getCallThrottleRoute,
  replaceCallThrottle: updateCallThrottleRoute,
  updateCallThrottle: updateCallThrottleRoute,
  deleteCallThrottle: deleteCallThrottleRoute,
};
