/** The settings of the next call. They are stored for later calls. */

import { useState } from "react";
import { useSearchParams } from "react-router";
import { contextOf } from "../template-variables.ts";
import { type Medium, SYSTEM_MICROPHONE, type TalkPlan } from "./talk-plan.ts";

export interface Draft extends Omit<TalkPlan, "context"> {
  readonly setAgentId: (agentId: string) => void;
  readonly setMedium: (medium: Medium) => void;
  readonly setMicrophone: (microphone: string) => void;
  readonly setWithNotes: (withNotes: boolean) => void;
  /** Values of template variables, by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly setValue: (name: string, value: string) => void;
  /** The context as JSON, if texts are not enough. */
  readonly document: unknown;
  readonly setDocument: (document: unknown) => void;
  readonly valid: boolean;
  readonly setValid: (valid: boolean) => void;
  readonly plan: (agentId?: string) => TalkPlan;
}

/** @param byDefault the agent if the URL names none */
export function useDraft(byDefault: string): Draft {
  const [address, setAddress] = useSearchParams();
  const agentId = address.get("agent") ?? byDefault;
  const [medium, setMedium] = useState<Medium>("webRtc");
  const [microphone, setMicrophone] = useState<string>(SYSTEM_MICROPHONE);
  const [withNotes, setWithNotes] = useState(false);
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [document, setDocument] = useState<unknown>(undefined);
  const [valid, setValid] = useState(true);
  const context = (): TalkPlan["context"] => {
    const written = typeof document === "object" && document !== null ? { ...document } : {};
    return { ...contextOf(values), ...written };
  };
  return {
    agentId,
    medium,
    microphone,
    withNotes,
    values,
    document,
    valid,
    setMedium,
    setMicrophone,
    setWithNotes,
    setDocument,
    setValid,
    setAgentId: (next) => {
      // Another agent has other variables.
      setValues(new Map());
      setDocument(undefined);
      setAddress(next === "" ? {} : { agent: next }, { replace: true });
    },
    setValue: (name, value) =>
      setValues((before) => {
        const next = new Map(before);
        // Empty fields are not sent, so that the service reports required ones.
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      }),
    plan: (other) => ({ agentId: other ?? agentId, medium, microphone, withNotes, context: context() }),
  };
}
