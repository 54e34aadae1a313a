import { Cpu } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const modelsScreen: Screen = {
  noun: "models",
  title: "Models",
  icon: Cpu,
  group: "Connect",
  routes: [page("", async () => (await import("./models-screen.tsx")).ModelsScreen)],
};
