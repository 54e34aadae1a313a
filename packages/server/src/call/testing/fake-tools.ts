/** Tools of a scenario, wherever they run: they answer after a delay, fail, hang, answer twice, or too late. */

import type { ToolOutcome } from "@parley/schema";
import type { EffectOf } from "../effects.ts";
import type { InitialMessage, StagePlan } from "../../plan/plan.ts";
import type { ToolImplementation, ToolPlan } from "../../plan/tool-plan.ts";
import type { Post } from "./fake-engines.ts";

type Completed = Extract<ToolOutcome, { readonly kind: "completed" }>;

export type ToolRun =
  | ({ readonly how: "answer" | "twice"; readonly afterMs?: number } & Partial<Completed>)
  | { readonly how: "fail"; readonly afterMs?: number; readonly text?: string }
  | { readonly how: "hang" };

/** The result of a requested stage; null: it is refused. */
export interface PreparedStage {
  readonly stage: Partial<StagePlan>;
  readonly initialMessages?: readonly InitialMessage[];
  readonly initialState?: Readonly<Record<string, unknown>> | null;
  readonly toolResultText?: string;
}

export class FakeTools {
  readonly #post: Post;
  /** Every invocation that left the engine, in order: what a tool's side effect would be counted by. */
  readonly invoked: { readonly invocationId: string; readonly toolName: string }[] = [];
  readonly requests: EffectOf<"invokeTool">["invocation"][] = [];
  readonly #aborted = new Set<string>();
  /** How the next invocations go; afterwards `usual`. */
  script: ToolRun[] = [];
  usual: ToolRun = { how: "answer", result: "All good." };
  stages: (PreparedStage | null | "hang")[] = [];

  constructor(post: Post) {
    this.#post = post;
  }

  invoke({ invocation }: EffectOf<"invokeTool">): void {
    this.requests.push(invocation);
    const { invocationId } = invocation;
    this.#run(invocation, (afterMs, outcome) => {
      this.#post(afterMs, { type: "toolFinished", invocationId, outcome });
    });
  }

  /** A client that has the tool. */
  invokeByMessage({ message }: EffectOf<"sendDataMessage"> | EffectOf<"sendDataConnectionMessage">): void {
    const { type } = message;
    if (type !== "client_tool_invocation" && type !== "data_connection_tool_invocation") return;
    const { invocationId } = message;
    const byClient = type === "client_tool_invocation";
    const answer = byClient ? "client_tool_result" : "data_connection_tool_result";
    const source = byClient ? "client" : "dataConnection";
    this.#run(message, (afterMs, outcome) => {
      const base = { type: answer, invocationId, responseType: "tool-response" } as const;
      const parts =
        outcome.kind === "failed"
          ? { result: "", errorType: "implementation-error" as const, errorMessage: outcome.errorDetails }
          : {
              result: outcome.result,
              responseType: outcome.responseType,
              ...(outcome.reaction === null ? {} : { agentReaction: outcome.reaction }),
              ...(outcome.updateCallState === null
                ? {}
                : { updateCallState: { ...outcome.updateCallState } }),
            };
      this.#post(afterMs, { type: "dataMessageReceived", source, message: { ...base, ...parts } });
    });
  }

  prepare({ invocationId, from }: EffectOf<"prepareStage">): void {
    const next = this.stages.shift();
    if (next === "hang") return;
    if (next === null || next === undefined) {
      this.#post(50, { type: "stageRefused", invocationId, error: "the stage is not valid" });
      return;
    }
    const { initialMessages = null, initialState = null, toolResultText = "OK" } = next;
    const stage = { ...from, ...next.stage };
    const prepared = { invocationId, stage, initialMessages, initialState, toolResultText };
    this.#post(50, { type: "stagePrepared", ...prepared });
  }

  abort(invocationId: string): void {
    this.#aborted.add(invocationId);
  }

  isAborted(invocationId: string): boolean {
    return this.#aborted.has(invocationId);
  }

  #run(
    { invocationId, toolName }: { readonly invocationId: string; readonly toolName: string },
    answer: (afterMs: number, outcome: ToolOutcome) => void,
  ): void {
    this.invoked.push({ invocationId, toolName });
    const run = this.script.shift() ?? this.usual;
    if (run.how === "hang") return;
    const { afterMs = 300 } = run;
    if (run.how === "fail") {
      const text = run.text ?? "The tool failed: HTTP 500";
      answer(afterMs, { kind: "failed", cause: "error", text, errorDetails: "status 500" });
      return;
    }
    const {
      result = "All good.",
      responseType = "tool-response",
      reaction = null,
      updateCallState = null,
    } = run;
    const outcome = { kind: "completed", result, responseType, reaction, updateCallState } as const;
    answer(afterMs, outcome);
    if (run.how === "twice") answer(afterMs + 20, outcome);
  }
}

const HTTP: ToolImplementation = {
  kind: "http",
  method: "POST",
  urlPattern: "https://tools.test/run",
  credentials: [],
  callToken: null,
};

/** A tool of a stage: by HTTP and with one argument, unless the test says otherwise. */
export function testTool(name: string, changes: Partial<ToolPlan> = {}): ToolPlan {
  return {
    name,
    callToolId: `ct-${name}`,
    toolId: null,
    description: `Does ${name}.`,
    parameters: { type: "object", properties: { what: { type: "string" } } },
    dynamic: [{ name: "what", location: "body" }],
    fixed: [],
    automatic: [],
    implementation: HTTP,
    timeoutMs: 2_500,
    precomputable: false,
    defaultReaction: "speaks",
    staticResponse: null,
    ...changes,
  };
}

export function builtInTool(
  builtIn: Extract<ToolImplementation, { kind: "builtIn" }>["builtIn"],
  parameters: readonly string[],
  fixed: Readonly<Record<string, unknown>> = {},
): ToolPlan {
  return testTool(builtIn, {
    dynamic: parameters.map((name) => ({ name, location: "body" })),
    fixed: Object.entries(fixed).map(([name, value]) => ({ name, location: "body", value })),
    implementation: { kind: "builtIn", builtIn },
  });
}
