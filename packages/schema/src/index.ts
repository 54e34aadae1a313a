/** The API: schemas with their types, errors, names, routes and the OpenAPI document. */

export * from "./accounts/account.ts";
export * from "./agents/agent.ts";
export * from "./values/answer.ts";
export * from "./accounts/api-key.ts";
export * from "./values/scope.ts";
export * from "./tools/built-in-tools.ts";
export * from "./calls/call-event.ts";
export * from "./agents/agent-routes.ts";
export * from "./calls/call-life-routes.ts";
export * from "./calls/call-routes.ts";
export * from "./calls/stage-routes.ts";
export * from "./media/call-medium.ts";
export * from "./media/media-kinds.ts";
export * from "./calls/call-requests.ts";
export * from "./calls/call-settings.ts";
export * from "./agents/call-template.ts";
export * from "./calls/call.ts";
export * from "./calls/client-messages.ts";
export * from "./calls/data-messages.ts";
export * from "./calls/deleted-call.ts";
export * from "./batches/do-not-call.ts";
export * from "./values/duration.ts";
export * from "./values/errors.ts";
export { codePoints, Timestamp, Uuid } from "./values/fields.ts";
export { MASK } from "./values/http-parts.ts";
export {
  AUDIO_PROTOCOL,
  JOIN_PATH,
  WEB_RTC_CONNECTION_PATH,
  WEB_RTC_JOIN_PATH,
  WEBSOCKET_MEDIA,
} from "./calls/join-paths.ts";
export * from "./calls/message.ts";
export type * from "./calls/llm-messages.ts";
export * from "./names/model-alias.ts";
export * from "./names/name-aliases.ts";
export * from "./names/model-families.ts";
export { moment } from "./values/moments.ts";
export * from "./names/names.ts";
export * from "./calls/new-stage.ts";
export * from "./values/normalize.ts";
export * from "./values/one-of.ts";
export type { JsonObject, JsonValue } from "./openapi/openapi-schemas.ts";
export * from "./openapi/openapi.ts";
export * from "./values/page.ts";
export * from "./values/parse-body.ts";
export * from "./values/phone-number.ts";
export * from "./values/secret-names.ts";
export * from "./calls/send-to-thread.ts";
export * from "./routes/queries.ts";
export * from "./routes/route.ts";
export * from "./routes/routes.ts";
export * from "./routes/about-routes.ts";
export * from "./tools/tool-record.ts";
export * from "./accounts/account-routes.ts";
export * from "./accounts/api-key-routes.ts";
export * from "./accounts/audit-entry.ts";
export * from "./accounts/audit-routes.ts";
export * from "./batches/batch-routes.ts";
export * from "./batches/batch.ts";
export * from "./batches/batch-extensions.ts";
export * from "./corpora/corpus-routes.ts";
export * from "./corpora/corpus.ts";
export * from "./calls/deleted-call-routes.ts";
export * from "./deployment/engine-routes.ts";
export * from "./deployment/engine.ts";
export * from "./calls/engine-use.ts";
export type * from "./calls/turn-latency.ts";
export * from "./telephony/dialling.ts";
export * from "./telephony/dialling-routes.ts";
export * from "./telephony/sip-routes.ts";
export * from "./telephony/sip-config.ts";
export * from "./telephony/telephony-config.ts";
export * from "./telephony/telephony-routes.ts";
export * from "./accounts/throttle-routes.ts";
export * from "./accounts/throttle.ts";
export * from "./voices/voice-routes.ts";
export * from "./webhooks/webhook-routes.ts";
export * from "./webhooks/webhook.ts";
export type * from "./tools/tool-outcome.ts";
export * from "./tools/tool-routes.ts";
export * from "./tools/tool.ts";
export * from "./accounts/usage-routes.ts";
export * from "./accounts/usage.ts";
export * from "./media/vad.ts";
export * from "./voices/voice-record.ts";
export * from "./voices/voice.ts";
