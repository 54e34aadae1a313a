import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readPem } from "./pem-file.ts";

const HERE = fileURLToPath(import.meta.url);

it("reads nothing where nothing is set", async () => {
  expect(await readPem("SIP_TLS_CA_FILE", null)).toBeNull();
});

it("names the setting of a file that is not there or has no PEM", async () => {
  await expect(readPem("SIP_TLS_CA_FILE", "/nowhere/ca.pem")).rejects.toThrow(
    "SIP_TLS_CA_FILE cannot be read",
  );
  const other = HERE.replace("pem-file.test.ts", "carriers.ts");
  await expect(readPem("SIP_TLS_CA_FILE", other)).rejects.toThrow("SIP_TLS_CA_FILE must be a file with PEM");
});

it("reads a file with PEM", async () => {
  // This file has the words of its beginning: -----BEGIN CERTIFICATE-----
  expect(await readPem("SIP_TLS_CERT_FILE", HERE)).toContain("CERTIFICATE");
});
