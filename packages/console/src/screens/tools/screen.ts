import { Wrench } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const toolsScreen: Screen = {
  noun: "tools",
  title: "Tools",
  icon: Wrench,
  group: "Build",
  routes: [
    page("", async () => (await import("./tools-screen.tsx")).ToolsScreen),
    page("new", async () => (await import("./new-tool-screen.tsx")).NewToolScreen),
    page("import", async () => (await import("./import-screen.tsx")).ImportScreen),
    page(":toolId", async () => (await import("./tool-screen.tsx")).ToolScreen),
  ],
};
