import { CalendarClock } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const batchesScreen: Screen = {
  noun: "batches",
  title: "Batches",
  icon: CalendarClock,
  group: "Converse",
  routes: [page("", async () => (await import("./batches-screen.tsx")).BatchesScreen)],
};
