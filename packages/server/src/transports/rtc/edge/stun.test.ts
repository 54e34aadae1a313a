import { assert, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { authenticatedRequest } from "./stun.ts";
import { CREDENTIALS, stunAttribute, stunRequest } from "./testing/packets.ts";

const accept = (data: Buffer) => authenticatedRequest(data, [CREDENTIALS]);

describe("a binding request", () => {
  test("with the exact name and a valid signature is accepted as it is", () => {
    const request = stunRequest();
    expect(accept(request)).toEqual(request);
  });

  test("of an earlier generation is accepted", () => {
    const newer = { ...CREDENTIALS, localUsername: "newer123", localPassword: "x" };
    expect(authenticatedRequest(stunRequest(), [newer, CREDENTIALS])).not.toBeNull();
  });

  test("loses what comes after its signature", () => {
    const request = stunRequest({ after: [stunAttribute(0x8028, Buffer.alloc(4))] });
    expect(accept(request)).toEqual(stunRequest());
    // USE-CANDIDATE, put in by somebody on the way.
    expect(accept(stunRequest({ after: [stunAttribute(0x0025, Buffer.alloc(0))] }))).toEqual(stunRequest());
  });

  test.each([
    ["with another password", stunRequest({ password: "another" })],
    ["with another user name", stunRequest({ username: "theirs12:ours1234" })],
    ["with a longer user name", stunRequest({ username: "ours1234:theirs12 " })],
    ["with two user names", stunRequest({ before: [stunAttribute(0x0006, Buffer.from("x"))] })],
    ["that is a response", stunRequest({ type: 0x0101 })],
    ["that is an indication", stunRequest({ type: 0x0011 })],
    ["without a signature", unsigned()],
    ["that is longer than it says", Buffer.concat([stunRequest(), Buffer.alloc(4)])],
    ["that is shorter than it says", stunRequest().subarray(0, -4)],
    ["of a kilobyte", stunRequest({ before: [stunAttribute(0x8022, Buffer.alloc(1000))] })],
    ["of 20 bytes", stunRequest().subarray(0, 20)],
  ])("%s is refused", (_what, data) => {
    expect(accept(data)).toBeNull();
  });

  test("that is changed anywhere before its signature's end is refused", () => {
    const request = stunRequest();
    for (let at = 0; at < request.length; at += 1) {
      const changed = Buffer.from(request);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect([at, accept(changed)]).toEqual([at, null]);
    }
  });

  test("of random bytes is refused without an error", () => {
    assert(
      property(uint8Array({ maxLength: 600 }), (bytes) => {
        expect(accept(Buffer.from(bytes))).toBeNull();
      }),
    );
  });
});

function unsigned(): Buffer {
  const request = stunRequest().subarray(0, -24);
  request.writeUInt16BE(request.length - 20, 2);
  return request;
}
