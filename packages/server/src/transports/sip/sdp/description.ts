/** A session description (RFC 8866) as far as calls need it. */

/** Why a description cannot be used: the answer to its request is 488. `message` ends a sentence about it. */
export class SdpError extends Error {
  override readonly name = "SdpError";
}

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive";

export interface SdpAttribute {
  readonly name: string;
  /** Null: it has no value. */
  readonly value: string | null;
}

export interface SdpMedia {
  /** `audio`, `video` and others. */
  readonly kind: string;
  /** 0: refused, or not in use any more. */
  readonly port: number;
  /** `RTP/AVP` and others. */
  readonly profile: string;
  readonly formats: readonly string[];
  /** IP address; null: that of the whole description. */
  readonly address: string | null;
  readonly attributes: readonly SdpAttribute[];
}

export interface SdpDescription {
  /** IP address; null: each of the media has its own. */
  readonly address: string | null;
  readonly attributes: readonly SdpAttribute[];
  readonly media: readonly SdpMedia[];
}

export function valueOf(attributes: readonly SdpAttribute[], name: string): string | null {
  return attributes.find((attribute) => attribute.name === name)?.value ?? null;
}

export function hasAttribute(attributes: readonly SdpAttribute[], name: string): boolean {
  return attributes.some((attribute) => attribute.name === name);
}

export function valuesOf(attributes: readonly SdpAttribute[], name: string): string[] {
  return attributes.flatMap((attribute) =>
    attribute.name === name && attribute.value !== null ? [attribute.value] : [],
  );
}

const DIRECTIONS: readonly Direction[] = ["sendrecv", "sendonly", "recvonly", "inactive"];

/** Of the media, or else of the whole description, or else both ways (RFC 8866, section 6.7). */
export function directionOf({ attributes }: SdpDescription, media: SdpMedia): Direction {
  for (const list of [media.attributes, attributes]) {
    const found = DIRECTIONS.find((direction) => hasAttribute(list, direction));
    if (found !== undefined) return found;
  }
  return "sendrecv";
}

/** By which the other side asks for silence (RFC 2543; RFC 3264, section 8.4). */
export function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || /^[0:]+$/.test(address);
}
