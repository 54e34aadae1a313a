/**
 * The URL that a carrier requests when a stream is over. It is signed with the call's own secret, because one of the
 * carriers does not sign URLs, and it counts the streams that broke at once. So nothing has to be stored, and any process
 * can answer. Pure.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { ConfiguredCarrier } from "@parley/schema";
import type { StreamIntent } from "../ports/carriers.ts";
import { instructionsUrlOf, streamUrlOf } from "./carrier-urls.ts";

/** The query parameter; logs have paths without their query. */
const PARAMETER = "after";
/** Streams in a row that broke at once, before the call is ended at the carrier: longer than a call waits for a stream. */
export const MAX_BROKEN_STREAMS = 12;
/** A stream that lasted for this long was in order, whatever ended it. */
export const STEADY_STREAM_MS = 10_000;
/** Before a stream that follows one that broke at once. */
export const STREAM_PAUSE_SECONDS = 1;
/** 128 bits are beyond guessing. */
const SIGNATURE_CHARS = 22;

const VALUE = /^(\d{1,3})\.(\d{1,15})\.([A-Za-z0-9_-]{22})$/;

export interface ReturningCall {
  readonly callId: string;
  readonly joinToken: string;
}

/** `brokenStreams`: how many streams in a row broke at once before the one that this URL follows. */
export interface StreamReturn {
  readonly brokenStreams: number;
  readonly issuedAtMs: number;
}

export function returnUrlOf(publicUrl: string, call: ReturningCall, stream: StreamReturn): string {
  const content = `${String(stream.brokenStreams)}.${String(stream.issuedAtMs)}`;
  const value = `${content}.${signatureOf(call, content)}`;
  return `${instructionsUrlOf(publicUrl, call.callId)}?${PARAMETER}=${value}`;
}

/** The stream of a call, and what the carrier requests after it. */
export function streamOf(
  publicUrl: string,
  carrier: ConfiguredCarrier,
  call: ReturningCall,
  stream: StreamReturn,
): StreamIntent {
  return {
    streamUrl: streamUrlOf(publicUrl, carrier, call),
    returnUrl: returnUrlOf(publicUrl, call, stream),
    pauseSeconds: stream.brokenStreams === 0 ? 0 : STREAM_PAUSE_SECONDS,
  };
}

/** Whether the URL says that a stream is over. It may be forged. */
export function isReturnUrl(url: string): boolean {
  return valueIn(url) !== null;
}

/** Null: the URL is not one that `returnUrlOf` has made for this call. */
export function readReturn(url: string, call: ReturningCall): StreamReturn | null {
  const [, broken = "", issued = "", signature = ""] = VALUE.exec(valueIn(url) ?? "") ?? [];
  const expected = signatureOf(call, `${broken}.${issued}`);
  if (signature.length !== expected.length) return null;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return null;
  return { brokenStreams: Number(broken), issuedAtMs: Number(issued) };
}

/** The stream that follows; null: too many broke at once. */
export function nextStream({ brokenStreams, issuedAtMs }: StreamReturn, nowMs: number): StreamReturn | null {
  const isBroken = nowMs - issuedAtMs < STEADY_STREAM_MS;
  const next = isBroken ? brokenStreams + 1 : 0;
  return next > MAX_BROKEN_STREAMS ? null : { brokenStreams: next, issuedAtMs: nowMs };
}

function valueIn(url: string): string | null {
  return URL.canParse(url) ? new URL(url).searchParams.get(PARAMETER) : null;
}

function signatureOf({ callId, joinToken }: ReturningCall, content: string): string {
  const signed = createHmac("sha256", joinToken).update(`carrier return ${callId} ${content}`);
  return signed.digest("base64url").slice(0, SIGNATURE_CHARS);
}
