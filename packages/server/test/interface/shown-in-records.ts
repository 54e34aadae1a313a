/** What shows the rows about batches, corpora, carriers and webhooks, and about all operations. */

import type { commonRules } from "./common-rules.ts";
import type { endpointRules } from "./endpoint-rules.ts";
import type {
  batchRules,
  corpusRules,
  scheduledCallRules,
  telephonyRules,
  webhookRules,
} from "./record-rules.ts";
import { KEPT, missing, requests, shownBy, type RowsOf, type Shown } from "./shown.ts";

const BATCHES = "test/batches.media.test.ts";
const BATCH_JOBS = "src/jobs/batches/batches.db.test.ts";
const CLAIMS = "src/store/batches/batch-claims.db.test.ts";
const WEBHOOKS = "src/jobs/webhooks/webhooks.db.test.ts";
const HEALTH = "src/store/webhooks/webhook-health.test.ts";

const made = shownBy(BATCHES, "create their calls, tell the receiver, and the calls can be joined");
const told = shownBy(BATCH_JOBS, "creates each call once, and tells the receiver where to join it");

export const batchShown: RowsOf<typeof batchRules> = {
  batchId: [requests("present")],
  created: [requests("present")],
  totalCount: [requests("counts the calls of the request")],
  completedCount: made,
  endedAt: shownBy(CLAIMS, "are counted once they have an outcome, and the last one ends the batch"),
  windowStart: shownBy(
    CLAIMS,
    "are made of no batch that is paused, deleted, ended, or outside of its window",
  ),
  windowEnd: shownBy(BATCH_JOBS, "expires what is left when the window closes, also of a paused batch"),
  webhookUrl: made,
  webhookSecret: told,
  paused: shownBy(BATCH_JOBS, "makes no call while the batch is paused, and continues when it is resumed"),
};

export const scheduledCallShown: RowsOf<typeof scheduledCallRules> = {
  status: [
    requests("the list is restricted to a status"),
    ...shownBy(BATCH_JOBS, "expires what is left when the window closes, also of a paused batch"),
    ...made,
  ],
  batchId: [requests("that of its batch")],
  callId: made,
  error: shownBy(BATCHES, "end a call as unjoined if its webhook could not be called"),
  medium: shownBy(
    "src/http/routes/batches/batches.db.test.ts",
    "take the agent's medium for calls without their own",
  ),
  metadata: told,
  templateContext: [
    requests("checked against the agent's variables"),
    missing("the context of a scheduled call in the texts of the call that is made of it"),
  ],
  experimentalSettings: [KEPT],
};

export const corpusShown: RowsOf<typeof corpusRules> = {
  corpusId: [requests("the record is read by it")],
  created: [requests("present")],
  name: [KEPT],
  description: [KEPT],
  stats: [missing("nothing is loaded or searched, so the counts stay 0")],
};

const unused: readonly Shown[] = [
  requests("the configuration is kept and read back, without its secrets"),
  ...shownBy("src/telephony/carrier-requests.db.test.ts", "answers a call that comes in through %s"),
  ...shownBy("src/telephony/dial-calls.db.test.ts", "stores the intent, asks %s once and stores its id"),
];

export const telephonyShown: RowsOf<typeof telephonyRules> = {
  telephony1: unused,
  telephony2: unused,
  telephony3: unused,
  "prefixes of secrets": [requests("a new secret shows as its prefix, and never whole")],
};

const signed = shownBy(
  WEBHOOKS,
  "are notified of a call in order, with its record at that time, in bytes that two verifiers accept",
);
const limited = shownBy(WEBHOOKS, "of an agent, of other events and of other accounts hear nothing else");

export const webhookShown: RowsOf<typeof webhookRules> = {
  webhookId: [requests("present")],
  created: [requests("present")],
  url: signed,
  events: limited,
  status: shownBy(HEALTH, "is unhealthy after five failures in a row, not after four"),
  lastStatusChange: shownBy(
    "src/http/routes/webhooks.db.test.ts",
    "become normal again by a request, and never unhealthy by one",
  ),
  recentFailures: shownBy(HEALTH, "shows the last ten failures, newest first"),
  agentId: limited,
  secrets: signed,
};

const done = requests("done, and refused where the row says so");

export const endpointShown: RowsOf<typeof endpointRules> = {
  "PATCH /api/agents/{agent_id}": [done],
  "POST /api/agents": [done],
  "GET /api/agents/{agent_id}/scheduled_batches": [done],
  "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls": [done],
  "GET /api/corpora": [done],
  "GET /api/calls/{call_id}/stages/{call_stage_id}/tools": [done],
  "GET /api/accounts/me/telephony_config": [done],
  "GET /api/deleted_calls/{call_id}": [done],
  "GET /api/voices/{voice_id}/preview": [
    done,
    ...shownBy(
      "test/external-voices.media.test.ts",
      "can be previewed, and a refused key is a sentence without the key",
    ),
  ],
  "DELETE /api/voices/{voice_id}": [done],
  "DELETE /api/calls/{call_id}": [done],
  "DELETE /api/tools/{tool_id}": [done],
  "POST /api/webhooks": [done],
};

export const commonShown: RowsOf<typeof commonRules> = {
  pages: [requests("every page of a list is read by its links, forwards and back")],
  cursor: [requests("a changed cursor and one of another list are refused")],
  "page size": shownBy("src/http/routes/agents.db.test.ts", "takes a page size above 100 as 100"),
  "X-API-Key": [requests("no key, a malformed one and an unknown one are refused")],
  "scope of a key": [
    requests("records of another account are not there"),
    ...shownBy(
      "src/http/api/scopes.db.test.ts",
      "%s is allowed by the scopes that the table says, and by no other",
    ),
  ],
  "keys are issued and revoked": [requests("a new key works, and a revoked one does not")],
  failures: [
    requests("the body is a problem that names every field"),
    ...shownBy("src/http/api/security.db.test.ts", "refuses a body of the type %s"),
  ],
  "unknown fields": [requests("refused, with the name that is near")],
  "read-only fields": [requests("a record that is sent back as it was changes nothing")],
  "null and unspecified": [requests("read back as not set")],
  spellings: [requests("read back in the interface's own; two of one field are refused")],
  "data messages": [
    ...shownBy(
      "test/conversation.media.test.ts",
      "of several turns is reported in order, and the record is the same",
    ),
    ...shownBy("test/engine.media.test.ts", "says and does what it is made to by REST"),
    ...shownBy(
      "test/threads.media.test.ts",
      "a thread calls a tool, reports to the conversation, and ends with the call",
    ),
  ],
  "webhook events": signed,
};
