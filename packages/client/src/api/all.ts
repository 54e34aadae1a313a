/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { AgentsOperations } from "./operations/agents.ts";
import type { CallsOperations } from "./operations/calls.ts";
import type { StagesOperations } from "./operations/stages.ts";
import type { ToolsOperations } from "./operations/tools.ts";
import type { VoicesOperations } from "./operations/voices.ts";
import type { CorporaOperations } from "./operations/corpora.ts";
import type { BatchesOperations } from "./operations/batches.ts";
import type { ThrottlesOperations } from "./operations/throttles.ts";
import type { WebhooksOperations } from "./operations/webhooks.ts";
import type { TelephonyOperations } from "./operations/telephony.ts";
import type { SipOperations } from "./operations/sip.ts";
import type { AccountOperations } from "./operations/account.ts";
import type { DeploymentOperations } from "./operations/deployment.ts";
import type { AboutOperations } from "./operations/about.ts";

/** All operations by their method and path. `row` is one result of a paged list. */
export interface Operations
  extends
    AgentsOperations,
    CallsOperations,
    StagesOperations,
    ToolsOperations,
    VoicesOperations,
    CorporaOperations,
    BatchesOperations,
    ThrottlesOperations,
    WebhooksOperations,
    TelephonyOperations,
    SipOperations,
    AccountOperations,
    DeploymentOperations,
    AboutOperations {}

export type * from "./records/errors.ts";
export type * from "./records/about.ts";
export type * from "./records/engine-use.ts";
export type * from "./records/deployment.ts";
export type * from "./records/account.ts";
export type * from "./records/voices.ts";
export type * from "./records/media.ts";
export type * from "./records/definitions.ts";
export type * from "./records/requests.ts";
export type * from "./records/calls.ts";
export type * from "./records/stages.ts";
export type * from "./records/agents.ts";
export type * from "./records/tools.ts";
export type * from "./records/corpora.ts";
export type * from "./records/webhooks.ts";
export type * from "./records/throttles.ts";
export type * from "./records/sip.ts";
export type * from "./records/telephony.ts";
export type * from "./records/batches.ts";
export type * from "./operations/agents.ts";
export type * from "./operations/calls.ts";
export type * from "./operations/stages.ts";
export type * from "./operations/tools.ts";
export type * from "./operations/voices.ts";
export type * from "./operations/corpora.ts";
export type * from "./operations/batches.ts";
export type * from "./operations/throttles.ts";
export type * from "./operations/webhooks.ts";
export type * from "./operations/telephony.ts";
export type * from "./operations/sip.ts";
export type * from "./operations/account.ts";
export type * from "./operations/deployment.ts";
export type * from "./operations/about.ts";
