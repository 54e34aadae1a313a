import { ComingScreen } from "../coming-screen.tsx";

export function CallsScreen() {
  return (
    <ComingScreen title="Calls" lead="Every call with what was said, heard and done in it." group="calls" />
  );
}
