/** Recordings as WAV files in a directory of this machine. */

import type { Recordings } from "../../ports/recordings.ts";

/** @param dir made when it does not exist; holds one `{callId}.wav` per recorded call */
export declare function openFileRecordings(dir: string): Promise<Recordings>;
