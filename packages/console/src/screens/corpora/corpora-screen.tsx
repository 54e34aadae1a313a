import { ComingScreen } from "../coming-screen.tsx";

export function CorporaScreen() {
  return <ComingScreen title="Corpora" lead="Documents that agents can search." group="corpora" />;
}
