import type { deletedCallRoutes } from "@parley/schema";
import { getDeletedCall, listDeletedCalls } from "../../store/calls/deleted-calls.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { deletedCallResource } from "../resources/resources.ts";
import { filterOf } from "./calls.ts";
import { notFound } from "./shared.ts";

const list: Handler<"listDeletedCalls"> = async ({ accountId, query, list: request }, { http }) => {
  const filter = filterOf(query);
  const page = await pageAnswer(
    request,
    (wanted) => listDeletedCalls(http.store.db, accountId, filter, wanted),
    deletedCallResource,
  );
  return { status: 200, json: page };
};

const get: Handler<"getDeletedCall"> = async ({ accountId, params }, { http }) => {
  const row = await getDeletedCall(http.store.db, accountId, params.call_id);
  if (row === null) throw notFound("deleted call");
  return { status: 200, json: deletedCallResource(row) };
};

export const deletedCallHandlers: HandlersOf<typeof deletedCallRoutes> = {
  listDeletedCalls: list,
  getDeletedCall: get,
};
