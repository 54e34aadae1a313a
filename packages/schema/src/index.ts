/** Everything that the interface is made of: schemas with their types, failures, names, routes, the description. */

export * from "./call-event.ts";
export * from "./data-messages.ts";
export * from "./duration.ts";
export * from "./errors.ts";
export * from "./message.ts";
export * from "./names.ts";
export * from "./normalize.ts";
export * from "./one-of.ts";
export * from "./page.ts";
