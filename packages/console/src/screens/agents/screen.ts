import { Speech } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const agentsScreen: Screen = {
  noun: "agents",
  title: "Agents",
  icon: Speech,
  group: "Build",
  routes: [
    page("", async () => (await import("./agents-screen.tsx")).AgentsScreen),
    page("new", async () => (await import("./agent-pages.tsx")).NewAgentScreen),
    page(":agentId", async () => (await import("./agent-pages.tsx")).AgentScreen),
  ],
};
