import { describe, expect, it } from "vitest";
import { accountOfHost, calledParty } from "./called-party.ts";

const ACCOUNT = "11111111-2222-4333-8444-555555555555";
const AGENT = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const OTHER = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const NONE = { allowAllAgents: false, allowedAgents: [] };

describe("the account of a host", () => {
  it.each([
    [`${ACCOUNT}.sip.test`, ACCOUNT],
    ["sip.test", null],
    [`x.${ACCOUNT}.sip.test`, null],
    [`${ACCOUNT}.other.test`, null],
    [`${ACCOUNT}xsip.test`, null],
    ["1.sip.test", null],
  ])("of %s is %s", (host, account) => {
    expect(accountOfHost(host, "sip.test")).toBe(account);
  });
});

describe("a called name", () => {
  it("means an agent that is allowed", () => {
    const agent = { kind: "agent", agentId: AGENT };
    const named = `agent_${AGENT}`;
    expect(calledParty(named, { ...NONE, allowAllAgents: true })).toEqual(agent);
    expect(calledParty(named.toUpperCase(), { ...NONE, allowedAgents: [{ agentId: AGENT }] })).toEqual(agent);
    expect(calledParty(named, { ...NONE, allowedAgents: [{ agentId: OTHER }] })).toEqual({ kind: "nobody" });
    expect(calledParty(`${named}1`, { ...NONE, allowAllAgents: true })).toEqual({ kind: "nobody" });
  });

  it("means the agent of the first pattern that matches it as a whole", () => {
    const allowedAgents = [
      { agentId: AGENT, toUserPattern: "49.*" },
      { agentId: OTHER, toUserPattern: ".*30" },
    ];
    const called = (user: string) => calledParty(user, { ...NONE, allowedAgents });
    expect(called("4930")).toEqual({ kind: "agent", agentId: AGENT });
    expect(called("0030")).toEqual({ kind: "agent", agentId: OTHER });
    expect(called("+4931")).toEqual({ kind: "nobody" });
  });

  it("means a call that waits", () => {
    expect(calledParty(`call_${AGENT}`, NONE)).toEqual({ kind: "call", callId: AGENT });
  });

  it("means nobody where a stored pattern is not valid", () => {
    const allowedAgents = [{ agentId: AGENT, toUserPattern: "(" }];
    expect(calledParty("(", { ...NONE, allowedAgents })).toEqual({ kind: "nobody" });
  });
});
