/** Scenarios with side threads. */

import { ClientDataMessage, type ServerDataMessage } from "@parley/schema";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import { threadNamed, threadStates, type SideThread } from "../threads/thread-state.ts";
import type { PlanChanges } from "./plan.ts";
import { joinedCall, type Scenario } from "./scenario.ts";

/** A joined call in which nothing was said. */
export function callWithThreads(tools: readonly ToolPlan[] = [], changes: PlanChanges = {}): Scenario {
  return joinedCall({
    ...changes,
    stage: { tools, ...changes.stage },
    dataMessages: { toolUsed: true, invokingTool: true },
  }).run(320);
}

export function send(call: Scenario, message: object): Scenario {
  return call.sends(ClientDataMessage.parse(message));
}

/** Spawns a thread that has this to do. */
export function spawn(call: Scenario, newThreadId: string, task: string | null, more: object = {}): Scenario {
  const additionalMessages = task === null ? [] : [{ role: "MESSAGE_ROLE_USER", text: task }];
  return send(call, { type: "spawn_thread", newThreadId, additionalMessages, ...more });
}

export const statesOf = ({ state }: Scenario) => threadStates(state.sideThreads);

export function threadOf({ state }: Scenario, threadId: string): SideThread {
  const thread = threadNamed(state.sideThreads, threadId);
  if (thread === null) throw new Error(`no thread ${threadId}`);
  return thread;
}

/** Roles and texts of a thread's messages. */
export function saidIn(call: Scenario, threadId: string): string[] {
  return threadOf(call, threadId).history.entries.map(({ role, text }) => `${role}: ${text}`);
}

const ABOUT_THREADS: ReadonlySet<ServerDataMessage["type"]> = new Set([
  "thread_spawned",
  "thread_rejected",
  "thread_terminated",
]);

/** The messages that clients got about threads, such as `thread_rejected a exists`. */
export function toldOf(call: Scenario): string[] {
  return call.effectsOf("sendDataMessage").flatMap(({ message }) => {
    if (!ABOUT_THREADS.has(message.type) || !("threadId" in message)) return [];
    return [[message.type, message.threadId, "reason" in message ? message.reason : ""].join(" ").trim()];
  });
}
