/** Sends a new batch, which may be large, and shows the progress. */

import type { ScheduledCallBatch } from "@parley/schema";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { useSignedIn, useStale } from "../../data/api.tsx";
import { newRequestKey } from "../../data/request-key.ts";
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

/** Smaller bodies are sent too fast to show progress. */
const SHOWN_FROM_BYTES = 256 * 1024;

export function SendingCalls({ sending: { sent, size, count } }: { readonly sending: Sending }) {
  if (size < SHOWN_FROM_BYTES) return null;
  const text =
    sent < size
      ? `Uploading: ${sizeText(sent)} of ${sizeText(size)}`
      : `Uploaded. Creating ${count.toLocaleString()} calls. This takes up to 20 seconds.`;
  return (
    <div role="status">
      <Progress label="Upload" done={sent} total={size} text={text} />
    </div>
  );
}

/** Sent without joining a hundred thousand calls into one text, and with a longer timeout than other requests. */
export function useCreate() {
  const { upload } = useSignedIn();
  const makeStale = useStale();
  const go = useNavigate();
  const toast = useToast();
  const [sending, setSending] = useState<Sending | null>(null);
  // Leaving the page aborts the request.
  const here = useRef(new AbortController());
  useEffect(() => {
    here.current = new AbortController();
    return () => here.current.abort();
  }, []);
  // An attempt without a response may have created the batch. The same key prevents a second one.
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
    const key = same ? current.key : newRequestKey();
    lost.current = { ...attempt, key };
    const response = await send(attempt, key);
    lost.current = null;
    if (!response.ok) throw await refusalOf(response);
    const batch = (await response.json()) as ScheduledCallBatch;
    await makeStale("/api/agents");
    toast(
      batch.totalCount === 1
        ? "Batch created with 1 call."
        : `Batch created with ${batch.totalCount.toLocaleString()} calls.`,
    );
    await go(`/batches/${agentId}/${batch.batchId}`);
  };
  return { create, sending };
}
