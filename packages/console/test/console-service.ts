/**
 * A program: one service with the offline engines and the console, for all tests of the console. It prints its URL and
 * keys as one line of JSON, and stops when its standard input ends. In vitest's own process it would wait for what
 * vitest does.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { openEngines } from "../../server/src/app/engines.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import { openFakePlivo } from "../../server/src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../../server/src/providers/carriers/testing/fake-telnyx.ts";
import { openFakeCartesia } from "../../server/src/providers/tts-cartesia/testing/fake-cartesia.ts";
import { openFakeElevenLabs } from "../../server/src/providers/tts-elevenlabs/testing/fake-elevenlabs.ts";
import { openFakeInworld } from "../../server/src/providers/tts-inworld/testing/fake-inworld.ts";
import { openFakeLmnt } from "../../server/src/providers/tts-lmnt/testing/fake-lmnt.ts";
import { openFakeRespeecher } from "../../server/src/providers/tts-respeecher/testing/fake-respeecher.ts";
import { openRunningService } from "../../server/test/running-service.ts";
import { ACCOUNTS, OPERATOR_KEY } from "./accounts.ts";

// A list of language models, whose second one is never needed.
const folder = mkdtempSync(join(tmpdir(), "parley-console-engines-"));
const enginesFile = join(folder, "engines.json");
writeFileSync(enginesFile, JSON.stringify({ llm: [{ kind: "built_in", name: "Second concierge" }] }));
// Tools and webhooks of the tests run on loopback. Telnyx and Plivo are fakes that keep to their rules, and nobody
// listens where Twilio should be.
const [telnyx, plivo] = await Promise.all([openFakeTelnyx(), openFakePlivo()]);
const vendors = await Promise.all([
  openFakeElevenLabs({ voices: ["voice-1"] }),
  openFakeCartesia(),
  openFakeLmnt(),
  openFakeInworld(),
  openFakeRespeecher(),
]);
const [elevenLabs, cartesia, lmnt, inworld, respeecher] = vendors;
const config = loadConfig({
  ELEVENLABS_BASE_URL: elevenLabs.baseUrl,
  CARTESIA_BASE_URL: cartesia.baseUrl,
  LMNT_BASE_URL: lmnt.baseUrl,
  INWORLD_BASE_URL: inworld.baseUrl,
  RESPEECHER_BASE_URL: respeecher.baseUrl,
  ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  ENGINES_FILE: enginesFile,
  TWILIO_BASE_URL: "http://127.0.0.1:9",
  TELNYX_BASE_URL: telnyx.baseUrl,
  PLIVO_BASE_URL: plivo.baseUrl,
});
rmSync(folder, { recursive: true });
const engines = await openEngines(config, pino({ level: "silent" }));
const { turnTaking, allowPrivateTargets, carrierAddresses } = config;
const changes = {
  console: true,
  turnTaking,
  allowPrivateTargets,
  carrierAddresses,
  operatorKey: OPERATOR_KEY,
  sip: { bind: "127.0.0.1", port: 0, tlsPort: 0, certificate: null, announcedAddress: null },
  sipHost: "sip.test",
};
const service = await openRunningService(changes, engines, ACCOUNTS, undefined, ["sip"]);
process.stdout.write(`${JSON.stringify({ url: service.url, keys: Object.fromEntries(service.keys) })}\n`);

process.stdin.resume();
process.stdin.once("end", () => {
  // A browser that is gone may have left connections, which are not what is tested.
  const fakes = [telnyx.stop(), plivo.stop(), ...vendors.map((vendor) => vendor.close())];
  void Promise.all([service.close(), ...fakes]).finally(() => process.exit());
});
