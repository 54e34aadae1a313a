import { describe, expect, it } from "vitest";
import { SipConfigPatch, SipRegistrationPatch, SipRegistrationWrite } from "./sip-config.ts";
import {
  AccountTelephonyConfigPatch,
  CarrierName,
  Telephony1ConfigPatch,
  Telephony1ConfigWrite,
  Telephony2ConfigWrite,
  Telephony3ConfigWrite,
} from "./telephony-config.ts";
import { parseBody } from "../values/parse-body.ts";
import { problemsOf, type Row } from "../testing/problems.ts";

const ID = "3f0c9a52-9d3b-4b7e-8f5e-0d2f5a1b6c7d";
const first = { accountSid: "AC1", authToken: "0123456789" };

describe("the configuration of a carrier", () => {
  it.each([
    ["telephony1", "telephony1"],
    ["twilio", "telephony1"],
    ["telnyx", "telephony2"],
    ["plivo", "telephony3"],
  ])("is found as %s", (spelling, carrier) => {
    expect(CarrierName.parse(spelling)).toBe(carrier);
  });

  it.each(["telephony4", "exotel", "telephony5", "", "Twilio"])("is not there for %s", (spelling) => {
    expect(CarrierName.safeParse(spelling).success).toBe(false);
  });

  const rows: Row[] = [
    ["all that is needed", first, []],
    ["a fetched record", { ...first, authTokenPrefix: { prefix: 7 } }, []],
    [
      "snake case",
      { account_sid: "AC1", auth_token: "0123456789", request_context_mapping: { From: "a" } },
      [],
    ],
    ["nothing", {}, ["accountSid: is required", "authToken: is required"]],
    ["null", { ...first, authToken: null }, ["authToken: must be text"]],
    ["another carrier's field", { ...first, authId: "x" }, ["authId: is not a known field"]],
    [
      "all agents and some",
      { ...first, callCreationAllowAllAgents: true, callCreationAllowedAgentIds: [ID] },
      ["callCreationAllowAllAgents: must not be true beside callCreationAllowedAgentIds"],
    ],
    [
      "all agents and none",
      { ...first, callCreationAllowAllAgents: true, callCreationAllowedAgentIds: [] },
      [],
    ],
    [
      "an id that is none",
      { ...first, callCreationAllowedAgentIds: ["x"] },
      ["callCreationAllowedAgentIds.0: must be a UUID"],
    ],
    [
      "too many agents",
      { ...first, callCreationAllowedAgentIds: Array.from({ length: 101 }, () => ID) },
      ["callCreationAllowedAgentIds: must have at most 100 entries"],
    ],
    [
      "a mapping",
      { ...first, requestContextMapping: { From: "user.phone", To: "user.line", "a.b": "c" } },
      [],
    ],
    [
      "a path inside another",
      { ...first, requestContextMapping: { From: "user", To: "user.line" } },
      ["requestContextMapping.To: writes to user.line, which conflicts with From writing to user"],
    ],
    [
      "a path around another",
      { ...first, requestContextMapping: { From: "user.line", To: "user" } },
      ["requestContextMapping.To: writes to user, which conflicts with From writing to user.line"],
    ],
    [
      "one path twice",
      { ...first, requestContextMapping: { From: "user", To: "user" } },
      ["requestContextMapping.To: writes to user, which conflicts with From writing to user"],
    ],
    [
      "paths that only begin alike",
      { ...first, requestContextMapping: { From: "user", To: "users.line" } },
      [],
    ],
    [
      "paths with nothing between dots",
      { ...first, requestContextMapping: { From: "user..x", "": "y" } },
      [
        "requestContextMapping.From: must be names separated by dots",
        "requestContextMapping.: has an invalid name: it must be names separated by dots",
      ],
    ],
    [
      "a prototype",
      { ...first, requestContextMapping: { From: "a.__proto__.b" } },
      ["requestContextMapping.From: must not contain __proto__"],
    ],
    [
      "a number",
      { ...first, requestContextMapping: { From: 1 } },
      ["requestContextMapping.From: must be text"],
    ],
  ];
  it.each(rows)("%s", (_, body, problems) => {
    expect(problemsOf(Telephony1ConfigWrite, body)).toEqual(problems);
  });

  it("has other fields for other carriers", () => {
    expect(problemsOf(Telephony2ConfigWrite, {})).toEqual(
      ["accountSid", "apiKey", "publicKey", "applicationSid"].map((field) => `${field}: is required`),
    );
    const second = { accountSid: "a", apiKey: "b", publicKey: "c", applicationSid: "d".repeat(41) };
    expect(problemsOf(Telephony2ConfigWrite, second)).toEqual([
      "applicationSid: must have at most 40 characters",
    ]);
    expect(problemsOf(Telephony3ConfigWrite, { authId: "a", authToken: "b" })).toEqual([]);
  });

  it("may be changed in part; what has to be there cannot be cleared", () => {
    const options = { partial: true };
    expect(problemsOf(Telephony1ConfigPatch, {}, options)).toEqual([]);
    expect(problemsOf(Telephony1ConfigPatch, { requestContextMapping: null }, options)).toEqual([]);
    expect(problemsOf(Telephony1ConfigPatch, { authToken: null }, options)).toEqual([
      "authToken: must not be null",
    ]);
    const both = { telephony1: null, plivo: { authToken: "" } };
    expect(problemsOf(AccountTelephonyConfigPatch, both, options)).toEqual([
      "telephony3.authToken: must not be empty",
    ]);
    expect(problemsOf(AccountTelephonyConfigPatch, { telephony4: {} }, options)[0]).toContain("telephony4");
  });
});

