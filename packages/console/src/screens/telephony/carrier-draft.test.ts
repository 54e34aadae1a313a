import { expect, test } from "vitest";
import {
  allowedText,
  bodyOf,
  carrierFaults,
  draftOf,
  labelOfField,
  shownOf,
  withoutSecrets,
} from "./carrier-draft.ts";

const CONFIG = {
  accountSid: "AC1",
  authTokenPrefix: { prefix: "0123" },
  callCreationAllowedAgentIds: ["a"],
  callCreationAllowAllAgents: false,
  requestContextMapping: { From: "user.phone" },
};

test("secrets are shown by their beginning and never filled in", () => {
  expect(shownOf(CONFIG, { name: "authToken", label: "", hint: "", secret: true })).toBe("0123…");
  expect(draftOf("telephony1", CONFIG)).toEqual({
    fields: { accountSid: "AC1", authToken: "" },
    allowAll: false,
    agentIds: ["a"],
    mapping: [{ name: "From", value: "user.phone" }],
  });
});

test("a change leaves secrets that were not written", () => {
  const draft = draftOf("telephony1", CONFIG);
  expect(carrierFaults("telephony1", draft, false)).toEqual([]);
  expect(bodyOf("telephony1", { ...draft, allowAll: true })).toEqual({
    accountSid: "AC1",
    callCreationAllowAllAgents: true,
    callCreationAllowedAgentIds: [],
    requestContextMapping: { From: "user.phone" },
  });
});

test("a new configuration needs everything", () => {
  const faults = carrierFaults("telephony2", draftOf("telephony2", undefined), true);
  expect(faults.map(({ field }) => field)).toEqual(["accountSid", "applicationSid", "apiKey", "publicKey"]);
});

test("stored secrets leave the form", () => {
  const draft = { ...draftOf("telephony1", CONFIG), fields: { accountSid: "AC1", authToken: "0123456789" } };
  expect(withoutSecrets("telephony1", draft).fields).toEqual({ accountSid: "AC1", authToken: "" });
});

test("fields of findings have the labels of the form", () => {
  const names = ["publicKey", "callCreationAllowedAgentIds", "somethingNew"];
  expect(names.map((name) => labelOfField("telephony2", name))).toEqual([
    "Public key",
    "Agents that may be called",
    "somethingNew",
  ]);
});

test("the agents that a carrier may call are counted", () => {
  const textOf = (some: readonly string[], all = false) =>
    allowedText({ ...CONFIG, callCreationAllowedAgentIds: some, callCreationAllowAllAgents: all });
  expect([textOf([]), textOf(["a"]), textOf(["a", "b"]), textOf([], true)]).toEqual([
    "No agent",
    "1 agent",
    "2 agents",
    "All agents",
  ]);
});
