import { expect, it } from "vitest";
import { optionsFinding, registerFinding, type AnsweredProbe } from "./answer-findings.ts";
import { failureText, hostOf, type FailedProbe } from "./failure-texts.ts";

const TCP = { transport: "tcp", address: "203.0.113.5:5060" } as const;
const TLS = { transport: "tls", address: "203.0.113.5:5061" } as const;

function failure(changes: Partial<FailedProbe>): string {
  const failed = { kind: "failed", cause: "unreachable", code: null, reason: "Why", tried: null } as const;
  return failureText("sip:ann@trunk.example:5060;transport=tcp", { ...failed, ...changes }, 6_000);
}

it.each<[string, Partial<FailedProbe>, string]>([
  ["the filter", { cause: "not_allowed" }, "may not send to trunk.example"],
  ["an unknown name", { cause: "not_found", code: "ENOTFOUND" }, "no address for trunk.example in the DNS"],
  ["a name without addresses", { cause: "not_found" }, "no address for trunk.example in the DNS"],
  ["a silent DNS", { cause: "not_found", code: "ETIMEOUT" }, "The DNS did not answer"],
  ["a DNS that is too slow", { cause: "timeout" }, "did not answer the questions for trunk.example in time"],
  ["no address", { cause: "invalid" }, "is not an address that can be asked: Why."],
  ["a closed port", { code: "ECONNREFUSED", tried: TCP }, "203.0.113.5:5060 (TCP) refuses connections"],
  ["silence", { cause: "timeout", tried: TCP }, "No answer from 203.0.113.5:5060 (TCP) within 6 s"],
  ["a lost datagram", { cause: "timeout", tried: { ...TCP, transport: "udp" } }, "firewalls let UDP pass"],
  ["no route", { code: "ENETUNREACH", tried: TCP }, "no route to 203.0.113.5:5060"],
  ["a reset", { code: "ECONNRESET", tried: TCP }, "closed the connection without an answer"],
  [
    "another name",
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", tried: TLS },
    "is for another name than trunk.example",
  ],
  ["an old certificate", { code: "CERT_HAS_EXPIRED", tried: TLS }, "has expired"],
  ["a new certificate", { code: "CERT_NOT_YET_VALID", tried: TLS }, "not valid yet"],
  ["an own authority", { code: "DEPTH_ZERO_SELF_SIGNED_CERT", tried: TLS }, "not signed by an authority"],
  ["no TLS", { code: "ERR_SSL_WRONG_VERSION_NUMBER", tried: TLS }, "does not speak TLS at this port"],
  ["other faults of TLS", { code: "ERR_SSL_TLSV1_ALERT", tried: TLS }, "failed (ERR_SSL_TLSV1_ALERT)"],
  ["something else", { code: "EPERM", tried: TCP }, "could not be sent to 203.0.113.5:5060 (TCP): Why."],
  ["nothing tried", {}, "No request could be sent to trunk.example: Why."],
])("explains %s", (_what, changes, expected) => {
  expect(failure(changes)).toContain(expected);
});

it("reads the host of what was entered", () => {
  const entered = ["trunk.example", "sips:a@trunk.example:5061;x=y", "[2001:db8::1]:5060", "10.0.0.1:5060"];
  expect(entered.map(hostOf)).toEqual(["trunk.example", "trunk.example", "[2001:db8::1]", "10.0.0.1"]);
});

const answer = (status: number, realm: string | null = null): AnsweredProbe => ({
  kind: "answered",
  status,
  reason: "Said",
  realm,
  software: null,
  ...TCP,
});

it("takes most answers to OPTIONS as a sign that the trunk can be reached", () => {
  const kinds = [200, 401, 404, 405, 407, 480, 501].map((status) => optionsFinding(answer(status)));
  expect(kinds).toEqual(kinds.map(() => null));
  for (const status of [302, 403, 408, 500, 503]) {
    expect(optionsFinding(answer(status))).toMatchObject({ severity: "warning" });
  }
});

it("says what a registrar finds wrong", () => {
  const asked = { username: "1000", proxy: "pbx.example", lastSaid: null };
  const found = (status: number, realm: string | null = null) => {
    const { severity = null, field = null } = registerFinding(answer(status, realm), asked) ?? {};
    return [severity, field];
  };
  expect([200, 302, 403, 404, 405, 400, 500].map((status) => found(status))).toEqual([
    [null, null],
    ["error", "proxy"],
    ["error", "username"],
    ["error", "username"],
    ["error", "proxy"],
    ["warning", null],
    ["warning", null],
  ]);
  expect([found(401), found(401, "pbx"), found(407, "pbx")]).toEqual([
    ["error", "proxy"],
    ["error", "password"],
    ["error", "password"],
  ]);
});
