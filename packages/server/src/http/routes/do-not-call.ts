import {
  addDoNotCall,
  deleteDoNotCall,
  type DoNotCallRow,
  listDoNotCall,
} from "../../store/batches/do-not-call.ts";
import type { Handler } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { notFound } from "./shared.ts";

const listDoNotCallRoute: Handler<"listDoNotCall"> = async ({ accountId, query, list }, { http }) => {
  const { search } = query;
  const page = await pageAnswer(
    list,
    (wanted) => listDoNotCall(http.store.db, accountId, { search }, wanted),
    doNotCallResource,
  );
  return { status: 200, json: page };
};

const addDoNotCallRoute: Handler<"addDoNotCall"> = async ({ accountId, body }, { http }) => {
  const { number, note = null } = body;
  const row = await addDoNotCall(http.store.db, accountId, { number, note });
  return { status: 201, json: doNotCallResource(row) };
};

const deleteDoNotCallRoute: Handler<"deleteDoNotCall"> = async ({ accountId, params, change }) => {
  if (!(await change((tx) => deleteDoNotCall(tx, accountId, params.number))))
    throw notFound("number on the list");
  return { status: 204 };
};

function doNotCallResource({ number, note, createdAt }: DoNotCallRow): Resource {
  return { number, note, created: createdAt };
}

export const doNotCallHandlers = {
  listDoNotCall: listDoNotCallRoute,
  addDoNotCall: addDoNotCallRoute,
  deleteDoNotCall: deleteDoNotCallRoute,
};
