/** The screens by their paths, in the order of the navigation. */
export const NOUNS = [
  "agents",
  "tools",
  "voices",
  "corpora",
  "talk",
  "calls",
  "batches",
  "webhooks",
  "telephony",
  "models",
  "keys",
  "audit",
  "usage",
] as const;

export type Noun = (typeof NOUNS)[number];
