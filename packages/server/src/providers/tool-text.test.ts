import { describe, expect, it, test } from "vitest";
import { namesSecret, resultWithoutSecrets, sentForms, withoutScheme } from "./tool-text.ts";

test.each([
  ["Authorization", true],
  ["X-Api-Key", true],
  ["X-Key", true],
  ["apikey", true],
  ["X-Auth", true],
  ["X-Auth-Token", true],
  ["Cookie", true],
  ["X-Client-Secret", true],
  ["X-Tenant", false],
  ["X-Want", false],
  ["X-Keyword", false],
  ["X-Author", false],
  ["Accept-Language", false],
])("whether %s is the name of a secret: %s", (name, is) => {
  expect(namesSecret(name)).toBe(is);
});

test.each([
  ["Bearer key-1", ["Bearer key-1", "key-1"]],
  ["basic dTpw", ["basic dTpw", "dTpw"]],
  ["Token key-1", ["Token key-1", "key-1"]],
  ["Hotel Bellevue", ["Hotel Bellevue"]],
  ["key-1", ["key-1"]],
])("what there is to hide of %s", (value, parts) => {
  expect(withoutScheme(value)).toEqual(parts);
});

describe("a secret in a good result", () => {
  it.each([
    ["a text", "your key is 12345678.", "your key is [secret]."],
    ["texts of JSON", '{"12345678":["12345678"]}', '{"[secret]":["[secret]"]}'],
    ["beside an escaped quote", '{"a":"\\"12345678\\"","b":1}', '{"a":"\\"[secret]\\"","b":1}'],
  ])("is hidden in %s", (_where, text, shown) => {
    expect(resultWithoutSecrets(text, ["12345678"])).toBe(shown);
  });

  it.each([
    ["an object", '{"room":12345678,"by":-1.12345678e9}'],
    ["a list", '["12", 9123456780, "{"]'],
    ["lines of JSON", '{"room":12345678}\n{"room":112345678}\n'],
  ])("leaves the numbers of %s as they are", (_what, text) => {
    expect(resultWithoutSecrets(text, ["12345678"])).toBe(text);
  });

  it("is found as it stands in JSON and in a URL", () => {
    const secrets = sentForms(['pass"word/1']);
    expect(resultWithoutSecrets(JSON.stringify(['pass"word/1', "pass%22word%2F1"]), secrets)).toBe(
      '["[secret]","[secret]"]',
    );
  });

  it("is nothing shorter than eight characters", () => {
    expect(resultWithoutSecrets("1234567", ["1234567"])).toBe("1234567");
  });
});
