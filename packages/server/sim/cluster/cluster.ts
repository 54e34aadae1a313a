/**
 * A simulated cluster: many nodes of the service on one real PostgreSQL database, on virtual time. Processes die, stand
 * still, are slow, are cut off from the database, and have wrong clocks; the database is away for all; callers lose their
 * connections. Afterwards everything is well for some minutes, and every call must have had one owner at a time and one
 * end. The same seed draws the same faults; of two statements that meet, the server may answer either one first.
 */

import { randomUUID } from "node:crypto";
import { snapshotOf } from "../../src/call/adoption/snapshot.ts";
import { joinedCall } from "../../src/call/testing/scenario.ts";
import { storedPlan } from "../../src/plan/stored-plan.ts";
import { createAccount } from "../../src/store/accounts/accounts.ts";
import { insertCall } from "../../src/store/calls/calls.ts";
import { createSealer } from "../../src/store/secrets/secrets.ts";
import { newCall } from "../../src/store/testing/calls.ts";
import { Draw } from "../draw.ts";
import { Caller } from "./caller.ts";
import { JOIN_LIMIT_MS } from "./fake-runner.ts";
import { Ledger } from "./ledger.ts";
import { installProcessTime, runIn } from "./process-time.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { startNode, type NodeDeps, type SimulatedNode } from "./simulated-node.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface ClusterOptions {
  /** Of a migrated database that nothing else uses. */
  readonly databaseUrl: string;
  readonly seed: number;
  readonly nodes: number;
  readonly calls: number;
  /** Faults come in this time; then everything is well. */
  readonly faultsMs: number;
  /** Lines of the nodes, for a seed that fails. */
  readonly log?: (line: string) => void;
}

export interface ClusterResult {
  readonly faults: readonly string[];
  readonly deaths: number;
  readonly otherFaults: number;
  readonly adoptions: number;
  readonly toolCalls: number;
  readonly statements: number;
  readonly lastedMs: number;
}

/** Between two faults of the cluster. */
const FAULT_EVERY_MS = { min: 500, max: 9_000 } as const;
/** Of the wall clock of a machine; the service refuses to start beyond five minutes. */
const MAX_SKEW_MS = 240_000;
/** A killed process is started again after this. */
const RESTART_MS = { min: 300, max: 20_000 } as const;
/** Longer than all that the service waits for: orphans, calls without a snapshot, stray calls. */
const WELL_MS = 300_000;
/** Between two looks whether all calls have ended. */
const LOOK_MS = 10_000;
/** As `INTERNAL_LIMIT_MS` of the requests between nodes. */
const FORWARD_LIMIT_MS = 2_000;
/** More processes and callers than a cluster has. */
const MAX_DRAWS = 10_000;
/** Of the clients of a process that has trouble. */
const LEAVING_SHARE = 0.6;
/** Of the clients that lose their connection. */
const STAYS_AWAY_SHARE = 0.15;

/** Its name in DATA_DIR, and the boots that have ended. */
interface Machine {
  readonly nodeId: string;
  readonly endedBootIds: string[];
  readonly skewMs: number;
  boots: number;
}

export async function runCluster(options: ClusterOptions): Promise<ClusterResult> {
  const uninstall = installProcessTime();
  const time = new VirtualTime();
  const database = await SimulatedDatabase.open(options.databaseUrl, time);
  try {
    await Ledger.prepare(database);
    return await new Cluster(options, time, database).run();
  } finally {
    await database.close();
    uninstall();
  }
}

class Cluster {
  readonly #options: ClusterOptions;
  readonly #time: VirtualTime;
  readonly #database: SimulatedDatabase;
  /** Of the faults alone, so that they do not depend on what processes and callers draw. */
  readonly #draw: Draw;
  #draws = 0;
  readonly #ledger: Ledger;
  readonly #sealer = createSealer(new Uint8Array(32));
  readonly #snapshot = snapshotOf(joinedCall().run(320).says("Good morning", 640).run(3_000).state);
  readonly #nodes = new Set<SimulatedNode>();
  readonly #machines = new Map<SimulatedProcess, Machine>();
  readonly #callers = new Map<string, Caller>();
  #deaths = 0;
  #otherFaults = 0;

  constructor(options: ClusterOptions, time: VirtualTime, database: SimulatedDatabase) {
    this.#options = options;
    this.#time = time;
    this.#database = database;
    this.#draw = new Draw(options.seed);
    this.#ledger = new Ledger(() => time.nowMs());
  }

