import {
  ApiError,
  type BatchPatch,
  type BatchSettings,
  type batchRoutes,
  type CallTemplate,
  DEFAULT_PAUSE_ON_FAILURE_RATE,
  validationError,
} from "@parley/schema";
import { getAgent, getAgentForCall } from "../../../store/agents/agents.ts";
import {
  type BatchChange,
  type BatchRow,
  createBatch,
  deleteBatch,
  getBatch,
  listBatches,
  updateBatch,
} from "../../../store/batches/batches.ts";
import type { BatchExtensions } from "../../../store/database/tables/batches.ts";
import {
  listCreatedCalls,
  listScheduledCalls,
  type ScheduledCallRow,
} from "../../../store/batches/scheduled-calls.ts";
import { checkCalls, settingsProblems } from "./rules.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../../api/endpoint.ts";
import { pageAnswer } from "../../api/paging.ts";
import type { Resource } from "../../../lifecycle/resource.ts";
import { toCallResource } from "../calls.ts";
import { doNotCallHandlers } from "../do-not-call.ts";
import { notFound } from "../shared.ts";

const listBatchesRoute: Handler<"listScheduledBatches"> = async ({ accountId, params, list }, { http }) => {
  const { db } = http.store;
  if ((await getAgent(db, accountId, params.agent_id)) === null) throw notFound("agent");
  const page = await pageAnswer(
    list,
    (wanted) => listBatches(db, accountId, params.agent_id, wanted),
    batchResource,
  );
  return { status: 200, json: page };
};

const createBatchRoute: Handler<"createScheduledBatch"> = async ({ accountId, params, body }, deps) => {
  const { db } = deps.http.store;
  const { agent_id: agentId } = params;
  const agent = await getAgentForCall(db, accountId, agentId);
  if (agent === null) throw notFound("agent");
  const { calls, webhookSecret = null } = body;
  // Stored values have passed the schema.
  const template = (agent.callTemplate ?? {}) as CallTemplate;
  const { errors, needsWebhook } = await checkCalls(accountId, calls, template, deps);
  const settings = settingsOf(body, NO_SETTINGS);
  const checked = { ...settings, needsWebhook, openCalls: calls.length };
  const problems = await settingsProblems(checked, () => true, accountId, db, deps);
  if (errors.length + problems.length > 0) throw validationError([...problems, ...errors]);
  const batch = { ...settings, webhookSecret, needsWebhook, calls };
  const row = await createBatch(db, accountId, agentId, batch);
  deps.http.dispatchBatches();
  const path = `/api/agents/${agentId}/scheduled_batches/${row.batchId}`;
  return { status: 201, json: batchResource(row), headers: { location: `${deps.publicUrl()}${path}` } };
};

const getBatchRoute: Handler<"getScheduledBatch"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: batchResource(await batchOrNotFound(deps, accountId, params)),
});

const updateBatchRoute: Handler<"updateScheduledBatch"> = async ({ accountId, params, body }, deps) => {
  const { agent_id: agentId, batch_id: batchId } = params;
  const { db } = deps.http.store;
  const row = await updateBatch(
    db,
    accountId,
    agentId,
    batchId,
    async (present, tx): Promise<BatchChange> => {
      if (present.endedAt !== null) throw new ApiError("conflict", "The batch has ended.");
      const settings = settingsOf(body, present);
      const { needsWebhook, totalCount, completedCount } = present;
      const checked = { ...settings, needsWebhook, openCalls: totalCount - completedCount };
      // A fetched record may be sent back, even if its times have passed since.
      const changed = (field: keyof typeof settings): boolean => settings[field] !== present[field];
      const problems = await settingsProblems(checked, changed, accountId, tx, deps);
      if (problems.length > 0) throw validationError(problems);
      return { ...settings, webhookSecret: body.webhookSecret };
    },
  );
  if (row === null) throw notFound("batch");
  deps.http.dispatchBatches();
  return { status: 200, json: batchResource(row) };
};

const deleteBatchRoute: Handler<"deleteScheduledBatch"> = async ({ accountId, params }, { http }) => {
  const { agent_id: agentId, batch_id: batchId } = params;
  if (!(await deleteBatch(http.store.db, accountId, agentId, batchId))) throw notFound("batch");
  return { status: 204 };
};

