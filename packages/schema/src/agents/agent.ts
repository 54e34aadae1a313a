import { z } from "zod";
import { CallTemplate } from "./call-template.ts";
import { ignoring, name, Timestamp, Uuid } from "../values/fields.ts";

export const MAX_AGENT_NAME_LENGTH = 64;

const AgentName = name(MAX_AGENT_NAME_LENGTH);

const AgentStatistics = z.strictObject({ calls: z.int().min(0) });

/** An agent as the API returns it. */
export const Agent = z.strictObject({
  agentId: Uuid,
  /** Changes with every change of the agent. */
  publishedRevisionId: Uuid.nullable(),
  name: AgentName,
  created: Timestamp,
  callTemplate: CallTemplate.nullable(),
  statistics: AgentStatistics,
});
export type Agent = z.output<typeof Agent>;

/** The agent in another resource. */
export const AgentBasic = z.strictObject({ agentId: Uuid, name: z.string() });
export type AgentBasic = z.output<typeof AgentBasic>;

const READ_ONLY = ["agentId", "publishedRevisionId", "created", "statistics"];

/** The body that creates an agent. Without a name, the name is made from the id. */
export const AgentWrite = ignoring(
  z.strictObject({ name: AgentName.optional(), callTemplate: CallTemplate.optional() }),
  READ_ONLY,
);
export type AgentWrite = z.output<typeof AgentWrite>;

/**
 * The body that changes an agent. `callTemplate` replaces the whole stored template; null clears it. A null name
 * restores the name made from the id. Absent fields stay unchanged.
 */
export const AgentPatch = ignoring(
  z.strictObject({ name: AgentName.nullable().optional(), callTemplate: CallTemplate.nullable().optional() }),
  READ_ONLY,
);
export type AgentPatch = z.output<typeof AgentPatch>;
