/** Reads and writes SDP and headers when a connection is opened or restarted. */

/** The ICE servers that `Link` headers name (RFC 9725, section 4.6). */
export function iceServersOf(link: string | null): RTCIceServer[] {
  const servers: RTCIceServer[] = [];
  for (const [, url = "", parameters = ""] of (link ?? "").matchAll(
    /<([^>]*)>((?:;|[^,"]|"(?:\\.|[^"\\])*")*)/g,
  )) {
    if (!/;\s*rel="?ice-server"?(?:\s|;|$)/i.test(parameters)) continue;
    const username = parameterOf(parameters, "username");
    const credential = parameterOf(parameters, "credential");
    servers.push({
      urls: url,
      ...(username === null ? {} : { username }),
      ...(credential === null ? {} : { credential }),
    });
  }
  return servers;
}

function parameterOf(parameters: string, name: string): string | null {
  const found = new RegExp(`;\\s*${name}=(?:"((?:\\\\.|[^"\\\\])*)"|([^;\\s]*))`, "i").exec(parameters);
  if (found === null) return null;
  return found[2] ?? (found[1] ?? "").replaceAll(/\\(.)/g, "$1");
}

/** The fragment that requests a restart with the credentials of a new offer (RFC 8840). */
export function restartFragment(offer: string): string {
  const lines = offer.split(/\r?\n/);
  const audio = lines.find((line) => line.startsWith("m=audio")) ?? "m=audio 9 UDP/TLS/RTP/SAVPF 0";
  const wanted = ["a=ice-ufrag:", "a=ice-pwd:"].map((start) => lines.find((line) => line.startsWith(start)));
  return [audio, ...wanted.filter((line) => line !== undefined)].map((line) => `${line}\r\n`).join("");
}

/** The answer with the credentials and candidates of a fragment. Null: the fragment has no credentials. */
export function restartedAnswer(answer: string, fragment: string): string | null {
  const [, ufrag] = /^a=ice-ufrag:(\S+)/m.exec(fragment) ?? [];
  const [, pwd] = /^a=ice-pwd:(\S+)/m.exec(fragment) ?? [];
  if (ufrag === undefined || pwd === undefined) return null;
  const candidates = fragment
    .split(/\r?\n/)
    .filter((line) => /^a=(?:candidate:|end-of-candidates)/.test(line));
  const kept = answer.split(/\r?\n/).filter((line) => line !== "");
  const lines: string[] = [];
  for (const line of kept) {
    if (candidates.length > 0 && /^a=(?:candidate:|end-of-candidates)/.test(line)) continue;
    if (line.startsWith("a=ice-pwd:")) lines.push(`a=ice-pwd:${pwd}`, ...candidates);
    else lines.push(line.startsWith("a=ice-ufrag:") ? `a=ice-ufrag:${ufrag}` : line);
  }
  return lines.map((line) => `${line}\r\n`).join("");
}
