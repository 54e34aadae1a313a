import { expect, it } from "vitest";
import type { StoreOptions } from "../opening/open-database.ts";
import { openStore } from "../opening/open-store.ts";
import { StoreStartError } from "./store-errors.ts";

const options: StoreOptions = {
  dataDir: "/nowhere",
  databaseUrl: null,
  secretsKey: new Uint8Array(32),
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
};

it.each(["", "localhost", "mysql://localhost/x", "postgres//x"])(
  "says that %j is no DATABASE_URL",
  async (url) => {
    await expect(openStore({ ...options, databaseUrl: url })).rejects.toThrow(
      /^DATABASE_URL must begin with/,
    );
  },
);

it("names the server that does not answer, and keeps the password to itself", async () => {
  const databaseUrl = "postgresql://user:pass-word-1@127.0.0.1:1/parley";
  const failure = await openStore({ ...options, databaseUrl }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreStartError);
  expect(String(failure)).toMatch(/database parley on 127\.0\.0\.1 \(DATABASE_URL\) cannot be used/);
  expect(String(failure)).not.toContain("pass-word-1");
});

it("wants 32 bytes of SECRETS_KEY", async () => {
  const short = openStore({ ...options, secretsKey: new Uint8Array(31) });
  await expect(short).rejects.toThrow("SECRETS_KEY must be 32 bytes in base64.");
});
