import { expect, it } from "vitest";
import { listenError } from "./reserve-port.ts";

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

it.each([
  ["EADDRINUSE", 8080, "Another program listens on port 8080 of h. Choose another port: PORT=8081 npm start"],
  ["EADDRINUSE", 65_535, "PORT=65534 npm start"],
  ["EACCES", 80, "PORT (80) may not be used by this user. Choose one from 1024 on: PORT=8080 npm start"],
  ["ENOTFOUND", 8080, "HOST (h) is not an address of this machine (ENOTFOUND)."],
])("says what to do about %s", (code, port, sentence) => {
  expect(listenError(failure(code), { host: "h", port })).toMatchObject({
    name: "ConfigError",
    message: expect.stringContaining(sentence),
  });
});

it("leaves every other error as it is", () => {
  const error = failure("EMFILE");
  expect(listenError(error, { host: "h", port: 1 })).toBe(error);
});
