import { ChartColumn } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const usageScreen: Screen = {
  noun: "usage",
  title: "Usage",
  icon: ChartColumn,
  group: "Account",
  routes: [page("", async () => (await import("./usage-screen.tsx")).UsageScreen)],
};
