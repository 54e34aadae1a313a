/**
 * baresip as a phone: recorded speech is its microphone, and what it hears is written to a WAV file. Debian's package is
 * `baresip-core`. It is controlled over `ctrl_tcp`, on the loopback address.
 */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavFile, wavSamples } from "./wav-file.ts";
import { freePort } from "../../src/transports/sip/testing/free-port.ts";
import { NetStringReader, netString } from "./net-string.ts";
import { patiently } from "./patiently.ts";

const MODULES = "/usr/lib/baresip/modules";
const ADDRESS = "127.0.0.1";
export const HAS_BARESIP = spawnSync("baresip", ["-h"]).error === undefined;

/** After the speech the microphone is silent; the end of the file would end the call. */
const SILENCE_AFTER_S = 120;
const END_LIMIT_MS = 5_000;

export interface BaresipOptions {
  /** Microphone: 16 kHz. */
  readonly speech: Int16Array;
  /** Modules of the codecs, such as `g722`; the first one is preferred. */
  readonly codecs: readonly string[];
  /** Parameters of its account, such as `mediaenc=srtp-mand`. */
  readonly account?: string;
  /** User and host of its address of record. Default: `phone` at its own address. */
  readonly user?: string;
  readonly host?: string;
  /** Files with PEM: a certificate with its key, and the authorities that it trusts. */
  readonly tls?: { readonly certificateFile: string; readonly authorityFile: string };
}

/** A report: `CALL_ESTABLISHED`, `REGISTER_OK` and others. */
export interface BaresipEvent {
  readonly type: string;
  readonly param?: string;
}

/** What `ctrl_tcp` writes. */
interface Written extends BaresipEvent {
  readonly event?: boolean;
  readonly response?: boolean;
  readonly token?: string;
  readonly ok?: boolean;
  readonly data?: string;
}

export class Baresip {
  readonly events: BaresipEvent[] = [];
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #answers = new Map<string, (written: Written) => void>();
  #control: Socket | null = null;
  #log = "";
  #tokens = 0;

  constructor(folder: string, port: number) {
    this.port = port;
    this.#folder = folder;
    this.#child = spawn("baresip", ["-f", folder], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (bytes: Buffer) => (this.#log += bytes.toString("utf8")));
    }
  }

  /** Its own messages, for the explanation of a failure. */
  get log(): string {
    return this.#log;
  }

  async connect(port: number): Promise<void> {
    const control = await patiently(async () => {
      // Nothing is gained by waiting for a program that has ended.
      if (this.#child.exitCode !== null) return null;
      const socket = connect(port, ADDRESS);
      await once(socket, "connect");
      return socket;
    });
    if (control === null) throw new Error(`baresip has ended: ${this.#log}`);
    const reader = new NetStringReader((text) => this.#read(JSON.parse(text) as Written));
    control.on("data", (bytes) => reader.push(bytes));
    control.on("error", () => undefined);
    this.#control = control;
  }

  /** A command, with what it writes. @throws when baresip refuses it */
  async command(name: string, params = ""): Promise<string> {
    const token = String((this.#tokens += 1));
    const answered = new Promise<Written>((resolve) => this.#answers.set(token, resolve));
    this.#control?.write(netString(JSON.stringify({ command: name, params, token })));
    const { ok, data = "" } = await answered;
    if (ok !== true) throw new Error(`${name} ${params}: ${data}\n${this.#log}`);
    return data;
  }

  /** Waits for the n-th report of this type. */
  async reported(type: string, count = 1): Promise<BaresipEvent> {
    return patiently(() => {
      const found = this.events.filter((event) => event.type === type)[count - 1];
      if (found === undefined) {
        throw new Error(`no ${type}: ${JSON.stringify(this.events)}\n${this.#log}`);
      }
      return found;
    });
  }

  /** What the last call has heard; after its end. */
  async heard(): Promise<{ readonly samples: Int16Array; readonly rateHz: number }> {
    return patiently(async () => {
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith("-dec.wav")).toSorted();
      const last = names.at(-1);
      if (last === undefined) throw new Error("nothing was written");
      return wavSamples(join(this.#folder, last));
    });
  }

  async close(): Promise<void> {
    this.#control?.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      const kill = setTimeout(() => this.#child.kill("SIGKILL"), END_LIMIT_MS);
      this.#child.kill("SIGTERM");
      await ended;
      clearTimeout(kill);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  #read(written: Written): void {
    if (written.event === true) this.events.push(written);
    else if (written.token !== undefined) this.#answers.get(written.token)?.(written);
  }
}

export async function startBaresip(options: BaresipOptions): Promise<Baresip> {
  const folder = await mkdtemp(join(tmpdir(), "parley-baresip-"));
  const [port, control] = [await freePort(), await freePort()];
  const speech = join(folder, "speech.wav");
  const silence = new Int16Array(SILENCE_AFTER_S * 16_000);
  await mkdir(folder, { recursive: true });
  await writeFile(speech, wavFile([options.speech, silence], 16_000));
  await writeFile(join(folder, "config"), configOf(options, { port, control, speech, folder }));
  await writeFile(join(folder, "accounts"), `${accountOf(options, port)}\n`);
  await writeFile(join(folder, "contacts"), "");
  const phone = new Baresip(folder, port);
  try {
    await phone.connect(control);
  } catch (error) {
    await phone.close();
    throw error;
  }
  return phone;
}

function accountOf({ user = "phone", host, account }: BaresipOptions, port: number): string {
  const own = host ?? `${ADDRESS}:${String(port)}`;
  return `<sip:${user}@${own}>;regint=0;answermode=manual${account === undefined ? "" : `;${account}`}`;
}

function configOf(
  { codecs, tls }: BaresipOptions,
  own: { readonly port: number; readonly control: number; readonly speech: string; readonly folder: string },
): string {
  const modules = [...codecs, "sndfile", "aufile", "aubridge", "srtp"];
  return [
    "poll_method epoll",
    `sip_listen ${ADDRESS}:${String(own.port)}`,
    ...(tls === undefined
      ? []
      : [`sip_certificate ${tls.certificateFile}`, `sip_cafile ${tls.authorityFile}`]),
    "call_local_timeout 120",
    "call_max_calls 4",
    "audio_player aubridge,none",
    `audio_source aufile,${own.speech}`,
    "audio_alert aubridge,alert",
    "ausrc_srate 16000",
    "ausrc_channels 1",
    "auplay_srate 16000",
    "auplay_channels 1",
    `net_interface ${ADDRESS}`,
    "rtcp_mux no",
    "jitter_buffer_delay 2-10",
    `snd_path ${own.folder}`,
    `ctrl_tcp_listen ${ADDRESS}:${String(own.control)}`,
    `module_path ${MODULES}`,
    ...modules.map((name) => `module ${name}.so`),
    ...["uuid", "account"].map((name) => `module_tmp ${name}.so`),
    ...["contact", "menu", "ctrl_tcp"].map((name) => `module_app ${name}.so`),
    "",
  ].join("\n");
}
