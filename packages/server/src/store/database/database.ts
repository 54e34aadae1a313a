/**
 * Every table with its columns. `Row` is what a query reads: dates as ISO 8601 UTC with milliseconds, JSON as values,
 * `bigint` and `numeric` as numbers, alike on both databases.
 */

import type { Selectable } from "kysely";
import * as accounts from "./tables/accounts.ts";
import * as agents from "./tables/agents.ts";
import * as batches from "./tables/batches.ts";
import * as calls from "./tables/calls.ts";
import type { ColumnsOf } from "./tables/columns.ts";
import * as corpora from "./tables/corpora.ts";
import * as corpusSearch from "./tables/corpus-search.ts";
import * as deletedCalls from "./tables/deleted-calls.ts";
import * as deployment from "./tables/deployment.ts";
import * as telephony from "./tables/telephony.ts";
import * as transcripts from "./tables/transcripts.ts";
import * as usage from "./tables/usage.ts";
import * as webhooks from "./tables/webhooks.ts";

export interface Database {
  accounts: accounts.AccountsTable;
  agent_revisions: agents.AgentRevisionsTable;
  agents: agents.AgentsTable;
  api_keys: accounts.ApiKeysTable;
  audit_entries: accounts.AuditEntriesTable;
  call_admissions: accounts.CallAdmissionsTable;
  call_counts: usage.CallCountsTable;
  call_counts_of_agents: usage.CallCountsOfAgentsTable;
  call_counts_of_hours: usage.CallCountsOfHoursTable;
  call_event_log_chunks: transcripts.CallEventLogChunksTable;
  call_event_log_ends: transcripts.CallEventLogEndsTable;
  call_event_logs: transcripts.CallEventLogsTable;
  call_events: transcripts.CallEventsTable;
  call_messages: transcripts.CallMessagesTable;
  call_snapshots: transcripts.CallSnapshotsTable;
  call_stages: calls.CallStagesTable;
  call_text_spans: transcripts.CallTextSpansTable;
  call_texts: transcripts.CallTextsTable;
  call_texts_due: transcripts.CallTextsDueTable;
  call_throttles: accounts.CallThrottlesTable;
  call_tools: calls.CallToolsTable;
  calls: calls.CallsTable;
  call_transfers: telephony.CallTransfersTable;
  carrier_dials: telephony.CarrierDialsTable;
  concurrency_hours: usage.ConcurrencyHoursTable;
  concurrency_samples: usage.ConcurrencySamplesTable;
  corpora: corpora.CorporaTable;
  corpus_chunks: corpora.CorpusChunksTable;
  corpus_chunks_to_remove: corpora.CorpusChunksToRemoveTable;
  corpus_documents: corpora.CorpusDocumentsTable;
  corpus_files_to_remove: corpora.CorpusFilesToRemoveTable;
  corpus_open_questions: corpusSearch.CorpusOpenQuestionsTable;
  corpus_pages: corpora.CorpusPagesTable;
  corpus_sources: corpora.CorpusSourcesTable;
  corpus_vector_models: corpusSearch.CorpusVectorModelsTable;
  deleted_calls: deletedCalls.DeletedCallsTable;
  deployment_engines: deployment.DeploymentEnginesTable;
  dial_attempts: batches.DialAttemptsTable;
  dialling_rules: telephony.DiallingRulesTable;
  do_not_call: batches.DoNotCallTable;
  engine_use_days: usage.EngineUseDaysTable;
  files_to_remove: deletedCalls.FilesToRemoveTable;
  kept_answers: accounts.KeptAnswersTable;
  nodes: deployment.NodesTable;
  phone_numbers: telephony.PhoneNumbersTable;
  scheduled_batches: batches.ScheduledBatchesTable;
  scheduled_calls: batches.ScheduledCallsTable;
  schema_migrations: deployment.SchemaMigrationsTable;
  sip_configs: telephony.SipConfigsTable;
  sip_messages: telephony.SipMessagesTable;
  sip_registrations: telephony.SipRegistrationsTable;
  sip_rules: telephony.SipRulesTable;
  store_settings: deployment.StoreSettingsTable;
  telephony_configs: telephony.TelephonyConfigsTable;
  tools: agents.ToolsTable;
  tts_api_keys: accounts.TtsApiKeysTable;
  usage_hours: usage.UsageHoursTable;
  voices: agents.VoicesTable;
  webhook_deliveries: webhooks.WebhookDeliveriesTable;
  webhooks: webhooks.WebhooksTable;
  webhooks_to_erase: webhooks.WebhooksToEraseTable;
}

