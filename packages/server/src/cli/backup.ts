import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type Config, loadConfig } from "../config/config.ts";
import { embeddedDatabaseDir, RESTORE_MARK } from "../store/database/data-dir.ts";
import { readEmbeddedRotation } from "../store/secrets/embedded-rotation.ts";
import { lockDataDir } from "../store/database/lock-file.ts";
import { KEY_FILE, newKeyFile } from "../store/secrets/secrets-key.ts";
import { VERSION } from "../app/version.ts";
import { type BackupManifest, readBackup, writeBackup } from "./backup-file.ts";
import { type Command, CommandError, type CommandInput } from "./command.ts";
import { requireDatabase } from "./store.ts";

const NODE_ID = "node-id";
const RECORDINGS = "recordings";
/** Uploaded documents. Their text is in the database; a later reload reads the files again. */
const CORPORA = "corpora";

function embeddedConfig({ env }: CommandInput, instead: string): Config {
  const config = loadConfig(env);
  if (config.databaseUrl === null) return config;
  throw new CommandError(
    `This command is for the embedded database, but DATABASE_URL names PostgreSQL: ${instead}.`,
  );
}

function sizeOf(files: Readonly<Record<string, { readonly bytes: number }>>): string {
  const total = Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0);
  return `${Object.keys(files).length} files of ${(total / 1024 / 1024).toFixed(1)} MiB`;
}

const backup: Command = {
  words: ["backup"],
  summary: "Copies the embedded database and its key into one file",
  arguments: [{ name: "FILE", description: "such as parley.tar.gz; must not exist" }],
  options: {
    recordings: { value: null, description: "includes the recordings of calls and the documents of corpora" },
    "without-key": { value: null, description: `leaves the file ${KEY_FILE} out` },
  },
  details: [
    "The service must not run, because a copy of a database in use is not consistent. Only the owner can read the file.",
    `With ${KEY_FILE} inside, the file can decrypt every stored secret, so protect it like a key. Without it, or if ` +
      "SECRETS_KEY is set, store a copy of the key elsewhere: it cannot be recovered.",
    "With DATABASE_URL use the tools of PostgreSQL, such as pg_dump.",
  ],
  run: async (input) => {
    const config = embeddedConfig(input, "use pg_dump, and copy the folders of recordings and corpora");
    requireDatabase(config);
    const path = resolve(input.arguments[0] ?? "");
    const lock = await lockDataDir(config.dataDir);
    try {
      await refuseRotation(config.dataDir);
      const names = [
        basename(embeddedDatabaseDir(config.dataDir)),
        NODE_ID,
        ...(input.options["without-key"] === true ? [] : [KEY_FILE]),
        ...(input.options["recordings"] === true ? [RECORDINGS, CORPORA] : []),
      ];
      const { files } = await writeBackup(path, config.dataDir, names, VERSION);
      input.print(`${path}: ${sizeOf(files)}`);
      if (files[KEY_FILE] === undefined) {
        input.note("The backup does not contain the key; without SECRETS_KEY its secrets cannot be opened.");
      }
    } finally {
      await lock.release();
    }
  },
};

/**
 * Refuses a backup during a key change: its secrets would be sealed under two keys, of which it contains at most one.
 */
async function refuseRotation(dataDir: string): Promise<void> {
  if (!existsSync(newKeyFile(dataDir)) && (await readEmbeddedRotation(dataDir)) === null) return;
  throw new CommandError(
    "A change of SECRETS_KEY is unfinished: run parley secrets rotate again with the same keys before the backup.",
  );
}

const restore: Command = {
  words: ["restore"],
  summary: "Restores a backup into an empty DATA_DIR",
  arguments: [{ name: "FILE", description: "written by parley backup" }],
  options: { check: { value: null, description: "only checks the file" } },
  details: [
    "Every file is checked against its checksum in the backup. The files are moved into place only if all are correct. A " +
      "DATA_DIR with a database, a key or recordings is refused.",
    "After an interruption no service starts on this DATA_DIR until the same command was run again and has completed.",
    "A backup of an older version can be restored: the next start migrates it.",
  ],
  run: async (input) => {
    const path = resolve(input.arguments[0] ?? "");
    if (input.options["check"] === true) {
      const { files, created } = await readBackup(path, null);
      input.print(`${path} of ${created} is complete: ${sizeOf(files)}`);
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
      input.print(`Restored the backup of ${created} into ${resolve(dataDir)}: ${sizeOf(files)}`);
      if (files[KEY_FILE] === undefined) {
        input.note(
          `The backup has no key: set SECRETS_KEY, or copy ${KEY_FILE} into DATA_DIR, before you start the service.`,
        );
      }
    } finally {
      await rm(aside, { recursive: true, force: true });
      await lock.release();
    }
  },
};

/** Names that do not count as content: locks, the socket for commands, and remains of an interrupted restore. */
const NO_CONTENT = /^(?:lock[.-].*|admin|restore-.*\.tmp|restore\.incomplete)$/;
const PARTS: readonly string[] = [NODE_ID, KEY_FILE, RECORDINGS, CORPORA, basename(embeddedDatabaseDir("."))];

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

/** Files that an interrupted restore may have moved into place. */
async function partsUnderWay(dataDir: string): Promise<readonly string[]> {
  const mark = join(dataDir, RESTORE_MARK);
  if (!existsSync(mark)) return [];
  return (await readFile(mark, "utf8")).split("\n").filter((name) => PARTS.includes(name));
}

/** From now on no service starts. If the backup is not valid, this is undone, unless files were moved before. */
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
    throw new CommandError(`The backup contains ${strange}, which does not belong to a backup.`);
  } catch (error) {
    if (!isRepeated) await rm(mark);
    throw error;
  }
}

/** Removes files of an earlier attempt. The marker lists the new files and is removed last. */
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
