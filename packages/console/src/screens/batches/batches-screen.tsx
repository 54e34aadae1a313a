import { ComingScreen } from "../coming-screen.tsx";

export function BatchesScreen() {
  return <ComingScreen title="Batches" lead="Calls that the service makes at their time." group="batches" />;
}
