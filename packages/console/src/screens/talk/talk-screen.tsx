import { ComingScreen } from "../coming-screen.tsx";

export function TalkScreen() {
  return (
    <ComingScreen
      title="Talk"
      lead="Talk to an agent from the browser: by voice or by typing."
      group="calls"
    />
  );
}
