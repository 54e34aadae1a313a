/**
 * A transaction whose connection sends nothing for this long is rolled back: on the embedded database all other queries
 * wait for it. PostgreSQL enforces it by a setting.
 */
export const IDLE_IN_TRANSACTION_LIMIT_MS = 15_000;
