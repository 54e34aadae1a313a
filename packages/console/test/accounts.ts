/** Accounts of the tests' service, one for each file that changes something, so that files do not see each other. */
export const ACCOUNTS = [
  "audit",
  "scopes",
  "Empty House",
  "Hotel Bellevue",
  "sign-in",
  "agents",
  "tools",
  "voices",
  "keys",
  "webhooks",
  "webhooks that deliver",
  "calls",
  "batches",
  "batches that act",
  "usage",
  "telephony",
  "phone calls",
  "sip",
  "models",
  "corpora",
  "corpus-search",
  "talk",
] as const;

export type TestAccount = (typeof ACCOUNTS)[number];

/** Of the tests' service. */
export const OPERATOR_KEY = "operator-key-of-the-console-tests";
