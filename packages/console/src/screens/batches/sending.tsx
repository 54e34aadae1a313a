/** Sends a new batch, which may be large, and says how far that is. */

import type { ScheduledCallBatch } from "@parley/schema";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { useSignedIn, useStale } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { sizeText } from "../../ui/file-field.tsx";
import { Progress } from "../../ui/parts.tsx";
import { useToast } from "../../ui/toast.tsx";
import { batchBody } from "./check-calls.ts";

interface Attempt {
  readonly agentId: string;
  readonly settings: string;
  readonly texts: readonly string[];
}

interface Sending {
  readonly sent: number;
  readonly size: number;
  readonly count: number;
}

/** Smaller ones are there before anybody has read of them. */
const SHOWN_FROM_BYTES = 256 * 1024;

export function SendingCalls({ sending: { sent, size, count } }: { readonly sending: Sending }) {
  if (size < SHOWN_FROM_BYTES) return null;
  const text =
    sent < size
      ? `Sending: ${sizeText(sent)} of ${sizeText(size)}.`
      : `All is sent. The service checks and stores ${count.toLocaleString()} calls; a hundred thousand take it some twenty seconds.`;
  return (
    <div role="status">
      <Progress label="Calls that are sent" done={sent} total={size} text={text} />
    </div>
  );
}

/** Sent as it is: a hundred thousand calls are not made one text again, and may take longer than other requests. */
export function useCreate() {
  const { upload } = useSignedIn();
  const makeStale = useStale();
  const go = useNavigate();
  const toast = useToast();
  const [sending, setSending] = useState<Sending | null>(null);
  // Whoever leaves the page meanwhile has given it up.
  const here = useRef(new AbortController());
  useEffect(() => {
    here.current = new AbortController();
    return () => here.current.abort();
  }, []);
  // An attempt whose answer was lost may have made the batch: the same once more makes no second one.
  const lost = useRef<(Attempt & { readonly key: string }) | null>(null);
  const send = async ({ agentId, settings, texts }: Attempt, key: string): Promise<Response> => {
    const body = batchBody(settings, texts);
    const { size } = body;
    const onSent = (bytes: number) => setSending({ sent: Math.min(bytes, size), size, count: texts.length });
    onSent(0);
    try {
      return await upload(`/api/agents/${encodeURIComponent(agentId)}/scheduled_batches`, {
        body,
        headers: { "Content-Type": "application/json", "Idempotency-Key": key },
        signal: here.current.signal,
        onSent,
      });
    } finally {
      setSending(null);
    }
  };
  const create = async (attempt: Attempt) => {
    const { agentId, settings, texts } = attempt;
    const { current } = lost;
    const same = current?.agentId === agentId && current.settings === settings && current.texts === texts;
    const key = same ? current.key : newKey();
    lost.current = { ...attempt, key };
    const response = await send(attempt, key);
    lost.current = null;
    if (!response.ok) throw await refusalOf(response);
    const batch = (await response.json()) as ScheduledCallBatch;
    await makeStale("/api/agents");
    toast(`The batch is there with ${batch.totalCount.toLocaleString()} calls.`);
    await go(`/batches/${agentId}/${batch.batchId}`);
  };
  return { create, sending };
}

/** `crypto.randomUUID` is not there for pages that came by plain http from another machine. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
