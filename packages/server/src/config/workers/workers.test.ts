import { describe, expect, it } from "vitest";
import { ConfigError } from "../config-error.ts";
import { loadConfig } from "../config.ts";
import { checkWorkerPorts, configOfWorker } from "./worker-config.ts";
import { isFirst, workerCount } from "./workers.ts";

const places = (count: number) => Array.from({ length: count }, (_, index) => ({ number: index + 1, count }));

const ofWorkers = (env: Readonly<Record<string, string>>, count: number) =>
  places(count).map((place) => configOfWorker(loadConfig(env), place));

describe("WORKERS", () => {
  it.each([
    [undefined, 8, 1],
    ["1", 8, 1],
    ["auto", 8, 8],
    ["auto", 1, 1],
    ["auto", 500, 64],
    [" 3 ", 8, 3],
  ])("%s on %i cores means %i", (text, cores, count) => {
    expect(workerCount(loadConfig({ WORKERS: text }).workers, cores)).toBe(count);
  });

  it.each(["0", "65", "two", "1.5", "-1", "1e1"])("%s is refused", (text) => {
    expect(() => loadConfig({ WORKERS: text })).toThrow(
      new ConfigError("WORKERS must be auto, or a number from 1 to 64."),
    );
  });
});

describe("the settings of a worker", () => {
  it("leave the first one in DATA_DIR, and give each other one a folder below it", () => {
    const configs = ofWorkers({ DATA_DIR: "/d" }, 3);
    expect(configs.map(({ nodeDir }) => nodeDir)).toEqual(["/d", "/d/workers/2", "/d/workers/3"]);
    expect(configs.map(({ dataDir }) => dataDir)).toEqual(["/d", "/d", "/d"]);
    expect(configs.map(({ worker }) => isFirst(worker))).toEqual([true, false, false]);
    expect(isFirst(loadConfig({}).worker)).toBe(true);
  });

  it("divide the ports of media, and begin each part of RTP with an even port", () => {
    const env = { WEBRTC_PORT_RANGE: "40000-40010", RTP_PORT_RANGE: "20001-20014" };
    const configs = ofWorkers(env, 3);
    expect(configs.map(({ webRtc }) => webRtc.portRange)).toEqual([
      [40_000, 40_002],
      [40_003, 40_005],
      [40_006, 40_008],
    ]);
    expect(configs.map(({ rtp }) => rtp.portRange)).toEqual([
      [20_002, 20_005],
      [20_006, 20_009],
      [20_010, 20_013],
    ]);
    expect(ofWorkers({}, 2).map(({ webRtc, rtp }) => [webRtc.portRange, rtp.portRange])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it("give each worker two ports of SIP", () => {
    const ports = (env: Readonly<Record<string, string>>) =>
      ofWorkers({ SIP_HOST: "sip.example", ...env }, 3).map(({ sip }) => [sip?.port, sip?.tlsPort]);
    expect(ports({})).toEqual([
      [5060, 5061],
      [5062, 5063],
      [5064, 5065],
    ]);
    expect(ports({ SIP_PORT: "0", SIP_TLS_PORT: "0" })).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(ofWorkers({}, 2).map(({ sip }) => sip)).toEqual([null, null]);
  });

  it.each([
    [{ WEBRTC_PORT_RANGE: "40000-40006" }, /^WEBRTC_PORT_RANGE has 7 ports, too few for 4 workers/],
    [{ RTP_PORT_RANGE: "20000-20006" }, /^RTP_PORT_RANGE has 7 ports, too few for 4 workers/],
    [{ SIP_HOST: "sip.example", SIP_TLS_PORT: "5062" }, /leave no ports for 4 workers/],
    [{ SIP_HOST: "sip.example", SIP_TLS_PORT: "65531" }, /leave no ports for 4 workers/],
  ])("are refused before any worker starts: %o", (env, sentence) => {
    expect(() => checkWorkerPorts(loadConfig(env), 4)).toThrow(sentence);
    expect(() => checkWorkerPorts(loadConfig(env), 1)).not.toThrow();
  });
});
