/**
 * Memory of one thread of legs. Measured with 40 connections that all speak and hear, and send ten messages a second:
 * 82 MiB of heap in use at most, of which 25 MiB are there without any, and 37 MiB of buffers and WASM, of which 28 MiB
 * are. On a machine with two cores one thread has the legs of all calls, 200 by default: some 310 and 75 MiB.
 */

import type { ResourceLimits } from "node:worker_threads";

const MIB = 1024 * 1024;

/** Of a thread that goes on. Six times what 40 legs take, so that only a fault reaches it. */
export const MAX_HEAP_BYTES = 512 * MIB;
/** Seven times what 40 legs take. */
export const MAX_EXTERNAL_BYTES = 256 * MIB;

/**
 * For new objects, which are moved elsewhere when they last. V8 enlarges this space while many objects are made, by
 * default to 192 MiB a thread, and returns empty pages to the system only when few have been made for some seconds.
 */
const MAX_NEW_OBJECTS_MB = 48;

/**
 * The last resort, which aborts the process in some cases (`memory-watch.ts`). It leaves room for what a thread can fill
 * between two looks, and for an array of the size of `MAX_HEAP_BYTES` that is copied into a larger one.
 */
export const THREAD_LIMITS: ResourceLimits = {
  maxOldGenerationSizeMb: (4 * MAX_HEAP_BYTES) / MIB,
  maxYoungGenerationSizeMb: MAX_NEW_OBJECTS_MB,
};
