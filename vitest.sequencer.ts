/**
 * The order of the test files. `media` and `console` share their workers: each goes through its own files at an even
 * pace, long ones first, so that files which wait for speech run beside files which compute.
 */

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Seconds on two quiet cores. A file that is not named takes as long as most of its project. */
const LONG_FILES: Readonly<Record<string, number>> = {
  "packages/console/test/tour.browser.test.ts": 132,
  "packages/console/test/talk.browser.test.ts": 95,
  "packages/server/test/bucket.media.test.ts": 88,
  "packages/server/test/bucket-kills.media.test.ts": 87,
  "packages/server/test/fuzz.media.test.ts": 84,
  "packages/server/test/client/call-life.media.test.ts": 65,
  "packages/server/src/providers/stt-offline/stt-offline.media.test.ts": 65,
  "packages/server/src/jobs/batches/batches.db.test.ts": 51,
  "packages/server/src/runner/call-ends.media.test.ts": 50,
  "packages/server/test/process.media.test.ts": 49,
  "packages/server/test/summaries.media.test.ts": 44,
  "packages/server/test/client/socket-call.media.test.ts": 44,
  "packages/server/test/webrtc.media.test.ts": 43,
  "packages/console/test/batches-act.browser.test.ts": 37,
  "packages/console/test/batches.browser.test.ts": 35,
  "packages/server/src/runner/live-calls.media.test.ts": 34,
  "packages/console/test/calls.browser.test.ts": 33,
  "packages/server/src/providers/tts-espeak/tts-espeak.media.test.ts": 31,
  "packages/server/test/sip-phone-peer.media.test.ts": 30,
  "packages/server/src/http/api/slow-bodies.media.test.ts": 30,
  "packages/server/src/cli/secrets.db.test.ts": 29,
  "packages/console/test/agents.browser.test.ts": 28,
  "packages/server/test/vendor-faults/model-faults.media.test.ts": 25,
  "packages/server/src/transports/webrtc/webrtc-transport.media.test.ts": 24,
  "packages/server/src/jobs/outage.db.test.ts": 24,
  "packages/server/src/jobs/jobs.db.test.ts": 23,
  "packages/server/test/sip-trunk-peer.media.test.ts": 24,
  "packages/server/test/faults-engines.media.test.ts": 22,
  "packages/server/src/store/database/crash.media.test.ts": 22,
  "packages/server/src/store/calls/call-paging.db.test.ts": 22,
  "packages/console/test/webhook-deliveries.browser.test.ts": 22,
  "packages/server/test/client/web-rtc-call.media.test.ts": 20,
  "packages/server/src/http/routes/audit-log.db.test.ts": 19,
  "packages/server/test/faults-client.media.test.ts": 18,
  "packages/server/src/cli/backup.db.test.ts": 18,
  "packages/server/src/jobs/webhooks/webhooks.db.test.ts": 16,
  "packages/server/src/http/api/security.db.test.ts": 16,
  "packages/console/test/telephony.browser.test.ts": 16,
  "packages/console/test/voices.browser.test.ts": 15,
};

const USUAL_SECONDS: Readonly<Record<string, number>> = { pure: 0.2, db: 6, media: 6, console: 12 };

export class EvenSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = [...new Set(files.map(({ project }) => project))].flatMap((project) =>
      placedEvenly(files.filter((file) => file.project === project)),
    );
    return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
  }
}

/** Each file at the share of its project's time that passes before it. */
function placedEvenly(files: TestSpecification[]): { file: TestSpecification; place: number }[] {
  const longestFirst = files
    .map((file) => ({ file, seconds: secondsOf(file) }))
    .toSorted((a, b) => b.seconds - a.seconds);
  const total = longestFirst.reduce((sum, { seconds }) => sum + seconds, 0);
  let before = 0;
  return longestFirst.map(({ file, seconds }) => {
    const place = before / total;
    before += seconds;
    return { file, place };
  });
}

function secondsOf({ moduleId, project }: TestSpecification): number {
  const path = moduleId.slice(moduleId.lastIndexOf("/packages/") + 1);
  return LONG_FILES[path] ?? USUAL_SECONDS[project.name] ?? 1;
}
