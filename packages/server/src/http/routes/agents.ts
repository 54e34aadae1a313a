import { validationError } from "@parley/schema";
import type { agentRoutes, AgentWrite, FieldError } from "@parley/schema";
import {
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  updateAgent,
  type AgentSort,
} from "../../store/agents/agents.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { agentResource } from "../resources/resources.ts";
import { createAgentCallRoute, listAgentCallsRoute } from "./calls.ts";
import { notFound, sortOf } from "./shared.ts";
import { refusedTargets } from "./tools.ts";
import { refusedVoiceTarget } from "./voices.ts";

const listAgentsRoute: Handler<"listAgents"> = async ({ accountId, query, list }, { http }) => {
  const sort = sortOf<AgentSort["field"]>(query.sort);
  const page = await pageAnswer(
    list,
    (wanted) => listAgents(http.store.db, accountId, { search: query.search }, wanted, sort),
    agentResource,
  );
  return { status: 200, json: page };
};

const createAgentRoute: Handler<"createAgent"> = async ({ accountId, body, change }, deps) => {
  await checkTemplate(accountId, body.callTemplate, deps);
  const agent = { name: body.name, callTemplate: body.callTemplate ?? null };
  const row = await change((tx) => createAgent(tx, accountId, agent), { idOf: ({ agentId }) => agentId });
  const headers = { location: `${deps.publicUrl()}/api/agents/${row.agentId}` };
  return { status: 201, json: agentResource(row), headers };
};

const getAgentRoute: Handler<"getAgent"> = async ({ accountId, params }, { http }) => {
  const row = await getAgent(http.store.db, accountId, params.agent_id);
  if (row === null) throw notFound("agent");
  return { status: 200, json: agentResource(row) };
};

const updateAgentRoute: Handler<"updateAgent"> = async ({ accountId, params, body, change }, deps) => {
  await checkTemplate(accountId, body.callTemplate ?? undefined, deps);
  // A null name restores the one made from the id.
  const name = body.name === null ? `agent-${params.agent_id.slice(0, 8)}` : body.name;
  const changes = { name, callTemplate: body.callTemplate };
  const row = await change((tx) => updateAgent(tx, accountId, params.agent_id, changes));
  if (row === null) throw notFound("agent");
  return { status: 200, json: agentResource(row) };
};

const deleteAgentRoute: Handler<"deleteAgent"> = async ({ accountId, params, change }) => {
  if (!(await change((tx) => deleteAgent(tx, accountId, params.agent_id)))) throw notFound("agent");
  return { status: 204 };
};

async function checkTemplate(
  accountId: string,
  template: AgentWrite["callTemplate"],
  deps: HandlerDeps,
): Promise<void> {
  if (template === undefined) return;
  const { http } = deps;
  const problems = await http.checkTemplates(accountId, template);
  const errors = [...problems, ...refusedAddresses(template, deps)];
  if (errors.length > 0) throw validationError(errors);
}

/** Literal addresses are refused when stored. */
function refusedAddresses(
  { selectedTools = [], dataConnection, externalVoice }: NonNullable<AgentWrite["callTemplate"]>,
  deps: HandlerDeps,
): FieldError[] {
  const url = dataConnection?.websocketUrl;
  const reason = url === undefined ? null : deps.http.refusedTarget(url, "websocket");
  const field = "callTemplate.dataConnection.websocketUrl";
  return [
    ...selectedTools.flatMap(({ temporaryTool }, index) =>
      temporaryTool === undefined
        ? []
        : refusedTargets(temporaryTool, `callTemplate.selectedTools.${index}.temporaryTool`, deps),
    ),
    ...(reason === null ? [] : [{ field, message: `is not allowed: ${reason}` }]),
    ...(externalVoice === undefined
      ? []
      : refusedVoiceTarget(externalVoice, "callTemplate.externalVoice", deps)),
  ];
}

export const agentHandlers: HandlersOf<typeof agentRoutes> = {
  listAgents: listAgentsRoute,
  createAgent: createAgentRoute,
  getAgent: getAgentRoute,
  updateAgent: updateAgentRoute,
  deleteAgent: deleteAgentRoute,
  listAgentCalls: listAgentCallsRoute,
  createAgentCall: createAgentCallRoute,
};
