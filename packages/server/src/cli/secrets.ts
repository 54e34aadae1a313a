import { resolve } from "node:path";
import { type Config, loadConfig } from "../config.ts";
import { type Db, openStore } from "../store/db.ts";
import { KEY_FILE, loadSecretsKey } from "../store/secrets-key.ts";
import { checkRotation, endRotation, readRotation, rotateSecrets } from "../store/secrets-rotation.ts";
import { createSealer } from "../store/secrets.ts";
import { otherConnections } from "../store/operator.ts";
import { type Command, CommandError, type CommandInput, EXIT } from "./command.ts";
import {
  chooseNewKey,
  dropNewKey,
  keepNewKey,
  type KeyPlace,
  NEW_KEY_VARIABLE,
  putNewKeyInPlace,
} from "./new-key.ts";
import { logOf, requireDatabase } from "./store.ts";

/** Progress is told this often, in texts. */
const NOTE_EVERY = 1_000;
/** Kinds of other connections that are named; the rest are found once these are gone. */
const NAMED_CONNECTIONS = 5;

/** Services on other machines have no lock here; what they have is connections. */
async function refuseOtherConnections(db: Db): Promise<void> {
  const names = await otherConnections(db);
  if (names.length === 0) return;
  const kinds = [...new Set(names)].slice(0, NAMED_CONNECTIONS).join(", ");
  throw new CommandError(
    `There are other connections to this database (${names.length}, by ${kinds}); stop every service and program that uses it.`,
    EXIT.inUse,
  );
}

async function change(input: CommandInput, config: Config, db: Db, place: KeyPlace): Promise<void> {
  if (config.databaseUrl !== null) await refuseOtherConnections(db);
  const goal = await readRotation(db);
  if (goal === db.sealer.keyId) {
    // Broken off when the new key was in its place already.
    await rotateSecrets(db, db.sealer, () => undefined);
    await endRotation(db);
    dropNewKey(config.dataDir);
    input.print("An earlier change of SECRETS_KEY is complete now; the present key is the new one.");
    return;
  }
  const { dataDir } = config;
  const key = chooseNewKey({ env: input.env, dataDir, place, presentId: db.sealer.keyId, goal });
  const to = createSealer(key);
  await checkRotation(db, to);
  // Before the first text is sealed under it.
  if (place === "file") keepNewKey(dataDir, key);
  let told = 0;
  const count = await rotateSecrets(db, to, (done) => {
    if (done < told + NOTE_EVERY) return;
    told = done;
    input.note(`${done} sealed texts so far`);
  });
  if (place === "file") putNewKeyInPlace(dataDir, key);
  await endRotation(db);
  if (place === "environment") dropNewKey(dataDir);
  input.print(
    place === "file"
      ? `${count} texts are sealed under the new key in ${resolve(dataDir, KEY_FILE)}. Keep a copy of it.`
      : `${count} texts are sealed under the new key. Set SECRETS_KEY to it before you start the service.`,
  );
}

const rotate: Command = {
  words: ["secrets", "rotate"],
  summary: "Seals everything in the database under a new SECRETS_KEY",
  arguments: [],
  options: {},
  details: [
    "Stop every service first; none starts until the change is complete. When it is interrupted, give the same command " +
      "with the same keys again: it goes on where it was.",
    `The present key is taken from where the service has it: SECRETS_KEY, or the file ${KEY_FILE} in DATA_DIR. The new one ` +
      `is that of ${NEW_KEY_VARIABLE}; where the present key is in the file, one is made when ${NEW_KEY_VARIABLE} is ` +
      "not set, and the file is replaced at the end.",
    "Backups that were made before need the old key. Links to further pages of lists that were handed out before no " +
      "longer work; API keys and join URLs do.",
  ],
  run: async (input) => {
    const config = loadConfig(input.env);
    requireDatabase(config);
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
