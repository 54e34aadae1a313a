import type { Handlers } from "../api/endpoint.ts";
import { aboutHandlers } from "./about.ts";
import { accountHandlers } from "./accounts.ts";
import { agentHandlers } from "./agents.ts";
import { apiKeyHandlers } from "./api-keys.ts";
import { auditHandlers } from "./audit-log.ts";
import { batchHandlers } from "./batches/batches.ts";
import { callLifeHandlers } from "./call-lives.ts";
import { callHandlers } from "./calls.ts";
import { corpusHandlers } from "./corpora.ts";
import { corpusQueryHandlers } from "../corpora/corpus-queries.ts";
import { deletedCallHandlers } from "./deleted-calls.ts";
import { deploymentHandlers } from "./deployment.ts";
import { diallingHandlers } from "../telephony/dialling.ts";
import { sipHandlers } from "./sip.ts";
import { stageHandlers } from "./stages.ts";
import { telephonyHandlers } from "./telephony.ts";
import { throttleHandlers } from "./throttles.ts";
import { toolHandlers } from "./tools.ts";
import { usageHandlers } from "./usage.ts";
import { voiceHandlers } from "./voices.ts";
import { webhookHandlers } from "./webhooks.ts";

/** The handler of every operation. */
export const handlers: Handlers = {
  ...agentHandlers,
  ...callHandlers,
  ...callLifeHandlers,
  ...stageHandlers,
  ...toolHandlers,
  ...voiceHandlers,
  ...corpusHandlers,
  ...corpusQueryHandlers,
  ...batchHandlers,
  ...throttleHandlers,
  ...webhookHandlers,
  ...telephonyHandlers,
  ...diallingHandlers,
  ...sipHandlers,
  ...deletedCallHandlers,
  ...usageHandlers,
  ...accountHandlers,
  ...apiKeyHandlers,
  ...auditHandlers,
  ...deploymentHandlers,
  ...aboutHandlers,
};
