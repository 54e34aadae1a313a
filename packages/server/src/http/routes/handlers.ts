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
  getCallEventLogRoute,
  getCallRecordingRoute,
  getCallRoute,
  listAgentCallsRoute,
  listCallEventsRoute,
  listCallMessagesRoute,
  listCallsRoute,
  listCallToolsRoute,
  sendDataMessageRoute,
} from "./calls.ts";
import { getDescriptionRoute } from "./description.ts";
import { listModelsRoute } from "./models.ts";
import {
  getCallStageRoute,
  listCallStageMessagesRoute,
  listCallStagesRoute,
  listCallStageToolsRoute,
} from "./stages.ts";
import { accountHandlers } from "./accounts.ts";
import { apiKeyHandlers } from "./api-keys.ts";
import { callLifeHandlers } from "./call-lives.ts";
import { batchHandlers } from "./batches.ts";
import { corpusHandlers } from "./corpora.ts";
import { deletedCallHandlers } from "./deleted-calls.ts";
import { sipHandlers } from "./sip.ts";
import { telephonyHandlers } from "./telephony.ts";
import { throttleHandlers } from "./throttles.ts";
import { usageHandlers } from "./usage.ts";
import { voiceHandlers } from "./voices.ts";
import { webhookHandlers } from "./webhooks.ts";
import {
  createToolRoute,
  deleteToolRoute,
  getToolRoute,
  listToolHistoryRoute,
  listToolsRoute,
  replaceToolRoute,
  testToolRoute,
} from "./tools.ts";

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
  sendDataMessage: sendDataMessageRoute,
  listCallTools: listCallToolsRoute,
  getCallEventLog: getCallEventLogRoute,
  listCallStages: listCallStagesRoute,
  getCallStage: getCallStageRoute,
  listCallStageMessages: listCallStageMessagesRoute,
  listCallStageTools: listCallStageToolsRoute,
  listTools: listToolsRoute,
  createTool: createToolRoute,
  getTool: getToolRoute,
  replaceTool: replaceToolRoute,
  deleteTool: deleteToolRoute,
  listToolHistory: listToolHistoryRoute,
  testTool: testToolRoute,
  ...callLifeHandlers,
  ...accountHandlers,
  ...apiKeyHandlers,
  ...batchHandlers,
  ...corpusHandlers,
  ...deletedCallHandlers,
  ...usageHandlers,
  ...sipHandlers,
  ...telephonyHandlers,
  ...throttleHandlers,
  ...voiceHandlers,
  ...webhookHandlers,
  listModels: listModelsRoute,
  getDescription: getDescriptionRoute,
};
