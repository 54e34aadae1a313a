/** The machines alone: which timer, and when. */

import { describe, expect, it } from "vitest";
import { newClient, stepClient, type ClientEvent, type ClientState } from "./client-machine.ts";
import { newServer, stepServer, type ServerEvent, type ServerState } from "./server-machine.ts";
import type { TimerName } from "./timers.ts";

type Effect = { readonly type: string; readonly timer?: TimerName; readonly afterMs?: number };

const shown = (effects: readonly Effect[]): string =>
  effects
    .map(({ type, timer, afterMs }) => [type, timer, afterMs].filter((part) => part !== undefined).join(" "))
    .join(", ");

function client(isInvite: boolean, isReliable: boolean, events: readonly ClientEvent[]): string[] {
  let state: ClientState = newClient(isInvite, isReliable);
  return events.map((event) => {
    const step = stepClient(state, event);
    state = step.state;
    return shown(step.effects);
  });
}

function server(
  isInvite: boolean,
  isReliable: boolean,
  events: readonly ServerEvent[],
  isKnown = true,
): string[] {
  let state: ServerState = newServer(isInvite, isReliable, isKnown);
  return events.map((event) => {
    const step = stepServer(state, event);
    state = step.state;
    return shown(step.effects);
  });
}

const begun: ClientEvent = { type: "begun" };
const fired = (timer: TimerName) => ({ type: "fired" as const, timer });
const responded = (status: number): ClientEvent => ({ type: "responded", status });
const answered = (status: number): ServerEvent => ({ type: "answered", status });

describe("a client transaction of an INVITE", () => {
  it("repeats the INVITE until any response, and gives up after 64 T1", () => {
    expect(client(true, false, [begun, fired("A"), fired("A"), fired("B"), fired("A")])).toEqual([
      "sendRequest, setTimer A 500, setTimer B 32000",
      "sendRequest, setTimer A 1000",
      "sendRequest, setTimer A 2000",
      "reportTimeout, end",
      "",
    ]);
  });

  it("waits for as long as it rings", () => {
    expect(client(true, false, [begun, responded(180), fired("A"), fired("B"), responded(180)])).toEqual([
      expect.any(String),
      "deliver",
      "",
      "",
      "deliver",
    ]);
  });

  it("acknowledges a refusal as often as it comes, and delivers it once", () => {
    expect(client(true, false, [begun, responded(486), responded(486), responded(200), fired("D")])).toEqual([
      expect.any(String),
      "sendAck, deliver, setTimer D 32000",
      "sendAck",
      "",
      "end",
    ]);
    expect(client(true, true, [begun, responded(486)])).toEqual([
      "sendRequest, setTimer B 32000",
      "sendAck, deliver, end",
    ]);
  });

  it("delivers each 200, and no refusal after one (RFC 6026)", () => {
    expect(client(true, false, [begun, responded(200), responded(200), responded(486), fired("M")])).toEqual([
      expect.any(String),
      "deliver, setTimer M 32000",
      "deliver",
      "",
      "end",
    ]);
  });

  it("reports that the message could not be sent, once", () => {
    const failed: ClientEvent = { type: "transportFailed" };
    expect(client(true, true, [begun, failed, failed])).toEqual([
      expect.any(String),
      "reportUnreachable, end",
      "",
    ]);
  });
});

describe("a client transaction of another request", () => {
  it("repeats it up to every T2, also after a provisional response", () => {
    const events = [
      begun,
      fired("E"),
      fired("E"),
      fired("E"),
      fired("E"),
      responded(100),
      fired("E"),
      fired("F"),
    ];
    expect(client(false, false, events)).toEqual([
      "sendRequest, setTimer E 500, setTimer F 32000",
      "sendRequest, setTimer E 1000",
      "sendRequest, setTimer E 2000",
      "sendRequest, setTimer E 4000",
      "sendRequest, setTimer E 4000",
      "deliver",
      "sendRequest, setTimer E 4000",
      "reportTimeout, end",
    ]);
  });

  it("absorbs repeated answers for T4", () => {
    expect(client(false, false, [begun, responded(200), responded(200), fired("K")])).toEqual([
      expect.any(String),
      "deliver, setTimer K 5000",
      "",
      "end",
    ]);
  });
});

describe("a server transaction of an INVITE", () => {
  it("repeats a refusal until the ACK", () => {
    const ack: ServerEvent = { type: "acknowledged" };
    expect(
      server(true, false, [answered(486), fired("G"), fired("G"), { type: "repeated" }, ack, fired("I")]),
    ).toEqual([
      "sendResponse, setTimer H 32000, setTimer G 500",
      "sendResponse, setTimer G 1000",
      "sendResponse, setTimer G 2000",
      "sendResponse",
      "clearTimer G, clearTimer H, setTimer I 5000",
      "end",
    ]);
  });

  it("of a source that is not known sends a refusal once for each INVITE", () => {
    expect(server(true, false, [answered(403), { type: "repeated" }, fired("H")], false)).toEqual([
      "sendResponse, setTimer H 32000",
      "sendResponse",
      "end",
    ]);
  });

  it("leaves the repeats of a 200 to its user, and absorbs the INVITE (RFC 6026)", () => {
    const events = [
      answered(180),
      answered(200),
      { type: "repeated" as const },
      answered(200),
      answered(486),
      fired("L"),
    ];
    expect(server(true, false, events)).toEqual([
      "sendResponse",
      "sendResponse, setTimer L 32000",
      "",
      "sendResponse",
      "",
      "end",
    ]);
  });
});

describe("a server transaction of another request", () => {
  it("answers a repeated request again for 64 T1, and over TCP is over at once", () => {
    expect(
      server(false, false, [{ type: "repeated" }, answered(200), { type: "repeated" }, fired("J")]),
    ).toEqual(["", "sendResponse, setTimer J 32000", "sendResponse", "end"]);
    expect(server(false, true, [answered(200)])).toEqual(["sendResponse, end"]);
  });
});
