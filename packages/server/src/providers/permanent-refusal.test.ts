import { expect, it } from "vitest";
import { isPermanentRefusal } from "./permanent-refusal.ts";

const error = { message: "The model `small` does not exist", type: "invalid_request_error" };

it.each([
  [400, { error: { ...error, code: "model_not_found" } }],
  [422, { error: { ...error, code: "model_decommissioned" } }],
  [400, { error: { ...error, code: null, param: "model" } }],
  [400, { object: "error", message: "Invalid model: small", type: "invalid_model", code: "1500" }],
  [400, { error: { code: "unknown_model", message: "Unknown model: small" } }],
  [422, { detail: [{ type: "enum", loc: ["body", "model"], msg: "Input should be 'large'" }] }],
  [404, { error }],
  [400, { error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } }],
  [401, "not JSON"],
])("HTTP %i with %j is permanent", (status, body) => {
  expect(isPermanentRefusal(status, typeof body === "string" ? body : JSON.stringify(body))).toBe(true);
});

it.each([
  // Only the words say it.
  [400, { error }],
  [400, { error: { ...error, code: 400, param: null } }],
  [400, { error: { code: 400, details: [{ reason: "OTHER" }, "API_KEY_INVALID"] } }],
  [400, { error: { code: 400, details: [{ reason: "OTHER" }] } }],
  [400, { error: { code: "context_length_exceeded", param: "messages" } }],
  [422, { detail: [{ type: "missing", loc: ["body", "model", "input"], msg: "Field required" }] }],
  [422, { detail: "the model does not exist" }],
  // A server that begins or ends may say so for a moment.
  [500, { error: { code: "model_not_found" } }],
  [503, { error: { code: "model_not_found" } }],
  [400, "<html>model_not_found</html>"],
  [400, "[]"],
  [400, "null"],
])("HTTP %i with %j may help to repeat", (status, body) => {
  expect(isPermanentRefusal(status, typeof body === "string" ? body : JSON.stringify(body))).toBe(false);
});

it("says no where the body of such a status could not be read", () => {
  expect(isPermanentRefusal(400, null)).toBe(false);
  expect(isPermanentRefusal(404, null)).toBe(true);
});
