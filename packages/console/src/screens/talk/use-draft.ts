/** The settings of the next call. They are stored for later calls. */

import { useState } from "react";
import { useSearchParams } from "react-router";
import { useVariables, type Variables } from "../use-variables.ts";
import { type Medium, SYSTEM_MICROPHONE, type TalkPlan } from "./talk-plan.ts";

export interface Draft extends Omit<TalkPlan, "context"> {
  readonly setAgentId: (agentId: string) => void;
  readonly setMedium: (medium: Medium) => void;
  readonly setMicrophone: (microphone: string) => void;
  readonly setWithNotes: (withNotes: boolean) => void;
  readonly variables: Variables;
  readonly plan: (agentId?: string) => TalkPlan;
}

/** @param byDefault the agent if the URL names none */
export function useDraft(byDefault: string): Draft {
  const [address, setAddress] = useSearchParams();
  const agentId = address.get("agent") ?? byDefault;
  const [medium, setMedium] = useState<Medium>("webRtc");
  const [microphone, setMicrophone] = useState<string>(SYSTEM_MICROPHONE);
  const [withNotes, setWithNotes] = useState(false);
  const variables = useVariables();
  return {
    agentId,
    medium,
    microphone,
    withNotes,
    variables,
    setMedium,
    setMicrophone,
    setWithNotes,
    setAgentId: (next) => {
      // Another agent has other variables.
      variables.clear();
      setAddress(next === "" ? {} : { agent: next }, { replace: true });
    },
    plan: (other) => ({
      agentId: other ?? agentId,
      medium,
      microphone,
      withNotes,
      context: variables.context(),
    }),
  };
}
