/** In-memory records, for tests. */

import type { TurnLatency } from "@parley/schema";
import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { EventChunk } from "../records/event-chunks.ts";
import type {
  CallRecords,
  EndedRecord,
  FaultRecord,
  JoinedRecord,
  SideTokens,
  SnapshotRecord,
  StageRecord,
  TokenCounts,
} from "../records/call-records.ts";

export interface MemoryRecords extends CallRecords {
  readonly joins: { callId: string; record: JoinedRecord }[];
  readonly messages: { callId: string; message: MessageRecord }[];
  readonly stages: { callId: string; record: StageRecord }[];
  readonly toolFailures: { callId: string; stageId: string; failures: number }[];
  readonly tokenCounts: (TokenCounts & { callId: string })[];
  readonly sideTokens: (SideTokens & { callId: string })[];
  readonly events: { callId: string; event: CallEventRecord }[];
  readonly eventChunks: { callId: string; chunk: EventChunk }[];
  readonly snapshots: { callId: string; record: SnapshotRecord }[];
  readonly faults: { callId: string; record: FaultRecord }[];
  readonly ends: { callId: string; record: EndedRecord; atMs: number }[];
  readonly handedOver: string[];
  readonly latencies: TurnLatency[];
  /** Rejects or delays writes; null: they succeed at once. */
  trouble: (() => Promise<void>) | null;
}

export function openMemoryRecords(): MemoryRecords {
  const records: MemoryRecords = {
    joins: [],
    messages: [],
    stages: [],
    toolFailures: [],
    tokenCounts: [],
    sideTokens: [],
    events: [],
    eventChunks: [],
    snapshots: [],
    faults: [],
    ends: [],
    handedOver: [],
    latencies: [],
    trouble: null,
    joined: (callId, record) => write(() => records.joins.push({ callId, record })),
    message: (callId, message) => write(() => records.messages.push({ callId, message })),
    stage: (callId, record) => write(() => records.stages.push({ callId, record })),
    toolFailed: (callId, failed) => write(() => records.toolFailures.push({ callId, ...failed })),
    tokensCounted: (callId, counted) => write(() => records.tokenCounts.push({ callId, ...counted })),
    sideTokensCounted: (callId, counted) => write(() => records.sideTokens.push({ callId, ...counted })),
    callEvent: (callId, event) => write(() => records.events.push({ callId, event })),
    eventChunk: (callId, chunk) => write(() => records.eventChunks.push({ callId, chunk })),
    snapshot: (callId, record) => write(() => records.snapshots.push({ callId, record })),
    fault: (callId, record) => write(() => records.faults.push({ callId, record })),
    ended: (callId, record) => write(() => records.ends.push({ callId, record, atMs: performance.now() })),
    handOver: (callId) => write(() => records.handedOver.push(callId)),
    turnLatency: (_callId, latency) => {
      records.latencies.push(latency);
    },
  };
  const write = async (act: () => unknown): Promise<void> => {
    await records.trouble?.();
    act();
  };
  return records;
}
