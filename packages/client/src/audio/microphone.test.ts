import { describe, expect, it } from "vitest";
import { CallError } from "../call/call-error.ts";
import { microphoneError } from "./microphone.ts";

describe("a refused microphone", () => {
  it.each([
    ["NotAllowedError", "microphone_denied"],
    ["SecurityError", "microphone_denied"],
    ["NotFoundError", "no_microphone"],
    ["OverconstrainedError", "no_microphone"],
    ["NotReadableError", "microphone_failed"],
    ["AbortError", "microphone_failed"],
  ])("%s is %s", (name, code) => {
    const cause = new DOMException("as the browser says", name);
    expect(microphoneError(cause)).toMatchObject({ name: "CallError", code, cause });
  });

  it("is left as it is when it is explained already, and is taken whatever it is", () => {
    const known = new CallError("unsupported", "no https");
    expect(microphoneError(known)).toBe(known);
    expect(microphoneError("odd")).toMatchObject({ code: "microphone_failed" });
  });
});