  async run(): Promise<ClusterResult> {
    const { nodes, calls, faultsMs } = this.#options;
    for (let node = 0; node < nodes; node += 1) {
      const skewMs = this.#draw.whole(-MAX_SKEW_MS, MAX_SKEW_MS);
      this.#start({ nodeId: `node-${String(node)}`, endedBootIds: [], skewMs, boots: 0 });
    }
    // Every process has a lease for long enough to judge others.
    await this.#until(10_000);
    for (let call = 0; call < calls; call += 1)
      this.#time.after(this.#draw.whole(0, faultsMs / 2), () => this.#makeCall());
    this.#nextFault(this.#time.nowMs() + faultsMs);
    await this.#until(this.#time.nowMs() + faultsMs);
    await this.#untilOver(this.#time.nowMs() + WELL_MS);
    return {
      faults: [...(await this.#faults())],
      deaths: this.#deaths,
      otherFaults: this.#otherFaults,
      adoptions: this.#ledger.adoptions,
      toolCalls: this.#ledger.toolCalls,
      statements: this.#database.statements,
      lastedMs: this.#time.nowMs(),
    };
  }

  async #faults(): Promise<readonly string[]> {
    const ids = [...this.#callers.keys()];
    // A client that does not come back, or comes too late, leaves its call to its end.
    const mayBeLost = (callId: string): boolean => this.#ledger.isLost(callId) || this.#isGivenUp(callId);
    const found = await this.#ledger.faults(this.#database, ids, mayBeLost);
    const refused = [...this.#callers].flatMap(([callId, { refusal }]) =>
      refusal === null || mayBeLost(callId) ? [] : [`the client of ${callId} was ${refusal}`],
    );
    const open = [...this.#callers].flatMap(([callId, { isOver, state }]) =>
      isOver ? [] : [`the client of ${callId} still ${state}`],
    );
    const lost = this.#database.losses.map((error) => `the real server has closed a connection: ${error}`);
    return [...lost, ...found, ...refused, ...open];
  }

  #isGivenUp(callId: string): boolean {
    const caller = this.#callers.get(callId);
    return caller?.state === "stayed_away" || caller?.isUnheard === true;
  }

  /** Until every call has its end; or until `limitMs`, which is a fault. */
  async #untilOver(limitMs: number): Promise<void> {
    while (this.#time.nowMs() < limitMs) {
      await this.#until(this.#time.nowMs() + LOOK_MS);
      const open = await this.#database.read("select 1 from calls where ended_at is null limit 1");
      if (open.length === 0 && [...this.#callers.values()].every(({ isOver }) => isOver)) return;
    }
  }

  /** Virtual time goes on while nothing runs. */
  async #until(untilMs: number): Promise<void> {
    do await this.#database.settled();
    while (this.#time.step(untilMs));
  }

  #start(machine: Machine): void {
    machine.boots += 1;
    const bootId = `${machine.nodeId}.${String(machine.boots)}`;
    const wallFromMs = this.#database.fromMs + machine.skewMs;
    const process = new SimulatedProcess(bootId, this.#time, this.#newDraw(), wallFromMs);
    this.#machines.set(process, machine);
    const die = (): void => this.#kill(process, machine);
    const deps: NodeDeps = {
      process,
      database: this.#database,
      sealer: this.#sealer,
      nodeId: machine.nodeId,
      endedBootIds: [...machine.endedBootIds],
      snapshot: this.#snapshot,
      draw: this.#newDraw(),
      ledger: this.#ledger,
      onTaken: die,
      send: (owner, callId, operation) => this.#send(process, owner.bootId, callId, operation),
      closed: (callId) => this.#closed(process, callId),
      log: (line) => this.#options.log?.(`${String(Math.round(this.#time.nowMs()))} ${line}`),
    };
    runIn(process, () => {
      startNode(deps).then(
        (node) => void this.#nodes.add(node),
        // As a supervisor does: the database may be away.
        () => die(),
      );
    });
  }

  /** For one process or caller. */
  #newDraw(): Draw {
    this.#draws += 1;
    return new Draw(this.#options.seed * MAX_DRAWS + this.#draws);
  }

  /** Its supervisor starts it again. */
  #kill(process: SimulatedProcess, machine: Machine): void {
    if (process.isDead) return;
    process.isDead = true;
    this.#machines.delete(process);
    machine.endedBootIds.push(process.name);
    const node = this.#nodeOf(process);
    if (node !== null) {
      this.#nodes.delete(node);
      for (const caller of this.#callers.values()) caller.nodeDied(node);
    }
    void this.#database.drop(process);
    this.#time.after(this.#draw.whole(RESTART_MS.min, RESTART_MS.max), () => this.#start(machine));
  }

  #nodeOf(process: SimulatedProcess): SimulatedNode | null {
    return [...this.#nodes].find((node) => node.process === process) ?? null;
  }

  #closed(process: SimulatedProcess, callId: string): void {
    const node = this.#nodeOf(process);
    if (node !== null) this.#callers.get(callId)?.lost(node);
  }

  /** A request to the internal address of another process. */
  async #send(
    from: SimulatedProcess,
    bootId: string,
    callId: string,
    operation: Parameters<SimulatedNode["perform"]>[1],
  ): ReturnType<NodeDeps["send"]> {
    await from.way();
    const target = [...this.#nodes].find(({ process }) => process.name === bootId);
    if (target === undefined) return { kind: "moved", reason: "cannot be reached (ECONNREFUSED)" };
    const answer = Promise.withResolvers<Awaited<ReturnType<NodeDeps["send"]>>>();
    from.after(FORWARD_LIMIT_MS, () => answer.resolve({ kind: "unreachable", reason: "did not answer" }));
    target.process.after(1, () => {
      target.perform(callId, operation).then(
        (value) => from.after(1, () => answer.resolve({ kind: "answered", answer: value })),
        () => from.after(1, () => answer.resolve({ kind: "unreachable", reason: "failed" })),
      );
    });
    return answer.promise;
  }

  #makeCall(): void {
    const node = this.#anyNode();
    if (node === null || node.process.isCutOff()) {
      this.#time.after(1_000, () => this.#makeCall());
      return;
    }
    const token = randomUUID();
    const callId = randomUUID();
    node.process.after(0, () => {
      this.#insertCall(node, callId, token).then(
        () => this.#callers.set(callId, this.#newCaller(callId, token)),
        // It was not acknowledged.
        () => undefined,
      );
    });
  }

  async #insertCall(node: SimulatedNode, callId: string, token: string): Promise<void> {
    const { accountId } = await createAccount(node.db, callId);
    const { state } = joinedCall();
    const plan = { ...state.plan, callId, accountId };
    await insertCall(node.db, accountId, {
      ...newCall({ callId, nodeId: node.nodeId, joinToken: token, createdAtMs: Date.now() }),
      joinDeadlineMs: Date.now() + JOIN_LIMIT_MS,
      plan: storedPlan(plan),
    });
  }

  #newCaller(callId: string, token: string): Caller {
    return new Caller({
      callId,
      token,
      time: this.#time,
      draw: this.#newDraw(),
      anyNode: () => this.#anyNode(),
      runAt: (node, run) => void node.process.after(1, () => void run()),
      talkMs: this.#draw.whole(5_000, this.#options.faultsMs),
      givesUp: this.#draw.chance(STAYS_AWAY_SHARE),
    });
  }

  /** A balancer knows of processes that are gone, and of nothing else. */
  #anyNode(): SimulatedNode | null {
    const nodes = [...this.#nodes];
    return nodes[this.#draw.whole(0, Math.max(0, nodes.length - 1))] ?? null;
  }

  #nextFault(untilMs: number): void {
    this.#time.after(this.#draw.whole(FAULT_EVERY_MS.min, FAULT_EVERY_MS.max), () => {
      if (this.#time.nowMs() >= untilMs) return;
      this.#fault();
      this.#nextFault(untilMs);
    });
  }

  #fault(): void {
    const kind = this.#draw.one([
      "death",
      "death",
      "still",
      "cut",
      "slow",
      "network",
      "network",
      "outage",
    ] as const);
    this.#otherFaults += kind === "death" ? 0 : 1;
    if (kind === "outage") {
      // One that is away for longer than its clients are waited for loses its calls, and that is no fault.
      if (![...this.#machines.keys()].every((process) => process.isWell())) return;
      const forMs = this.#draw.whole(500, 12_000);
      for (const process of this.#machines.keys()) this.#cutOff(process, forMs);
      return;
    }
    if (kind === "network") {
      const callers = [...this.#callers.values()].filter(({ state }) => state === "talks");
      callers[this.#draw.whole(0, Math.max(0, callers.length - 1))]?.loseNetwork();
      return;
    }
    const node = this.#anyNode();
    if (node === null) return;
    const { process } = node;
    if (kind !== "death" && !process.isWell()) return;
    if (kind === "death") {
      this.#deaths += 1;
      const machine = this.#machines.get(process);
      if (machine !== undefined) this.#kill(process, machine);
    } else if (kind === "still") this.#standStill(process, this.#draw.whole(500, 25_000));
    else if (kind === "cut") this.#cutOff(process, this.#draw.whole(500, 25_000));
    else process.slowDown(this.#draw.whole(1_000, 15_000));
    if (kind !== "death") this.#loseCallersOf(node);
  }

  /** Some callers of a process that has trouble try another one, which may find that its lease has lapsed. */
  #loseCallersOf(node: SimulatedNode): void {
    for (const caller of this.#callers.values())
      if (caller.isAt(node) && this.#draw.chance(LEAVING_SHARE))
        this.#time.after(this.#draw.whole(0, 8_000), () => {
          if (caller.isAt(node)) caller.loseNetwork();
        });
  }

  #cutOff(process: SimulatedProcess, forMs: number): void {
    process.cutOff(forMs);
    void this.#database.drop(process);
  }

  /** Not within a transaction: the server ends those of a process that is silent, by its own clock, which is the real one. */
  #standStill(process: SimulatedProcess, forMs: number): void {
    if (process.isDead) return;
    if (this.#database.isInTransaction(process)) this.#time.after(5, () => this.#standStill(process, forMs));
    else process.standStill(forMs);
  }
}
