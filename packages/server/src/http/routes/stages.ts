import type { stageRoutes } from "@parley/schema";
import { listStageTools } from "../../store/calls/call-tools.ts";
import { listMessages } from "../../store/calls/messages.ts";
import { getStage, listStages, type StageRow } from "../../store/calls/stages.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { messageResource, stageResource } from "../resources/resources.ts";
import { callOrNotFound, notFound } from "./shared.ts";

const listCallStagesRoute: Handler<"listCallStages"> = async ({ accountId, params, list }, deps) => {
  await callOrNotFound(deps, accountId, params.call_id);
  const page = await pageAnswer(
    list,
    (wanted) => listStages(deps.http.store.db, accountId, params.call_id, wanted),
    stageResource,
  );
  return { status: 200, json: page };
};

async function stageOrNotFound(
  deps: HandlerDeps,
  accountId: string,
  params: { readonly call_id: string; readonly call_stage_id: string },
): Promise<StageRow> {
  const row = await getStage(deps.http.store.db, accountId, params.call_id, params.call_stage_id);
  if (row === null) throw notFound("stage of this call");
  return row;
}

const getCallStageRoute: Handler<"getCallStage"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: stageResource(await stageOrNotFound(deps, accountId, params)),
});

const listCallStageMessagesRoute: Handler<"listCallStageMessages"> = async (input, deps) => {
  const { accountId, params, list } = input;
  const { stageId } = await stageOrNotFound(deps, accountId, params);
  const page = await pageAnswer(
    list,
    (wanted) =>
      listMessages(deps.http.store.db, accountId, params.call_id, { mode: "stage", stageId }, wanted),
    messageResource,
  );
  return { status: 200, json: page };
};

const listCallStageToolsRoute: Handler<"listCallStageTools"> = async ({ accountId, params }, deps) => {
  const { stageId } = await stageOrNotFound(deps, accountId, params);
  const tools = await listStageTools(deps.http.store.db, accountId, params.call_id, stageId);
  return { status: 200, json: tools };
};

export const stageHandlers: HandlersOf<typeof stageRoutes> = {
  listCallStages: listCallStagesRoute,
  getCallStage: getCallStageRoute,
  listCallStageMessages: listCallStageMessagesRoute,
  listCallStageTools: listCallStageToolsRoute,
};
