import type { Samples } from "./samples.ts";

const outgoing = { to: "+4930123456", from: "+4930654321" };
const batch = { calls: [{ medium: { telephony1: { outgoing } } }] };
const number = "+4930123456";

export const batchSamples: Samples = {
  async make(owner, { agent_id: agentId }) {
    const made = await owner.post(`/api/agents/${agentId}/scheduled_batches`, batch);
    await owner.post("/api/do_not_call", { number });
    return { batch_id: String(made.json["batchId"]), number };
  },
  bodies: { createScheduledBatch: batch, addDoNotCall: { number } },
};
