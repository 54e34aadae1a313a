/** Everything that the interface is made of: schemas with their types, failures, names, routes, the description. */

export * from "./account.ts";
export * from "./agent.ts";
export * from "./answer.ts";
export * from "./api-key.ts";
export * from "./built-in-tools.ts";
export * from "./call-event.ts";
export * from "./call-life-routes.ts";
export * from "./call-medium.ts";
export * from "./call-requests.ts";
export * from "./call-settings.ts";
export * from "./call-template.ts";
export * from "./call.ts";
export * from "./data-messages.ts";
export * from "./deleted-call.ts";
export * from "./do-not-call.ts";
export * from "./duration.ts";
export * from "./errors.ts";
export { codePoints, Timestamp, Uuid } from "./fields.ts";
export { MASK } from "./http-parts.ts";
export {
  AUDIO_PROTOCOL,
  JOIN_PATH,
  WEB_RTC_CONNECTION_PATH,
  WEB_RTC_JOIN_PATH,
  WEBSOCKET_MEDIA,
} from "./join-paths.ts";
export * from "./message.ts";
export * from "./model-alias.ts";
export { moment } from "./moments.ts";
export * from "./names.ts";
export * from "./new-stage.ts";
export * from "./normalize.ts";
export * from "./one-of.ts";
export type { JsonObject, JsonValue } from "./openapi-schemas.ts";
export * from "./openapi.ts";
export * from "./page.ts";
export * from "./parse-body.ts";
export * from "./phone-number.ts";
export * from "./queries.ts";
export * from "./route.ts";
export * from "./routes.ts";
export * from "./tool-record.ts";
export * from "./account-routes.ts";
export * from "./api-key-routes.ts";
export * from "./batch-routes.ts";
export * from "./batch.ts";
export * from "./batch-extensions.ts";
export * from "./corpus-routes.ts";
export * from "./corpus.ts";
export * from "./deleted-call-routes.ts";
export * from "./sip-routes.ts";
export * from "./sip-config.ts";
export * from "./telephony-config.ts";
export * from "./telephony-routes.ts";
export * from "./throttle-routes.ts";
export * from "./throttle.ts";
export * from "./voice-routes.ts";
export * from "./webhook-routes.ts";
export * from "./webhook.ts";
export * from "./tool-routes.ts";
export * from "./tool.ts";
export * from "./usage-routes.ts";
export * from "./usage.ts";
export * from "./vad.ts";
export * from "./voice-record.ts";
export * from "./voice.ts";
