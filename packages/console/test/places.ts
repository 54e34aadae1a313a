/** All pages of the console that the tour visits. A new page is one line in `PLACES`. */

import type { RestClient } from "@parley/client/rest";
import { NOUNS } from "../src/screens/nouns.ts";
import { recordCall } from "./recorded-call.ts";

/** The records in the account of the tour. */
export interface Seed {
  readonly agentId: string;
  readonly batchId: string;
  /** A call with a recording. */
  readonly callId: string;
  readonly corpusId: string;
  readonly sourceId: string;
}

export interface Place {
  /** The name of its screenshots. */
  readonly name: string;
  /** A function if the path depends on seeded records. */
  readonly path: string | ((seed: Seed) => string);
}

export const PLACES: readonly Place[] = [
  { name: "home", path: "/" },
  ...NOUNS.map((noun): Place => ({ name: noun, path: `/${noun}` })),
  { name: "agents-new", path: "/agents/new" },
  { name: "agents-new-blank", path: "/agents/new?starter=intake" },
  { name: "agents-one", path: ({ agentId }) => `/agents/${agentId}` },
  { name: "agents-one-json", path: ({ agentId }) => `/agents/${agentId}?view=json` },
  { name: "agents-one-about", path: ({ agentId }) => `/agents/${agentId}?view=about` },
  { name: "talk-one", path: ({ agentId }) => `/talk?agent=${agentId}` },
  { name: "batches-new", path: "/batches/new" },
  { name: "batches-one", path: ({ agentId, batchId }) => `/batches/${agentId}/${batchId}` },
  {
    name: "batches-one-settings",
    path: ({ agentId, batchId }) => `/batches/${agentId}/${batchId}?view=settings`,
  },
  { name: "do-not-call", path: "/batches/do-not-call" },
  { name: "calls-deleted", path: "/calls?list=deleted" },
  { name: "calls-one", path: ({ callId }) => `/calls/${callId}` },
  { name: "calls-one-events", path: ({ callId }) => `/calls/${callId}?view=events` },
  { name: "calls-one-setup", path: ({ callId }) => `/calls/${callId}?view=setup` },
  { name: "calls-one-json", path: ({ callId }) => `/calls/${callId}?view=json` },
  { name: "calls-new", path: "/calls/new" },
  { name: "calls-new-agent", path: ({ agentId }) => `/calls/new?agent=${agentId}` },
  { name: "telephony-one", path: "/telephony/telephony3" },
  { name: "telephony-exotel", path: "/telephony/telephony4" },
  ...["numbers", "rules", "sip", "registrations", "throttles"].map((view): Place => ({
    name: `telephony-${view}`,
    path: `/telephony?view=${view}`,
  })),
  { name: "corpora-one", path: ({ corpusId }) => `/corpora/${corpusId}` },
  {
    name: "corpora-source",
    path: ({ corpusId, sourceId }) => `/corpora/${corpusId}/sources/${sourceId}`,
  },
  { name: "not-found", path: "/nothing/here" },
];

export async function seed(api: RestClient): Promise<Seed> {
  const { agentId } = await api.fetch("POST", "/api/agents", {
    body: {
      name: "Concierge",
      callTemplate: {
        systemPrompt: "You are the concierge of a small hotel. Answer in one or two sentences.",
        firstSpeakerSettings: { agent: { text: "Good evening. What can I do for you?" } },
        recordingEnabled: true,
      },
    },
  });
  await api.fetch("POST", "/api/agents", {
    body: { name: "Night porter", callTemplate: { model: "default" } },
  });
  const { batchId } = await api.fetch("POST", "/api/agents/{agent_id}/scheduled_batches", {
    params: { agent_id: agentId },
    body: {
      paused: true,
      calls: ["+493012345", "+493012346"].map((to) => ({
        medium: { telephony1: { outgoing: { to, from: "+493011111" } } },
        templateContext: { guest: "Ann" },
      })),
    },
  });
  await api.fetch("POST", "/api/do_not_call", { body: { number: "+4930999", note: "asked on the phone" } });
  await api.fetch("POST", "/api/telephony_configs/{carrier}", {
    params: { carrier: "telephony3" },
    body: { authId: "MAXXXXXXXXXXXXXXXXXX", authToken: "plivo-token-0123456789" },
  });
  await api.fetch("POST", "/api/phone_numbers", { body: { number: "+493011111", agentId } });
  await api.fetch("PATCH", "/api/accounts/me/dialling_rules", {
    body: { allowedPrefixes: ["+49", "+41"], maxCallsPerDay: 500 },
  });
  const { corpusId } = await api.fetch("POST", "/api/corpora", { body: { name: "House rules" } });
  const { sourceId } = await api.fetch("POST", "/api/corpora/{corpus_id}/sources", {
    params: { corpus_id: corpusId },
    body: { name: "Our pages", crawl: { startUrls: ["https://hotel.example/"], maxDepth: 2 } },
  });
  await api.fetch("POST", "/api/call_throttles", {
    body: { name: "gently", rules: [{ maxCalls: 2, windowSeconds: 1 }] },
  });
  return { agentId, batchId, corpusId, sourceId, callId: await recordCall(api, agentId) };
}
