import { ScrollText } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const auditScreen: Screen = {
  noun: "audit",
  title: "Audit log",
  icon: ScrollText,
  group: "Account",
  routes: [page("", async () => (await import("./audit-screen.tsx")).AuditScreen)],
};
