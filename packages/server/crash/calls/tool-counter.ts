/** A tool that counts its effects: how often it was called for each turn of each call. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TOOL } from "./counting-engines.ts";

/** Long enough that some services are killed while they wait for the answer. */
const ANSWER_AFTER_MS = 300;

export interface ToolCounter {
  /** Requests by call and turn. */
  readonly counts: ReadonlyMap<string, number>;
  /** For `selectedTools` of a call. */
  readonly tool: object;
  close(): void;
}

export async function openToolCounter(): Promise<ToolCounter> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { call, turn } = JSON.parse(Buffer.concat(parts).toString("utf8")) as {
        call: string;
        turn: number;
      };
      const key = `turn ${String(turn)} of ${call}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      setTimeout(() => response.end("counted"), ANSWER_AFTER_MS);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const location = "PARAMETER_LOCATION_BODY";
  const tool = {
    modelToolName: TOOL,
    description: "Counts a turn.",
    timeout: "10s",
    dynamicParameters: [{ name: "turn", location, schema: { type: "integer" }, required: true }],
    automaticParameters: [{ name: "call", location, knownValue: "KNOWN_PARAM_CALL_ID" }],
    http: { baseUrlPattern: `http://127.0.0.1:${String(port)}/count`, httpMethod: "POST" },
  };
  return { counts, tool, close: () => void server.close() };
}
