import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type Config, loadConfig } from "../config.ts";
import { embeddedDatabaseDir, RESTORE_MARK } from "../store/data-dir.ts";
import { readEmbeddedRotation } from "../store/embedded-rotation.ts";
import { lockDataDir } from "../store/lock-file.ts";
import { KEY_FILE, newKeyFile } from "../store/secrets-key.ts";
import { VERSION } from "../version.ts";
import { type BackupManifest, readBackup, writeBackup } from "./backup-file.ts";
import { type Command, CommandError, type CommandInput } from "./command.ts";
import { requireDatabase } from "./store.ts";

const NODE_ID = "node-id";
const RECORDINGS = "recordings";

function embeddedConfig({ env }: CommandInput, instead: string): Config {
  const config = loadConfig(env);
  if (config.databaseUrl === null) return config;
  throw new CommandError(`This is for the embedded database; DATABASE_URL names PostgreSQL: ${instead}.`);
}

function sizeOf(files: Readonly<Record<string, { readonly bytes: number }>>): string {
  const total = Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0);
  return `${Object.keys(files).length} files of ${(total / 1024 / 1024).toFixed(1)} MiB`;
}

const backup: Command = {
  words: ["backup"],
  summary: "Copies the embedded database and its key into one file",
  arguments: [{ name: "FILE", description: "such as parley.tar.gz; must not be there yet" }],
  options: {
    recordings: { value: null, description: "copies the recordings of calls as well" },
    "without-key": { value: null, description: `leaves the file ${KEY_FILE} out` },
  },
  details: [
    "The service must not run: a copy of a database that is written to is none. The copy can be made again at any time, " +
      "and only its owner can read it.",
    `With ${KEY_FILE} inside, the file opens every secret that is stored, so keep it like a key. Without it, or where ` +
      "SECRETS_KEY is set, keep the key elsewhere: nobody can make it again.",
    "With DATABASE_URL use the tools of PostgreSQL, such as pg_dump.",
  ],
  run: async (input) => {
    const config = embeddedConfig(input, "use pg_dump, and copy the folder of recordings");
    requireDatabase(config);
    const path = resolve(input.arguments[0] ?? "");
    const lock = await lockDataDir(config.dataDir);
    try {
      await refuseRotation(config.dataDir);
      const names = [
        basename(embeddedDatabaseDir(config.dataDir)),
        NODE_ID,
        ...(input.options["without-key"] === true ? [] : [KEY_FILE]),
        ...(input.options["recordings"] === true ? [RECORDINGS] : []),
      ];
      const { files } = await writeBackup(path, config.dataDir, names, VERSION);
      input.print(`${path}: ${sizeOf(files)}`);
      if (files[KEY_FILE] === undefined) {
        input.note("The key is not in it; without SECRETS_KEY the secrets in this backup cannot be opened.");
      }
    } finally {
      await lock.release();
    }
  },
};

/** The copy would be sealed under two keys and hold at most one of them. */
async function refuseRotation(dataDir: string): Promise<void> {
  if (!existsSync(newKeyFile(dataDir)) && (await readEmbeddedRotation(dataDir)) === null) return;
  throw new CommandError(
    "A change of SECRETS_KEY is unfinished: give parley secrets rotate again with the same keys, and make the backup then.",
  );
}

const restore: Command = {
  words: ["restore"],
  summary: "Brings a backup into an empty DATA_DIR",
  arguments: [{ name: "FILE", description: "that parley backup has written" }],
  options: { check: { value: null, description: "only checks the file, and changes nothing" } },
  details: [
    "Every file is checked against the checksum that was taken when the backup was made; only when all are right do they " +
      "go to their places. A DATA_DIR that holds a database, a key or recordings is left as it is.",
    "When it is interrupted, no service starts on this DATA_DIR until the same command has been given again and is done.",
    "A backup of an older version is fine: the next start brings it to the present form.",
  ],
  run: async (input) => {
    const path = resolve(input.arguments[0] ?? "");
    if (input.options["check"] === true) {
      const { files, created } = await readBackup(path, null);
      input.print(`${path} of ${created} is whole: ${sizeOf(files)}`);
      return;
    }
    const { dataDir } = embeddedConfig(input, "restore with pg_restore");
    await mkdir(dataDir, { recursive: true });
    await refuseContent(dataDir);
    const lock = await lockDataDir(dataDir);
    const aside = join(dataDir, `restore-${randomUUID()}.tmp`);
    try {
      await refuseContent(dataDir);
      const { files, created } = await unpackInto(dataDir, path, aside);
      await moveInto(aside, dataDir);
      input.print(`The backup of ${created} is in ${resolve(dataDir)}: ${sizeOf(files)}`);
      if (files[KEY_FILE] === undefined) {
        input.note(
          `The backup has no key: set SECRETS_KEY, or put ${KEY_FILE} into DATA_DIR, before you start.`,
        );
      }
    } finally {
      await rm(aside, { recursive: true, force: true });
      await lock.release();
    }
  },
};

/** Locks, the socket of commands, and what an interrupted restore left are no content. */
const NO_CONTENT = /^(?:lock[.-].*|admin|restore-.*\.tmp|restore\.incomplete)$/;
const PARTS: readonly string[] = [NODE_ID, KEY_FILE, RECORDINGS, basename(embeddedDatabaseDir("."))];

async function refuseContent(dataDir: string): Promise<void> {
  const halfDone = await partsUnderWay(dataDir);
  const content = (await readdir(dataDir)).filter(
    (name) => !NO_CONTENT.test(name) && !halfDone.includes(name),
  );
  if (content.length === 0) return;
  throw new CommandError(
    `${resolve(dataDir)} is not empty (${content.slice(0, 3).join(", ")}); set DATA_DIR to an empty folder.`,
  );
}

/** What an interrupted restore may have put into its place. */
async function partsUnderWay(dataDir: string): Promise<readonly string[]> {
  const mark = join(dataDir, RESTORE_MARK);
  if (!existsSync(mark)) return [];
  return (await readFile(mark, "utf8")).split("\n").filter((name) => PARTS.includes(name));
}

/** From here on no service starts; a backup that is not whole takes that back when nothing was moved before. */
async function unpackInto(dataDir: string, path: string, aside: string): Promise<BackupManifest> {
  const mark = join(dataDir, RESTORE_MARK);
  const isRepeated = existsSync(mark);
  if (!isRepeated) await writeFile(mark, "", { flush: true });
  for (const name of await readdir(dataDir)) {
    if (/^restore-.*\.tmp$/.test(name)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  try {
    await mkdir(aside, { mode: 0o700 });
    const manifest = await readBackup(path, aside);
    const strange = (await readdir(aside)).find((name) => !PARTS.includes(name));
    if (strange === undefined) return manifest;
    throw new CommandError(`The backup holds ${strange}, which is no part of one.`);
  } catch (error) {
    if (!isRepeated) await rm(mark);
    throw error;
  }
}

/** What an earlier attempt has put there goes; the mark names what comes, and goes last. */
async function moveInto(aside: string, dataDir: string): Promise<void> {
  const mark = join(dataDir, RESTORE_MARK);
  for (const name of await partsUnderWay(dataDir)) {
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
  const names = await readdir(aside);
  await writeFile(mark, names.map((name) => `${name}\n`).join(""), { flush: true });
  for (const name of names) await rename(join(aside, name), join(dataDir, name));
  await rm(mark);
}

export const backupCommands: readonly Command[] = [backup, restore];
