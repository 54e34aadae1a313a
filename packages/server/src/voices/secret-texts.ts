/** Removes secrets from texts that people read. */

/** Shorter secrets would remove ordinary words from sentences. */
const LEAST_SECRET = 8;

export function withoutSecrets(text: string, secrets: readonly (string | null | undefined)[]): string {
  return secrets.reduce<string>(
    (shown, secret) =>
      secret === null || secret === undefined || secret.length < LEAST_SECRET
        ? shown
        : shown.replaceAll(secret, "[key]"),
    text,
  );
}
