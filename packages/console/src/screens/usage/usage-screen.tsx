import { ComingScreen } from "../coming-screen.tsx";

export function UsageScreen() {
  return <ComingScreen title="Usage" lead="Calls and their time, by day and by agent." group="account" />;
}
