/** A registrar over UDP on the loopback address: it challenges, checks the digest, and keeps the contact. */

import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";

const REALM = "registrar.test";
const NONCE = "0123456789abcdef";

export interface SipRegistrar {
  readonly port: number;
  /** URI of the last contact; null: it was removed, or never registered. */
  readonly contact: () => string | null;
  readonly close: () => Promise<void>;
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

export async function openSipRegistrar(account: {
  readonly username: string;
  readonly password: string;
}): Promise<SipRegistrar> {
  const socket = createSocket("udp4");
  let contact: string | null = null;
  socket.on("message", (bytes, from) => {
    const request = bytes.toString("utf8");
    const isOptions = request.startsWith("OPTIONS ");
    if (!isOptions && !request.startsWith("REGISTER ")) return;
    const isProven = isOptions || proves(request, account);
    const [, uri, expires] = /^Contact: <([^>]+)>(?:;expires=(\d+))?/im.exec(request) ?? [];
    const seconds = expires ?? /^Expires: (\d+)/im.exec(request)?.[1] ?? "0";
    // Without a Contact it is a question for what is registered (RFC 3261, 10.2.3).
    if (isProven && !isOptions && uri !== undefined) contact = seconds === "0" ? null : uri;
    const lines = request.split("\r\n").filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
    const extra = isProven
      ? isOptions || contact === null
        ? []
        : [`Contact: <${contact}>;expires=600`]
      : [`WWW-Authenticate: Digest realm="${REALM}", nonce="${NONCE}", qop="auth"`];
    const answer = [
      `SIP/2.0 ${isProven ? "200 OK" : "401 Unauthorized"}`,
      ...lines.map((line) => (/^To:/i.test(line) ? `${line};tag=registrar` : line)),
      ...extra,
      "Content-Length: 0",
      "",
      "",
    ].join("\r\n");
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    port: socket.address().port,
    contact: () => contact,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function proves(request: string, { username, password }: { username: string; password: string }): boolean {
  const line = /^Authorization: Digest (.*)$/im.exec(request)?.[1] ?? "";
  const field = (name: string): string => new RegExp(`(?:^|[ ,])${name}="?([^",]*)"?`).exec(line)?.[1] ?? "";
  const secret = md5(`${username}:${REALM}:${password}`);
  const middle = `${NONCE}:${field("nc")}:${field("cnonce")}:auth`;
  return (
    field("username") === username &&
    field("nonce") === NONCE &&
    field("response") === md5(`${secret}:${middle}:${md5(`REGISTER:${field("uri")}`)}`)
  );
}
