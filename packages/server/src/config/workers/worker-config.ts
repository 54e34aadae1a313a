/** What the settings of a service mean for one of its workers: its own folder, and its share of the ports. */

import { join } from "node:path";
import { ConfigError } from "../config-error.ts";
import type { Config } from "../config.ts";
import type { SipSettings } from "../sip.ts";
import type { WorkerPlace } from "./workers.ts";

type PortRange = readonly [number, number];

const HIGHEST_PORT = 65_535;
/** SIP over UDP and TCP, and SIP over TLS: 5060 and 5061, then 5062 and 5063. */
const SIP_PORTS_EACH = 2;
/** Fewer WebRTC ports make no range. */
const LEAST_WEBRTC_PORTS = 2;
/** RTP and RTCP of one call. */
const RTP_PORTS_OF_CALL = 2;

/** Below DATA_DIR: what workers after the first one keep apart from each other. */
export const WORKERS_FOLDER = "workers";

/** The first worker keeps DATA_DIR itself, so that a service with one process can become one with several. */
export function nodeDirOf(dataDir: string, number: number): string {
  return number === 1 ? dataDir : join(dataDir, WORKERS_FOLDER, String(number));
}

/** @throws ConfigError where the ports are too few for all workers */
export function configOfWorker(config: Config, place: WorkerPlace): Config {
  const { webRtc, rtp, sip, dataDir } = config;
  return {
    ...config,
    worker: place,
    nodeDir: nodeDirOf(dataDir, place.number),
    webRtc: { ...webRtc, portRange: webRtcPart(webRtc.portRange, place) },
    rtp: { ...rtp, portRange: rtpPart(rtp.portRange, place) },
    sip: sip === null ? null : sipOfWorker(sip, place),
  };
}

/** @throws ConfigError where the ports are too few, for any of the workers */
export function checkWorkerPorts(config: Config, count: number): void {
  for (let number = 1; number <= count; number += 1) configOfWorker(config, { number, count });
}

function webRtcPart(range: PortRange | null, place: WorkerPlace): PortRange | null {
  return range === null ? null : partOf(range, LEAST_WEBRTC_PORTS, 1, place, "WEBRTC_PORT_RANGE");
}

/** Every part begins with an even port. */
function rtpPart(range: PortRange | null, place: WorkerPlace): PortRange | null {
  if (range === null) return null;
  const [first, last] = range;
  const even: PortRange = [first + (first % 2), last];
  return partOf(even, RTP_PORTS_OF_CALL, RTP_PORTS_OF_CALL, place, "RTP_PORT_RANGE");
}

function partOf(
  [first, last]: PortRange,
  least: number,
  unit: number,
  { number, count }: WorkerPlace,
  setting: string,
): PortRange {
  const ports = last - first + 1;
  const each = Math.floor(ports / count / unit) * unit;
  if (each < least) {
    throw new ConfigError(
      `${setting} has ${String(ports)} ports, too few for ${String(count)} workers (WORKERS): each needs at least ${String(least)}.`,
    );
  }
  const from = first + (number - 1) * each;
  return [from, from + each - 1];
}

/**
 * Calls from outside come to the ports of the first worker. The others need ports of their own for the calls that they
 * make.
 */
function sipOfWorker(sip: SipSettings, { number, count }: WorkerPlace): SipSettings {
  const { port, tlsPort } = sip;
  const taken = new Set<number>();
  for (let each = 0; each < count; each += 1) {
    for (const base of [port, tlsPort]) {
      const wanted = shifted(base, each);
      if (wanted === 0) continue;
      if (wanted > HIGHEST_PORT || taken.has(wanted)) {
        throw new ConfigError(
          `SIP_PORT (${String(port)}) and SIP_TLS_PORT (${String(tlsPort)}) leave no ports for ${String(count)} workers (WORKERS): ` +
            "each takes both ports plus 2 for every worker before it. Use an even and an odd port, such as 5060 and 5061.",
        );
      }
      taken.add(wanted);
    }
  }
  return { ...sip, port: shifted(port, number - 1), tlsPort: shifted(tlsPort, number - 1) };
}

/** 0: any port that is free. */
function shifted(port: number, workersBefore: number): number {
  return port === 0 ? 0 : port + workersBefore * SIP_PORTS_EACH;
}
