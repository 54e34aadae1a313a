import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  ed25519Key,
  isSignedByPlivo,
  isSignedByTelnyx,
  isSignedByTwilio,
  plivoSignature,
  twilioSignature,
} from "./signatures.ts";

describe("Twilio", () => {
  // The example of the carrier's documentation.
  const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
  const params = [
    ["To", "+18005551212"],
    ["CallSid", "CA1234567890ABCDE"],
    ["Caller", "+12349013030"],
    ["Digits", "1234"],
    ["From", "+12349013030"],
  ] as const;
  const signature = "0/KCTR6DLpKmkAf8muzZqo1nDgQ=";
  const body = new Uint8Array();

  test("signs the documented example", () => {
    expect(twilioSignature("12345", url, params)).toBe(signature);
    expect(isSignedByTwilio("12345", signature, { url, params, body })).toBe(true);
  });

  test.each([
    ["another token", "12346", signature, url, params],
    ["no token", "", twilioSignature("", url, params), url, params],
    ["another URL", "12345", signature, `${url}3`, params],
    ["another value", "12345", signature, url, [...params.slice(1), ["To", "+18005551213"] as const]],
    ["a further field", "12345", signature, url, [...params, ["A", "b"] as const]],
    ["no signature", "12345", "", url, params],
    ["a shorter signature", "12345", signature.slice(0, -1), url, params],
  ])("refuses %s", (_case, token, given, at, form) => {
    expect(isSignedByTwilio(token, given, { url: at, params: form, body })).toBe(false);
  });

  test("takes the URL with and without the usual port", () => {
    const withPort = "https://mycompany.com:443/myapp.php?foo=1&bar=2";
    const signed = twilioSignature("12345", withPort, params);
    expect(isSignedByTwilio("12345", signed, { url, params, body })).toBe(true);
    expect(isSignedByTwilio("12345", signature, { url: withPort, params, body })).toBe(true);
    const odd = "https://mycompany.com:8443/myapp.php";
    expect(isSignedByTwilio("12345", twilioSignature("12345", odd, []), { url: odd, params: [], body })).toBe(
      true,
    );
  });

  test("signs repeated fields once for each value, in order", () => {
    const twice = [
      ["a", "2"],
      ["a", "1"],
      ["a", "2"],
    ] as const;
    expect(twilioSignature("k", "https://x.example", twice)).toBe(
      twilioSignature("k", "https://x.example", [["a", "1a2"]]),
    );
  });

  test("compares the hash of a body that is no form", () => {
    const json = Buffer.from('{"property":"value"}');
    const hash = createHash("sha256").update(json).digest("hex");
    const hashed = `https://x.example/y?bodySHA256=${hash}`;
    const signed = twilioSignature("k", hashed, []);
    expect(isSignedByTwilio("k", signed, { url: hashed, params: null, body: json })).toBe(true);
    expect(isSignedByTwilio("k", signed, { url: hashed, params: null, body: Buffer.from("{}") })).toBe(false);
    const bare = "https://x.example/y";
    const unhashed = twilioSignature("k", bare, []);
    expect(isSignedByTwilio("k", unhashed, { url: bare, params: null, body: json })).toBe(false);
  });
});

describe("Telnyx", () => {
  // Test 3 of RFC 8032 has no bar in its message, so only its key is taken from there.
  const rfcKey = Buffer.from("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "hex");

  test("reads keys of 32 bytes in base64 only", () => {
    expect(ed25519Key(rfcKey.toString("base64"))?.asymmetricKeyType).toBe("ed25519");
    for (const wrong of [
      "",
      "x",
      rfcKey.toString("hex"),
      rfcKey.subarray(1).toString("base64"),
      "-----BEGIN",
    ]) {
      expect(ed25519Key(wrong)).toBeNull();
    }
  });

  test("refuses what is no signature", () => {
    const key = rfcKey.toString("base64");
    const body = Buffer.from("a=1");
    for (const signature of [
      "",
      "AAAA",
      Buffer.alloc(64).toString("base64"),
      Buffer.alloc(65).toString("base64"),
    ]) {
      expect(isSignedByTelnyx(key, { signature, timestamp: "1760000000" }, body, 1_760_000_000_000)).toBe(
        false,
      );
    }
    const signature = Buffer.alloc(64).toString("base64");
    for (const timestamp of ["", "1e9", "-1", "17600000000000"]) {
      expect(isSignedByTelnyx(key, { signature, timestamp }, body, 1_760_000_000_000)).toBe(false);
    }
  });
});

describe("Plivo", () => {
  const nonce = "12345";
  const signed = (url: string, params: readonly (readonly [string, string])[] = []) =>
    plivoSignature("token", url, params, nonce);

  // The four forms of a POST: what is signed is compared as its GET-like equivalent without parameters.
  test.each([
    ["nothing", "https://x.example/a", [], "https://x.example/a"],
    ["a query", "https://x.example/a?b=2&a=1", [], "https://x.example/a?a=1&b=2"],
    ["repeated names", "https://x.example/a?a=2&a=1", [], "https://x.example/a?a=1&a=2"],
  ] as const)("signs %s", (_case, url, params, same) => {
    expect(signed(url, params)).toBe(signed(same, params));
  });

  test("keeps the question mark of a form without a query, and a dot after a query", () => {
    const form = [
      ["To", "2"],
      ["From", "1"],
    ] as const;
    const ordered = form.toReversed();
    expect(signed("https://x.example/a", form)).toBe(signed("https://x.example/a", ordered));
    expect(signed("https://x.example/a", form)).not.toBe(signed("https://x.example/a?From=1&To=2"));
    expect(signed("https://x.example/a?q=1", form)).toBe(signed("https://x.example/a?q=1", ordered));
    expect(signed("https://x.example/a?q=1", form)).not.toBe(signed("https://x.example/a", form));
  });

  test("takes any of several signatures, and no other", () => {
    const url = "https://x.example/a";
    const signatures = `bm8=, ${signed(url)}`;
    expect(isSignedByPlivo("token", { signatures, nonce }, url, [])).toBe(true);
    expect(isSignedByPlivo("token", { signatures: "bm8=", nonce }, url, [])).toBe(false);
    expect(isSignedByPlivo("token", { signatures, nonce: "" }, url, [])).toBe(false);
    expect(isSignedByPlivo("", { signatures: plivoSignature("", url, [], nonce), nonce }, url, [])).toBe(
      false,
    );
    expect(isSignedByPlivo("token", { signatures, nonce }, "no url", [])).toBe(false);
  });
});
