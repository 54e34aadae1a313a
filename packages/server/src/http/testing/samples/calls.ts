import type { Samples } from "./samples.ts";

export const callSamples: Samples = {
  async make(owner) {
    const agent = await owner.post("/api/agents", { name: "A" });
    const call = await owner.post("/api/calls", { medium: { serverWebSocket: { inputSampleRate: 8000 } } });
    const callId = String(call.json["callId"]);
    const stages = await owner.get<{ results: { callStageId: string }[] }>(`/api/calls/${callId}/stages`);
    const definition = { description: "Waits.", client: {} };
    const tool = await owner.post("/api/tools", { name: "wait", definition });
    return {
      tool_id: String(tool.json["toolId"]),
      agent_id: String(agent.json["agentId"]),
      call_id: callId,
      call_stage_message_index: "0",
      call_stage_id: stages.json.results[0]?.callStageId ?? "",
    };
  },
  bodies: {
    replaceTool: { name: "wait", definition: { client: {} } },
    sendDataMessage: { type: "hang_up" },
  },
};
