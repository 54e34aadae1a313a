import { describe, expect, it } from "vitest";
import { isSideThreadId } from "./data-messages.ts";
import { parseSendToThread } from "./send-to-thread.ts";

const read = (document: unknown) => parseSendToThread(JSON.stringify(document));

describe("a document that sends to a thread", () => {
  it("has a text for the calling thread and a data message, in either spelling", () => {
    const dataMessage = { type: "user_text_message", text: "Done", thread_id: "_PARENT" };
    const message = { type: "user_text_message", text: "Done", urgency: "soon", threadId: "_PARENT" };
    expect(read({ callingThreadResultText: "Sent", dataMessage })).toEqual({
      ok: true,
      resultText: "Sent",
      message,
    });
    const snakeCase = { calling_thread_result_text: "Sent", data_message: dataMessage };
    expect(read(snakeCase)).toMatchObject({ resultText: "Sent", message });
  });

  it("needs no text", () => {
    const dataMessage = { type: "spawn_thread", newThreadId: "research" };
    expect(read({ dataMessage })).toMatchObject({
      ok: true,
      resultText: "OK",
      message: { newThreadId: "research", parentThreadId: "UI", ifExists: "reject" },
    });
  });

  it.each([
    ["not JSON", "{", "not JSON"],
    ["no object", "[]", "must be an object"],
    ["no message", "{}", "dataMessage is required"],
    ["a message without type", '{"dataMessage":{}}', "dataMessage: type is required"],
    ["an unknown message", '{"dataMessage":{"type":"dance"}}', 'dataMessage: unknown type "dance"'],
    [
      "a message for no thread",
      '{"dataMessage":{"type":"hang_up"}}',
      "dataMessage: hang_up is for no thread",
    ],
    [
      "a bad field",
      '{"dataMessage":{"type":"user_text_message"}}',
      "dataMessage: user_text_message: text is required",
    ],
  ])("is refused with %s", (_what, text, detail) => {
    expect(parseSendToThread(text)).toEqual({ ok: false, detail });
  });
});

it.each([
  ["a", true],
  ["research-2_B", true],
  ["x".repeat(64), true],
  ["x".repeat(65), false],
  ["", false],
  ["UI", false],
  ["_PARENT", false],
  ["a b", false],
  ["ä", false],
  ["a\n", false],
])("the id %j of a side thread: %s", (id, allowed) => {
  expect(isSideThreadId(id)).toBe(allowed);
});
