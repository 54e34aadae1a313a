import { expect, test } from "vitest";
import { actorOf, operationWords } from "./audit-words.ts";

test("operations are read as words", () => {
  expect(operationWords("updateApiKey")).toBe("Update API key");
  expect(operationWords("setTtsApiKeys")).toBe("Set tts API keys");
  expect(operationWords("updateSipConfig")).toBe("Update SIP config");
  expect(operationWords("refundCall")).toBe("Refund call");
});

test("changes without a key name where they came from", () => {
  expect(actorOf({ via: "api", keyName: "ci", keyPrefix: "Abcdefgh" })).toEqual({
    name: "ci",
    prefix: "Abcdefgh",
  });
  expect(actorOf({ via: "command_line", keyName: null, keyPrefix: null }).name).toBe("Command line");
  expect(actorOf({ via: "start", keyName: null, keyPrefix: null }).name).toBe("Service start");
});
