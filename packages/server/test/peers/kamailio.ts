/**
 * kamailio as a trunk: registrar and proxy that stays on the way (Record-Route), with digest, over UDP, TCP and TLS on
 * the loopback address. Debian's packages are `kamailio` and `kamailio-tls-modules`.
 */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/transports/sip/testing/free-port.ts";
import type { MadeCertificate } from "./certificates.ts";
import { patiently } from "./patiently.ts";

const ADDRESS = "127.0.0.1";
const TLS_MODULE = "/usr/lib/*/kamailio/modules/tls.so";
export const HAS_KAMAILIO =
  spawnSync("kamailio", ["-v"]).error === undefined && globSync(TLS_MODULE).length > 0;

const END_LIMIT_MS = 5_000;

export interface KamailioOptions {
  /** The account that registers and that calls out with a password. */
  readonly account: { readonly username: string; readonly password: string };
  readonly certificate: MadeCertificate;
  readonly authorityFile: string;
  /** UDP ports on the loopback address, by the called user. */
  readonly phones: ReadonlyMap<string, number>;
}

export class Kamailio {
  /** Of UDP and TCP. */
  readonly port: number;
  readonly tlsPort: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #log = "";

  constructor(folder: string, port: number) {
    this.port = port;
    this.tlsPort = port + 1;
    this.#folder = folder;
    // In the foreground, with its messages on the standard error output.
    const args = ["-DD", "-E", "-f", join(folder, "kamailio.cfg"), "-w", folder, "-Y", folder, "-m", "64"];
    this.#child = spawn("kamailio", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    this.#child.stderr?.on("data", (bytes: Buffer) => (this.#log += bytes.toString("utf8")));
  }

  get log(): string {
    return this.#log;
  }

  async ready(): Promise<void> {
    for (const port of [this.port, this.tlsPort]) {
      const isOpen = await patiently(async () => {
        if (this.#child.exitCode !== null) return false;
        const socket = connect(port, ADDRESS);
        await once(socket, "connect");
        socket.destroy();
        return true;
      });
      if (!isOpen) throw new Error(`kamailio has ended: ${this.#log}`);
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      const kill = setTimeout(() => this.#child.kill("SIGKILL"), END_LIMIT_MS);
      this.#child.kill("SIGTERM");
      await ended;
      clearTimeout(kill);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function startKamailio(options: KamailioOptions): Promise<Kamailio> {
  const folder = await mkdtemp(join(tmpdir(), "parley-kamailio-"));
  const port = await freePort();
  await writeFile(join(folder, "kamailio.cfg"), configOf(options, port));
  const started = new Kamailio(folder, port);
  try {
    await started.ready();
  } catch (error) {
    await started.close();
    throw error;
  }
  return started;
}

function configOf({ account, certificate, authorityFile, phones }: KamailioOptions, port: number): string {
  const modules = [
    "tm",
    "sl",
    "rr",
    "pv",
    "maxfwd",
    "usrloc",
    "registrar",
    "textops",
    "siputils",
    "auth",
    "tls",
  ];
  const routes = [...phones].map(
    ([user, at]) => `if ($rU == "${user}") { $du = "sip:${ADDRESS}:${String(at)}"; route(RELAY); }`,
  );
  return `#!KAMAILIO
debug=1
log_stderror=yes
children=1
tcp_children=1
auto_aliases=no
alias="localhost"
enable_tls=yes
tcp_accept_no_cl=yes
listen=udp:${ADDRESS}:${String(port)}
listen=tcp:${ADDRESS}:${String(port)}
listen=tls:${ADDRESS}:${String(port + 1)}
${modules.map((name) => `loadmodule "${name}.so"`).join("\n")}
modparam("tls", "tls_method", "TLSv1.2+")
modparam("tls", "certificate", "${certificate.certificateFile}")
modparam("tls", "private_key", "${certificate.keyFile}")
modparam("tls", "ca_list", "${authorityFile}")
modparam("rr", "enable_double_rr", 1)
modparam("usrloc", "db_mode", 0)

request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) route(RELAY); exit; }
  if (has_totag()) {
    if (loose_route()) route(RELAY);
    if (is_method("ACK") && t_check_trans()) route(RELAY);
    if (!is_method("ACK")) sl_send_reply("404", "Not Here");
    exit;
  }
  t_check_trans();
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("$td", "${account.password}", "0")) { www_challenge("$td", "1"); exit; }
    if ($au != "${account.username}") { sl_send_reply("403", "Forbidden"); exit; }
    save("location");
    exit;
  }
  if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  # What calls in the name of the account proves that it is the account.
  if ($fU == "${account.username}") {
    if (!pv_proxy_authenticate("$fd", "${account.password}", "0")) { proxy_challenge("$fd", "1"); exit; }
    consume_credentials();
  }
  remove_hf("Route");
  record_route();
  ${routes.join("\n  ")}
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  route(RELAY);
}

route[RELAY] {
  if (!t_relay()) sl_reply_error();
  exit;
}
`;
}
