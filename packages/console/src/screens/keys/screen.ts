import { KeyRound } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const keysScreen: Screen = {
  noun: "keys",
  title: "API keys",
  icon: KeyRound,
  group: "Account",
  routes: [page("", async () => (await import("./keys-screen.tsx")).KeysScreen)],
};
