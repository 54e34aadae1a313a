/** What the simulated processes did and what the database recorded, and what must be true of both. */

import type { SimulatedDatabase } from "./simulated-database.ts";

/** One change of the owner or the snapshot of a call, in the order in which the database made them. */
interface Write {
  readonly callId: string;
  readonly kind: "owner" | "snapshot" | "end";
  /** The process that wrote it. */
  readonly writer: string;
  /** The owner of the call after it. */
  readonly owner: string | null;
  /** ms since the start of the cluster. */
  readonly atMs: number;
}

interface ToolCall {
  readonly callId: string;
  readonly bootId: string;
  readonly turns: number;
  readonly atMs: number;
}

const TRIGGERS = `
  create table sim.writes (seq bigserial primary key, call_id uuid, kind text, writer text, owner text, at timestamptz);
  create function sim.note_call() returns trigger language plpgsql as $$ begin
    if new.claimed_boot is distinct from old.claimed_boot then
      insert into sim.writes (call_id, kind, writer, owner, at) values
        (new.id, 'owner', current_setting('application_name'), new.claimed_boot, sim.clock_timestamp());
    end if;
    if old.ended_at is null and new.ended_at is not null then
      insert into sim.writes (call_id, kind, writer, owner, at) values
        (new.id, 'end', current_setting('application_name'), new.claimed_boot, sim.clock_timestamp());
    end if;
    return null; end $$;
  create function sim.note_snapshot() returns trigger language plpgsql as $$ begin
    insert into sim.writes (call_id, kind, writer, owner, at) values (new.call_id, 'snapshot',
      current_setting('application_name'), (select claimed_boot from calls where id = new.call_id), sim.clock_timestamp());
    return null; end $$;
  create trigger sim_call after update on public.calls for each row execute function sim.note_call();
  create trigger sim_snapshot after insert or update on public.call_snapshots
    for each row execute function sim.note_snapshot();
`;

export class Ledger {
  readonly #nowMs: () => number;
  readonly #faults: string[] = [];
  readonly #tools: ToolCall[] = [];
  readonly #stored = new Map<string, number>();
  /** Calls that a process has ended because their clients did not come back in time. */
  readonly #lost = new Set<string>();
  adoptions = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  static async prepare(database: SimulatedDatabase): Promise<void> {
    await database.read(TRIGGERS);
  }

  /** The process knows that this turn is stored. */
  stored(callId: string, _bootId: string, turns: number): void {
    this.#stored.set(callId, Math.max(turns, this.#stored.get(callId) ?? 0));
  }

  /** A process goes on with the call at this turn. */
  resumed(callId: string, bootId: string, turns: number): void {
    this.adoptions += 1;
    const known = this.#stored.get(callId) ?? 0;
    if (turns < known)
      this.fault(`${bootId} goes on with ${callId} at turn ${String(turns)} of ${String(known)}`);
  }

  clientLost(callId: string): void {
    this.#lost.add(callId);
  }

  /** The client of the call could not come back in time, though its process was there. */
  isLost(callId: string): boolean {
    return this.#lost.has(callId);
  }

  toolCalled(callId: string, bootId: string, turns: number): void {
    this.#tools.push({ callId, bootId, turns, atMs: this.#nowMs() });
  }

  fault(text: string): void {
    this.#faults.push(`${String(Math.round(this.#nowMs()))} ms: ${text}`);
  }

  get toolCalls(): number {
    return this.#tools.length;
  }

  /** At the end, when all processes have been well for long enough. */
  async faults(
    database: SimulatedDatabase,
    callIds: readonly string[],
    mayBeLost: (callId: string) => boolean,
  ): Promise<readonly string[]> {
    const writes = await database.read<Write>(
      `select call_id as "callId", kind, writer, owner,
        extract(epoch from at)::float8 * 1000 - $1::float8 as "atMs" from sim.writes order by seq`,
      [database.fromMs],
    );
    const calls = await database.read<{
      id: string;
      endedAt: Date | string | null;
      endReason: string | null;
    }>(`select id, ended_at as "endedAt", end_reason as "endReason" from calls where id = any($1::uuid[])`, [
      callIds,
    ]);
    return [
      ...this.#faults,
      ...callIds.flatMap((callId) =>
        this.#faultsOf(
          callId,
          writes.filter((write) => write.callId === callId),
        ),
      ),
      ...calls.flatMap(({ id, endedAt, endReason }) => {
        if (endedAt === null) return [`${id} has no end`];
        return endReason === "hangup" || mayBeLost(id) ? [] : [`${id} ended with ${String(endReason)}`];
      }),
    ];
  }

  #faultsOf(callId: string, writes: readonly Write[]): string[] {
    const faults: string[] = [];
    for (const { kind, writer, owner, atMs } of writes) {
      // A sweep ends a call that it has taken from its owner.
      if (kind === "snapshot" && writer !== owner)
        faults.push(
          `${callId}: ${writer} wrote a snapshot at ${atMs.toFixed(0)} ms, and ${String(owner)} owned the call`,
        );
    }
    const ends = writes.filter(({ kind }) => kind === "end").length;
    if (ends > 1) faults.push(`${callId} has ${String(ends)} ends`);
    for (const tool of this.#tools) {
      if (tool.callId !== callId) continue;
      const before = writes.filter(({ atMs, kind }) => atMs <= tool.atMs && kind === "owner").at(-1);
      if (before !== undefined && before.owner !== tool.bootId)
        faults.push(
          `${callId}: ${tool.bootId} called the tool of turn ${String(tool.turns)} at ${tool.atMs.toFixed(0)} ms, ` +
            `and ${String(before.owner)} owned the call since ${before.atMs.toFixed(0)} ms`,
        );
    }
    return faults;
  }
}
