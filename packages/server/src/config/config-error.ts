/** A configuration that cannot be used; `message` is one sentence for the person who starts the service. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