describe("the configuration of SIP", () => {
  const patch = (body: unknown) => parseBody(SipConfigPatch, body, { partial: true });

  it("brings ranges into one form", () => {
    const given = [
      "203.0.113.77/24",
      "10.1.2.3/8",
      "192.0.2.1",
      "192.0.2.1/32",
      "1.2.3.4/0",
      "172.16.255.1/12",
    ];
    expect(patch({ allowedCidrRanges: given }).allowedCidrRanges).toEqual([
      "203.0.113.0/24",
      "10.0.0.0/8",
      "192.0.2.1/32",
      "0.0.0.0/0",
      "172.16.0.0/12",
    ]);
  });

  it.each(["203.0.113.0/33", "256.0.0.1", "1.2.3", "::1/128", "01.2.3.4", "1.2.3.4/08", "x", "1.2.3.4/", ""])(
    "refuses the range %s",
    (range) => {
      expect(problemsOf(SipConfigPatch, { allowedCidrRanges: [range] }, { partial: true })).toEqual([
        "allowedCidrRanges.0: must be an IPv4 range such as 203.0.113.0/24",
      ]);
    },
  );

  const rows: Row[] = [
    [
      "null clears",
      { allowedCidrRanges: null, allowAllAgents: null, allowedAgents: null, fallbackHandler: null },
      [],
    ],
    ["a fetched record", { domain: 7 }, []],
    [
      "an agent with a pattern",
      { allowedAgents: [{ agentId: ID, toUserPattern: "\\+49\\d+" }, { agentId: ID }] },
      [],
    ],
    [
      "a pattern that looks back",
      { allowedAgents: [{ agentId: ID, toUserPattern: "(a)\\1" }] },
      [
        "allowedAgents.0.toUserPattern: must not contain a back-reference, which cannot be matched in linear time",
      ],
    ],
    [
      "a long pattern",
      { allowedAgents: [{ agentId: ID, toUserPattern: "a".repeat(201) }] },
      ["allowedAgents.0.toUserPattern: must have at most 200 characters"],
    ],
    [
      "too many agents",
      { allowedAgents: Array.from({ length: 21 }, () => ({ agentId: ID })) },
      ["allowedAgents: must have at most 20 entries"],
    ],
    ["a handler", { fallbackHandler: { url: "https://a.example/sip", secrets: ["x"] } }, []],
    ["a handler without secrets", { fallbackHandler: { url: "https://a.example/sip" } }, []],
    ["a handler without an address", { fallbackHandler: {} }, ["fallbackHandler.url: is required"]],
    [
      "a handler with none of the secrets",
      { fallbackHandler: { url: "https://a.example/sip", secrets: [] } },
      ["fallbackHandler.secrets: must have at least 1 entry"],
    ],
    [
      "a handler with many secrets",
      {
        fallbackHandler: {
          url: "ftp://a.example",
          secrets: [...Array.from({ length: 10 }, () => "x"), "y".repeat(121)],
        },
      },
      [
        "fallbackHandler.url: must be a URL that begins with http:// or https://",
        "fallbackHandler.secrets: must have at most 10 entries",
      ],
    ],
  ];
  it.each(rows)("%s", (_, body, problems) => {
    expect(problemsOf(SipConfigPatch, body, { partial: true }).sort()).toEqual([...problems].sort());
  });
});

describe("a SIP registration", () => {
  const registration = { username: "1000", password: "p", proxy: "sip.carrier.example" };
  const rows: Row[] = [
    ["all that is needed", registration, []],
    ["a fetched record", { ...registration, registrationId: 1, created: 2, successful: "x" }, []],
    ["nothing", {}, ["username: is required", "password: is required", "proxy: is required"]],
    [
      "long texts",
      { username: "u".repeat(61), password: "p", proxy: "p".repeat(101), authUser: "a".repeat(61) },
      [
        "username: must have at most 60 characters",
        "proxy: must have at most 100 characters",
        "authUser: must have at most 60 characters",
      ],
    ],
    [
      "a user that breaks the header",
      { ...registration, username: "a>\r\nVia: x" },
      ["username: must not contain spaces, control characters, quotation marks or angle brackets"],
    ],
    [
      "a proxy that is no host",
      { ...registration, outboundProxy: "a b" },
      ["outboundProxy: must be a host or a SIP address, such as sip.carrier.example:5060"],
    ],
  ];
  it.each(rows)("%s", (_, body, problems) => {
    expect(problemsOf(SipRegistrationWrite, body)).toEqual(problems);
  });

  it.each([
    "sip.a.example",
    "sip.a.example:5061",
    "sips:a.example;transport=tls",
    "192.0.2.1",
    "sip:[2001:db8::1]:5060",
  ])("takes the proxy %s", (proxy) => {
    expect(problemsOf(SipRegistrationWrite, { ...registration, proxy })).toEqual([]);
  });

  it("may be changed in part; what has to be there cannot be cleared", () => {
    expect(
      problemsOf(SipRegistrationPatch, { authUser: null, outboundProxy: null }, { partial: true }),
    ).toEqual([]);
    expect(problemsOf(SipRegistrationPatch, { password: null, proxy: null }, { partial: true })).toEqual([
      "password: must not be null",
      "proxy: must not be null",
    ]);
  });
});
