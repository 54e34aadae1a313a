/** Certificates for peers over TLS, made by `openssl` for one run of a test. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const HAS_OPENSSL = spawnSync("openssl", ["version"]).error === undefined;

export interface MadeCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Both in one file, as some programs want it. */
  readonly bothFile: string;
}

export interface TestAuthority {
  readonly authorityFile: string;
  /** @param names such as `DNS:localhost` and `IP:127.0.0.1` */
  issue(name: string, names: readonly string[]): MadeCertificate;
  remove(): void;
}

const DAYS = "2";
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export function makeAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), "parley-certificates-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  };
  const subject = ["-subj", "/CN=Test authority"];
  openssl("req", "-x509", ...NEW_KEY, "-days", DAYS, ...subject, "-keyout", "ca.key", "-out", "ca.pem");
  return {
    authorityFile: at("ca.pem"),
    issue: (name, names) => {
      openssl(
        "req",
        "-new",
        ...NEW_KEY,
        "-subj",
        `/CN=${name}`,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
      );
      writeFileSync(at(`${name}.ext`), `subjectAltName=${names.join(",")}\n`);
      const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", DAYS];
      const files = ["-in", `${name}.csr`, "-extfile", `${name}.ext`, "-out", `${name}.pem`];
      openssl("x509", "-req", ...signed, ...files);
      const parts = [`${name}.pem`, `${name}.key`].map((file) => readFileSync(at(file)));
      writeFileSync(at(`${name}.both`), Buffer.concat(parts));
      return { certificateFile: at(`${name}.pem`), keyFile: at(`${name}.key`), bothFile: at(`${name}.both`) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
