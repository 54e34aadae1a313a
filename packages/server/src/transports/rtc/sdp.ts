/** What is read from and written to session descriptions around the WebRTC library. Nothing is kept here. */

/** Why a description cannot be used; `message` ends a sentence that begins with "The offer". */
export class BadSdpError extends Error {
  override readonly name = "BadSdpError";
}

/** Lines of a description; browsers' have about 100. */
const MAX_LINES = 1_000;

function linesOf(sdp: string): string[] {
  return sdp.split(/\r?\n/).filter((line) => line !== "");
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\r\n`).join("");
}

/**
 * The offer, checked and without its candidates: we answer checks and send none, so that no address that a client
 * names is ever sent to. Throws BadSdpError.
 */
export function checkedOffer(sdp: string): string {
  return checkedMedia(sdp, MAX_LINES, (media) => {
    if (media.filter((kind) => kind === "audio").length !== 1) {
      throw new BadSdpError("must have exactly one audio line (m=audio)");
    }
    if (media.filter((kind) => kind === "application").length > 1) {
      throw new BadSdpError("must have at most one line for data channels (m=application)");
    }
    const other = media.find((kind) => kind !== "audio" && kind !== "application");
    if (other !== undefined) throw new BadSdpError("must have no media but audio and data channels");
  });
}

/**
 * As `checkedOffer`, with other rules for the kinds of media.
 *
 * @param checkKinds gets the kind of each media line, in order; throws BadSdpError
 */
export function checkedMedia(
  sdp: string,
  maxLines: number,
  checkKinds: (kinds: readonly string[]) => void,
): string {
  const lines = linesOf(sdp);
  if (lines[0] !== "v=0") throw new BadSdpError("is not SDP: it must begin with v=0");
  if (lines.length > maxLines) throw new BadSdpError(`has more than ${String(maxLines)} lines`);
  if (lines.some((line) => !/^[a-z]=/.test(line))) throw new BadSdpError("has a line that is not SDP");
  checkKinds(
    lines.filter((line) => line.startsWith("m=")).map((line) => line.slice(2).split(" ", 1)[0] ?? ""),
  );
  if (lines.filter((line) => line.startsWith("a=group:BUNDLE")).length > 1) {
    throw new BadSdpError("must have at most one group of media (a=group:BUNDLE)");
  }
  if (!lines.some((line) => /^a=rtpmap:\d+ opus\/48000\/2$/i.test(line))) {
    throw new BadSdpError("must have Opus among its codecs (opus/48000/2)");
  }
  for (const [what, pattern] of NEEDED) {
    if (!lines.some((line) => pattern.test(line))) throw new BadSdpError(`must have ${what}`);
  }
  return joined(lines.filter((line) => !/^a=(?:candidate:|end-of-candidates)/.test(line)));
}

const NEEDED: readonly (readonly [string, RegExp])[] = [
  ["a=ice-ufrag", /^a=ice-ufrag:\S{4,256}$/],
  ["a=ice-pwd", /^a=ice-pwd:\S{22,256}$/],
  ["a=fingerprint, because media are encrypted", /^a=fingerprint:\S+ \S+$/],
];

/** The answer as it goes out. With `announced`, all candidates are at that address. */
export function announcedAnswer(sdp: string, announced: string | null): string {
  const seen = new Set<string>();
  // The library's own marks of a candidate bind it to credentials that a restart replaces.
  const plain = linesOf(sdp).map((line) =>
    line.replace(/^(a=candidate:.*?) generation \d+ ufrag \S+$/, "$1"),
  );
  const lines = liteForAll(plain);
  if (announced === null) return joined(lines);
  const placed = lines.map((line) => {
    if (!line.startsWith("a=candidate:")) return line;
    // foundation component transport priority address port …
    const fields = line.split(" ");
    fields[4] = announced;
    return fields.join(" ");
  });
  // Each media line has its own.
  const own = placed.filter((line) => {
    if (line.startsWith("m=")) seen.clear();
    if (!line.startsWith("a=candidate:")) return true;
    const place = line.split(" ").slice(4, 6).join(" ");
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
  return joined(own);
}

/** The whole agent is lite or none (RFC 8839, section 5.3); the library writes it into every medium. */
function liteForAll(lines: readonly string[]): string[] {
  if (!lines.includes("a=ice-lite")) return [...lines];
  const others = lines.filter((line) => line !== "a=ice-lite");
  const first = others.findIndex((line) => line.startsWith("m="));
  return [...others.slice(0, first), "a=ice-lite", ...others.slice(first)];
}

/** A description's lines before the first medium, and those of each medium. Each line ends with CR LF. */
export function sectionsOf(sdp: string): readonly string[] {
  return joined(linesOf(sdp)).split(/(?=^m=)/m);
}

/** The mid of a section of a description; null: it has none. */
export function midOf(section: string): string | null {
  return /^a=mid:(\S+)\r$/m.exec(section)?.[1] ?? null;
}

/** Whether an answer refuses (port 0) the audio line with this mid; null: any audio line. */
export function refusesAudio(answer: string, mid: string | null): boolean {
  return sectionsOf(answer).some(
    (section) => section.startsWith("m=audio 0 ") && (mid === null || midOf(section) === mid),
  );
}

export interface IceCredentials {
  readonly ufrag: string;
  readonly pwd: string;
}

/** The first credentials of a description or fragment; null: it has none. Bundled media share them. */
export function credentialsOf(sdp: string): IceCredentials | null {
  const ufrag = /^a=ice-ufrag:(\S{4,256})$/m.exec(sdp.replaceAll("\r", ""))?.[1];
  const pwd = /^a=ice-pwd:(\S{22,256})$/m.exec(sdp.replaceAll("\r", ""))?.[1];
  return ufrag === undefined || pwd === undefined ? null : { ufrag, pwd };
}

/** Throws BadSdpError for what is no fragment (RFC 8840, section 9). */
export function checkedFragment(text: string): string {
  const lines = linesOf(text);
  if (lines.length > MAX_LINES) throw new BadSdpError(`has more than ${String(MAX_LINES)} lines`);
  const known = /^(?:m=|a=(?:ice-ufrag:|ice-pwd:|ice-options:|mid:|group:|candidate:|end-of-candidates))/;
  if (lines.length === 0 || lines.some((line) => !known.test(line))) {
    throw new BadSdpError("must be candidates, or new ICE credentials (RFC 8840)");
  }
  return joined(lines);
}

/** The offer once more, with new credentials. */
export function restartedOffer(offer: string, { ufrag, pwd }: IceCredentials): string {
  return joined(
    linesOf(offer).map((line) => {
      if (line.startsWith("a=ice-ufrag:")) return `a=ice-ufrag:${ufrag}`;
      return line.startsWith("a=ice-pwd:") ? `a=ice-pwd:${pwd}` : line;
    }),
  );
}

/** What of an answer the other side needs for a restart, as a fragment. */
export function fragmentOf(answer: string): string {
  const kept: string[] = [];
  let inFirst = false;
  let medium = 0;
  for (const line of linesOf(answer)) {
    if (line.startsWith("m=")) {
      medium += 1;
      inFirst = medium === 1;
      if (inFirst) kept.push("m=audio 9 UDP/TLS/RTP/SAVPF 0");
    } else if (medium === 0 ? line === "a=ice-lite" : inFirst && FRAGMENT_LINE.test(line)) kept.push(line);
  }
  return joined(kept);
}

const FRAGMENT_LINE = /^a=(?:mid:|ice-ufrag:|ice-pwd:|candidate:|end-of-candidates)/;
