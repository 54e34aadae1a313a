import type { Handlers } from "../endpoint.ts";
import {
  createAgentRoute,
  deleteAgentRoute,
  getAgentRoute,
  listAgentsRoute,
  updateAgentRoute,
} from "./agents.ts";
import {
  createAgentCallRoute,
  createCallRoute,
  getCallRecordingRoute,
  getCallRoute,
  listAgentCallsRoute,
  listCallEventsRoute,
  listCallMessagesRoute,
  listCallsRoute,
} from "./calls.ts";
import { getDescriptionRoute } from "./description.ts";
import { listModelsRoute } from "./models.ts";
import {
  getCallStageRoute,
  listCallStageMessagesRoute,
  listCallStagesRoute,
  listCallStageToolsRoute,
} from "./stages.ts";

/** Every operation of the interface with what answers it. */
export const handlers: Handlers = {
  listAgents: listAgentsRoute,
  createAgent: createAgentRoute,
  getAgent: getAgentRoute,
  updateAgent: updateAgentRoute,
  deleteAgent: deleteAgentRoute,
  listAgentCalls: listAgentCallsRoute,
  createAgentCall: createAgentCallRoute,
  listCalls: listCallsRoute,
  createCall: createCallRoute,
  getCall: getCallRoute,
  listCallMessages: listCallMessagesRoute,
  listCallEvents: listCallEventsRoute,
  getCallRecording: getCallRecordingRoute,
  listCallStages: listCallStagesRoute,
  getCallStage: getCallStageRoute,
  listCallStageMessages: listCallStageMessagesRoute,
  listCallStageTools: listCallStageToolsRoute,
  listModels: listModelsRoute,
  getDescription: getDescriptionRoute,
};
