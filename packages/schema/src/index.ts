/** Everything that the interface is made of: schemas with their types, failures, names, routes, the description. */

export * from "./agent.ts";
export * from "./answer.ts";
export * from "./api-key.ts";
export * from "./call-event.ts";
export * from "./call-medium.ts";
export * from "./call-requests.ts";
export * from "./call-settings.ts";
export * from "./call-template.ts";
export * from "./call.ts";
export * from "./data-messages.ts";
export * from "./duration.ts";
export * from "./errors.ts";
export { codePoints, Timestamp, Uuid } from "./fields.ts";
export { MASK } from "./http-parts.ts";
export * from "./message.ts";
export * from "./model-alias.ts";
export * from "./names.ts";
export * from "./normalize.ts";
export * from "./one-of.ts";
export * from "./page.ts";
export * from "./parse-body.ts";
export * from "./queries.ts";
export * from "./routes.ts";
export * from "./tool.ts";
export * from "./vad.ts";
export * from "./voice.ts";
