import { describe, expect, it } from "vitest";
import type { ToolValue } from "../../ports/tool-invoker.ts";
import { toolRequest, UnusableValue, type HttpTarget } from "./tool-request.ts";

function target(fields: Partial<HttpTarget> = {}): HttpTarget {
  const own = { kind: "http", method: "POST", urlPattern: "https://a.example/t" } as const;
  return { ...own, credentials: [], callToken: null, ...fields };
}

const at = (location: ToolValue["location"], name: string, value: unknown): ToolValue => ({
  name,
  location,
  value,
});

function requestOf(values: readonly ToolValue[], fields: Partial<HttpTarget> = {}) {
  return toolRequest(target(fields), values, "inv-1");
}

describe("query parameters", () => {
  it.each([
    ["a text", "a b&c=d", "x=a+b%26c%3Dd"],
    ["a number", 4.5, "x=4.5"],
    ["a truth value", false, "x=false"],
    ["an empty text", "", "x="],
    ["other scripts", "Zürich 東", "x=Z%C3%BCrich+%E6%9D%B1"],
    ["a list", ["a", 2, null, true], "x=a&x=2&x=true"],
    ["a list with an object", [{ a: 1 }], "x=%7B%22a%22%3A1%7D"],
    ["an object", { a: [1, "b"] }, "x=%7B%22a%22%3A%5B1%2C%22b%22%5D%7D"],
    ["an empty list", [], ""],
    ["null", null, ""],
  ])("write %s", (_what, value, query) => {
    expect(requestOf([at("query", "x", value)]).url).toBe(
      `https://a.example/t${query === "" ? "" : `?${query}`}`,
    );
  });
});

describe("path parameters", () => {
  const pattern = { urlPattern: "https://a.example/users/{id}/orders/{order}" };

  it("are percent-encoded in their places", () => {
    const { url } = requestOf([at("path", "id", "a/b?c#d %é"), at("path", "order", 7)], pattern);
    expect(url).toBe("https://a.example/users/a%2Fb%3Fc%23d%20%25%C3%A9/orders/7");
  });

  it.each([
    ["missing", undefined, "the parameter id is missing"],
    ["null", null, "the parameter id is missing"],
    ["empty", "", "the parameter id is missing"],
    ["a list", ["a"], "the parameter id must be a single value"],
    ["an object", { a: 1 }, "the parameter id must be a single value"],
    ["half a character", "\ud800", "the parameter id is not a text"],
    ["the place above", "..", "a path parameter must not be . or .."],
    ["the same place", ".", "a path parameter must not be . or .."],
  ])("fail the tool when one is %s", (_what, value, message) => {
    const values = value === undefined ? [] : [at("path", "id", value)];
    expect(() => requestOf([...values, at("path", "order", 1)], pattern)).toThrow(new UnusableValue(message));
  });

  it("cannot make dots together, nor change the host", () => {
    const dots = { urlPattern: "https://a.example/x/{a}{b}/y" };
    const values = [at("path", "a", "."), at("path", "b", ".")];
    expect(() => requestOf(values, dots)).toThrow("must not be . or ..");
    const host = { urlPattern: "https://{sub}.a.example/" };
    for (const sub of ["evil.example/", "evil.example#", "u@evil.example?", "evil.example:1/"]) {
      expect(() => requestOf([at("path", "sub", sub)], host)).toThrow("the parameters make no URL");
    }
  });
});

describe("header parameters", () => {
  it.each([
    ["a text", "a b", "a b"],
    ["Latin letters", "Zürich", "Zürich"],
    ["a number", 3, "3"],
    ["a list", ["a", 1], '["a",1]'],
    ["an object in ASCII", { city: "東" }, '{"city":"\\u6771"}'],
  ])("write %s", (_what, value, text) => {
    expect(requestOf([at("header", "X-Place", value)]).headers["x-place"]).toBe(text);
  });

  it("leave null out", () => {
    expect(requestOf([at("header", "X-Place", null)]).headers).not.toHaveProperty("x-place");
  });

  it.each(["a\r\nX-Evil: 1", "a\nb", "a\0b", "東"])("refuse %j", (value) => {
    expect(() => requestOf([at("header", "X-Place", value)])).toThrow("the header X-Place cannot carry");
  });

  it.each([
    "Host",
    "content-length",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "a b",
    "x:y",
    "",
    "a\r\nb",
  ])("cannot be %j", (name) => {
    expect(() => requestOf([at("header", name, "1")])).toThrow("cannot be set");
  });

  it("are bounded together", () => {
    expect(() => requestOf([at("header", "x-long", "a".repeat(20_000))])).toThrow("the headers are too long");
  });
});

describe("the body", () => {
  it("is one JSON object with typed values", () => {
    const values = [
      at("body", "seats", 4),
      at("body", "name", "Ann"),
      at("body", "note", null),
      at("body", "__proto__", { a: 1 }),
    ];
    const { body, headers } = requestOf(values);
    expect(body).toBe('{"seats":4,"name":"Ann","note":null,"__proto__":{"a":1}}');
    expect(headers["content-type"]).toBe("application/json");
  });

  it("is not there without a value for it", () => {
    const { body, headers } = requestOf([at("query", "x", 1)]);
    expect(body).toBeNull();
    expect(headers).not.toHaveProperty("content-type");
  });

  it("is bounded", () => {
    expect(() => requestOf([at("body", "x", "a".repeat(4 * 1024 * 1024))])).toThrow("the body is too large");
  });
});

describe("what is sent besides", () => {
  const credentials = [
    { place: "query", name: "key", value: "q s" },
    { place: "header", name: "X-Api-Key", value: "h" },
    { place: "header", name: "Authorization", value: "Bearer t" },
  ] as const;

  it("are credentials, which no value replaces", () => {
    const values = [
      at("query", "key", "mine"),
      at("query", "key", "too"),
      at("header", "authorization", "mine"),
    ];
    const { url, headers } = requestOf(values, { credentials });
    expect(url).toBe("https://a.example/t?key=q+s");
    expect(headers).toMatchObject({ "x-api-key": "h", authorization: "Bearer t" });
  });

  it("are the call token and the invocation, under the names of the deployment", () => {
    const values = [at("header", "x-service-invocation-id", "mine")];
    const { headers } = requestOf(values, { callToken: "secret" });
    expect(headers).toMatchObject({ "x-service-call-token": "secret", "x-service-invocation-id": "inv-1" });
    const vendor = toolRequest(target({ callToken: "secret" }), [], "inv-1", "X-Ultravox-");
    expect(vendor.headers).toMatchObject({
      "x-ultravox-call-token": "secret",
      "x-ultravox-invocation-id": "inv-1",
    });
  });

  it("is nothing else about the call", () => {
    expect(Object.keys(requestOf([]).headers)).toEqual(["accept", "x-service-invocation-id"]);
  });
});