const listScheduledCallsRoute: Handler<"listScheduledCalls"> = async (input, deps) => {
  const { accountId, params, query, list } = input;
  await batchOrNotFound(deps, accountId, params);
  const { db } = deps.http.store;
  const { status } = query;
  const page = await pageAnswer(
    list,
    (wanted) => listScheduledCalls(db, accountId, params.batch_id, { status }, wanted),
    scheduledCallResource,
  );
  return { status: 200, json: page };
};

const listCreatedCallsRoute: Handler<"listCreatedCalls"> = async ({ accountId, params, list }, deps) => {
  await batchOrNotFound(deps, accountId, params);
  const { db } = deps.http.store;
  const page = await pageAnswer(
    list,
    (wanted) => listCreatedCalls(db, accountId, params.batch_id, wanted),
    toCallResource(deps),
  );
  return { status: 200, json: page };
};

async function batchOrNotFound(
  { http }: HandlerDeps,
  accountId: string,
  { agent_id: agentId, batch_id: batchId }: { readonly agent_id: string; readonly batch_id: string },
): Promise<BatchRow> {
  const row = await getBatch(http.store.db, accountId, agentId, batchId);
  if (row === null) throw notFound("batch");
  return row;
}

type Settings = Omit<BatchChange, "webhookSecret">;

const NO_SETTINGS: Settings = {
  windowStart: null,
  windowEnd: null,
  throttle: null,
  webhookUrl: null,
  paused: false,
  extensions: {},
};

/** The request over the stored batch; null restores the default of a new batch. */
function settingsOf(body: BatchSettings | BatchPatch, present: Settings): Settings {
  const { windowStart, windowEnd, throttle, webhookUrl, paused } = body;
  return {
    windowStart: windowStart === undefined ? present.windowStart : windowStart,
    windowEnd: windowEnd === undefined ? present.windowEnd : windowEnd,
    throttle: throttle === undefined ? present.throttle : throttle,
    webhookUrl: webhookUrl === undefined ? present.webhookUrl : webhookUrl,
    paused: paused === undefined ? present.paused : (paused ?? false),
    extensions: extensionsOf(body, present.extensions),
  };
}

const EXTENSIONS = [
  "name",
  "retryPolicy",
  "callingHours",
  "maxAttemptsPerNumberPerDay",
  "respectDoNotCall",
  "pauseOnFailureRate",
] as const satisfies readonly (keyof BatchExtensions)[];

function extensionsOf(body: BatchSettings | BatchPatch, present: BatchExtensions): BatchExtensions {
  const entries = EXTENSIONS.map((name) => [name, body[name] === undefined ? present[name] : body[name]]);
  return Object.fromEntries(
    entries.filter(([, value]) => value !== undefined && value !== null),
  ) as BatchExtensions;
}

function batchResource(row: BatchRow): Resource {
  return {
    batchId: row.batchId,
    created: row.createdAt,
    windowStart: row.windowStart,
    windowEnd: row.windowEnd,
    throttle: row.throttle,
    webhookUrl: row.webhookUrl,
    webhookSecret: row.webhookSecret,
    paused: row.paused,
    totalCount: row.totalCount,
    completedCount: row.completedCount,
    failedCount: row.failedCount,
    endedAt: row.endedAt,
    respectDoNotCall: true,
    pauseOnFailureRate: DEFAULT_PAUSE_ON_FAILURE_RATE,
    ...row.extensions,
    pauseReason: row.pauseReason,
  };
}

function scheduledCallResource(row: ScheduledCallRow): Resource {
  return { ...row.document, status: row.status, batchId: row.batchId, callId: row.callId, error: row.error };
}

export const batchHandlers: HandlersOf<typeof batchRoutes> = {
  listScheduledBatches: listBatchesRoute,
  createScheduledBatch: createBatchRoute,
  getScheduledBatch: getBatchRoute,
  updateScheduledBatch: updateBatchRoute,
  deleteScheduledBatch: deleteBatchRoute,
  listScheduledCalls: listScheduledCallsRoute,
  listCreatedCalls: listCreatedCallsRoute,
  ...doNotCallHandlers,
};
