import { resolve } from "node:path";
import { journalsOfWorkers } from "../app/workers/left-journals.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { nodeDirOf } from "../config/workers/worker-config.ts";
import type { Db } from "../store/database/db.ts";
import { listJournalFiles } from "../store/journal/journal-files.ts";
import { openStore } from "../store/opening/open-store.ts";
import { KEY_FILE, loadSecretsKey } from "../store/secrets/secrets-key.ts";
import {
  checkRotation,
  endRotation,
  readRotation,
  rotateSecrets,
} from "../store/secrets/secrets-rotation.ts";
import { createSealer } from "../store/secrets/secrets.ts";
import { otherConnections } from "../store/accounts/operator.ts";
import { type Command, CommandError, type CommandInput, EXIT } from "./command.ts";
import {
  chooseNewKey,
  removeNewKey,
  storeNewKey,
  type KeyPlace,
  NEW_KEY_VARIABLE,
  putNewKeyInPlace,
} from "./new-key.ts";
import { logOf, requireDatabase } from "./store.ts";

/** Progress is printed after this many texts. */
const NOTE_EVERY = 1_000;
/** Limit of the names of other connections in the message. */
const NAMED_CONNECTIONS = 5;

/** Services on other machines do not lock this DATA_DIR, but they have connections. */
async function refuseOtherConnections(db: Db): Promise<void> {
  const names = await otherConnections(db);
  if (names.length === 0) return;
  const kinds = [...new Set(names)].slice(0, NAMED_CONNECTIONS).join(", ");
  throw new CommandError(
    `There are other connections to this database (${names.length}, by ${kinds}); stop every service and program that uses it.`,
    EXIT.inUse,
  );
}

/** They are sealed with the present key, and would be lost. Other nodes have their own. */
async function refuseJournal({ dataDir }: Config): Promise<void> {
  const workers = await journalsOfWorkers(dataDir);
  const files = [dataDir, ...workers.map((number) => nodeDirOf(dataDir, number))].map(listJournalFiles);
  const calls = (await Promise.all(files)).flat().length;
  if (calls === 0) return;
  throw new CommandError(
    `DATA_DIR has a journal with records of ${calls} calls that are not in the database yet: start the service with the ` +
      "present key until it has written them, and stop it again.",
  );
}

async function change(input: CommandInput, config: Config, db: Db, place: KeyPlace): Promise<void> {
  if (config.databaseUrl !== null) await refuseOtherConnections(db);
  const goal = await readRotation(db);
  if (goal === db.sealer.keyId) {
    // Interrupted after the new key was moved into place.
    await rotateSecrets(db, db.sealer, () => undefined);
    await endRotation(db);
    removeNewKey(config.dataDir);
    input.print("The interrupted change of SECRETS_KEY is complete now; the present key is the new one.");
    return;
  }
  const { dataDir } = config;
  const key = chooseNewKey({ env: input.env, dataDir, place, presentId: db.sealer.keyId, goal });
  const to = createSealer(key);
  await checkRotation(db, to);
  // Stored before the first text is sealed under it.
  if (place === "file") storeNewKey(dataDir, key);
  let noted = 0;
  const count = await rotateSecrets(db, to, (done) => {
    if (done < noted + NOTE_EVERY) return;
    noted = done;
    input.note(`${done} sealed texts so far`);
  });
  if (place === "file") putNewKeyInPlace(dataDir, key);
  await endRotation(db);
  if (place === "environment") removeNewKey(dataDir);
  input.print(
    place === "file"
      ? `${count} texts are sealed under the new key in ${resolve(dataDir, KEY_FILE)}. Keep a copy of it.`
      : `${count} texts are sealed under the new key. Set SECRETS_KEY to it before you start the service.`,
  );
}

const rotate: Command = {
  words: ["secrets", "rotate"],
  summary: "Seals all stored secrets under a new SECRETS_KEY",
  arguments: [],
  options: {},
  details: [
    "Stop every service first; none starts until the change is complete. After an interruption run the same command with " +
      "the same keys again: it continues.",
    `The present key is read as the service reads it: from SECRETS_KEY, or from the file ${KEY_FILE} in DATA_DIR. The new ` +
      `key is ${NEW_KEY_VARIABLE}. If the present key is in the file, ${NEW_KEY_VARIABLE} may be unset: a key is then ` +
      "generated. The file is replaced at the end.",
    "Earlier backups need the old key. Page links of lists that were issued before stop working; API keys and join URLs " +
      "continue to work.",
  ],
  run: async (input) => {
    const config = loadConfig(input.env);
    requireDatabase(config);
    await refuseJournal(config);
    const place: KeyPlace = config.secretsKey === null ? "file" : "environment";
    const secretsKey = loadSecretsKey(config);
    const store = await openStore({ ...config, secretsKey, log: logOf(input), betweenKeys: true });
    try {
      await change(input, config, store.db, place);
    } finally {
      await store.close();
    }
  },
};

export const secretsCommands: readonly Command[] = [rotate];
