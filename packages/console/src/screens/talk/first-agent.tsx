/** For an account without agents: one press creates the first agent and calls it. */

import { Mic } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Empty, ErrorState } from "../../ui/states.tsx";
import { useExamplePhrases } from "../demo-engines.tsx";
import { STARTERS, templateOf } from "../starters.ts";

export function FirstAgent({ onMade }: { readonly onMade: (agentId: string) => void }) {
  const [error, setError] = useState<unknown>(null);
  const starter = STARTERS[0];
  const phrases = useExamplePhrases();
  const make = useChange(
    async (api) => {
      if (starter === undefined) throw new Error("There is no template.");
      const body = { name: starter.name, callTemplate: templateOf(starter, phrases ?? null) };
      return api.fetch("POST", "/api/agents", { body });
    },
    ["/api/agents"],
  );
  const press = async () => {
    setError(null);
    try {
      onMade((await make.mutateAsync(undefined)).agentId);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <Empty
        icon={<Mic aria-hidden="true" />}
        title="No agents yet"
        actions={
          <>
            <Button
              kind="primary"
              busy={make.isPending || phrases === undefined}
              onClick={() => void press()}
            >
              Create the concierge and talk
            </Button>
            <ButtonLink to="/agents/new">Choose another template</ButtonLink>
          </>
        }
      >
        The concierge works without any setup. You can change everything later.
      </Empty>
      {error !== null && <ErrorState error={error} />}
    </>
  );
}