export const TABLES: { readonly [Table in keyof Database]: ColumnsOf<Database[Table]> } = {
  accounts: accounts.accounts,
  agent_revisions: agents.agentRevisions,
  agents: agents.agents,
  api_keys: accounts.apiKeys,
  audit_entries: accounts.auditEntries,
  call_admissions: accounts.callAdmissions,
  call_counts: usage.callCounts,
  call_counts_of_agents: usage.callCountsOfAgents,
  call_counts_of_hours: usage.callCountsOfHours,
  call_event_log_chunks: transcripts.callEventLogChunks,
  call_event_log_ends: transcripts.callEventLogEnds,
  call_event_logs: transcripts.callEventLogs,
  call_events: transcripts.callEvents,
  call_messages: transcripts.callMessages,
  call_snapshots: transcripts.callSnapshots,
  call_stages: calls.callStages,
  call_text_spans: transcripts.callTextSpans,
  call_texts: transcripts.callTexts,
  call_texts_due: transcripts.callTextsDue,
  call_throttles: accounts.callThrottles,
  call_tools: calls.callTools,
  calls: calls.calls,
  call_transfers: telephony.callTransfers,
  carrier_dials: telephony.carrierDials,
  concurrency_hours: usage.concurrencyHours,
  concurrency_samples: usage.concurrencySamples,
  corpora: corpora.corpora,
  corpus_chunks: corpora.corpusChunks,
  corpus_chunks_to_remove: corpora.corpusChunksToRemove,
  corpus_documents: corpora.corpusDocuments,
  corpus_files_to_remove: corpora.corpusFilesToRemove,
  corpus_open_questions: corpusSearch.corpusOpenQuestions,
  corpus_pages: corpora.corpusPages,
  corpus_sources: corpora.corpusSources,
  corpus_vector_models: corpusSearch.corpusVectorModels,
  deleted_calls: deletedCalls.deletedCalls,
  deployment_engines: deployment.deploymentEngines,
  dial_attempts: batches.dialAttempts,
  dialling_rules: telephony.diallingRules,
  do_not_call: batches.doNotCall,
  engine_use_days: usage.engineUseDays,
  files_to_remove: deletedCalls.filesToRemove,
  kept_answers: accounts.keptAnswers,
  nodes: deployment.nodes,
  phone_numbers: telephony.phoneNumbers,
  scheduled_batches: batches.scheduledBatches,
  scheduled_calls: batches.scheduledCalls,
  schema_migrations: deployment.schemaMigrations,
  sip_configs: telephony.sipConfigs,
  sip_messages: telephony.sipMessages,
  sip_registrations: telephony.sipRegistrations,
  sip_rules: telephony.sipRules,
  store_settings: deployment.storeSettings,
  telephony_configs: telephony.telephonyConfigs,
  tools: agents.tools,
  tts_api_keys: accounts.ttsApiKeys,
  usage_hours: usage.usageHours,
  voices: agents.voices,
  webhook_deliveries: webhooks.webhookDeliveries,
  webhooks: webhooks.webhooks,
  webhooks_to_erase: webhooks.webhooksToErase,
};

/** What a query reads of a row. */
export type Row<Table extends keyof Database> = Readonly<Selectable<Database[Table]>>;
