import { CalendarClock } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const batchesScreen: Screen = {
  noun: "batches",
  title: "Batches",
  icon: CalendarClock,
  group: "Conversations",
  routes: [
    page("", async () => (await import("./batches-screen.tsx")).BatchesScreen),
    page("new", async () => (await import("./new-batch-screen.tsx")).NewBatchScreen),
    page("do-not-call", async () => (await import("./do-not-call-screen.tsx")).DoNotCallScreen),
    page(":agentId/:batchId", async () => (await import("./batch-screen.tsx")).BatchScreen),
  ],
};
