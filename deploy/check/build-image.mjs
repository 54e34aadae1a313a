/**
 * Runs the lines of the Dockerfile without Docker, in Debian roots made by debootstrap, and prints the size of the result.
 *
 *     node deploy/check/build-image.mjs FOLDER [--debian DEBIAN_ROOT] [--node NODE_BINARY]
 *
 * It needs root, Linux, debootstrap, npm and the network. FOLDER gets one root for each stage, and the last one stays
 * there, so that the service can be started in it: `chroot FOLDER/final …`. What it does not do as Docker does: layers,
 * metadata (`VOLUME`, `EXPOSE`, `HEALTHCHECK`), and isolation of the build.
 */

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { debian: { type: "string" }, node: { type: "string" } },
});
const [folder] = positionals;
if (folder === undefined) throw new Error("Name a folder for the roots.");
const place = resolve(folder);
const debian = values.debian ?? join(place, "debian");
const nodeBinary = values.node ?? process.execPath;

function run(command, args, options = {}) {
  return execFileSync(command, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
}

/** `debian:…-slim`: a minimal Debian. */
function makeDebian() {
  if (existsSync(join(debian, "etc/debian_version"))) return;
  mkdirSync(debian, { recursive: true });
  run("debootstrap", ["--variant=minbase", "bookworm", debian]);
}

/** `node:24-…-slim`: the same with Node and npm below /usr/local, and the authorities of this machine for its network. */
function makeBase(image, root) {
  mkdirSync(root, { recursive: true });
  run("cp", ["-a", `${debian}/.`, root]);
  cpSync("/etc/resolv.conf", join(root, "etc/resolv.conf"), { dereference: true });
  if (!image.startsWith("node:")) return;
  run("chroot", [
    root,
    "sh",
    "-c",
    "apt-get update -q && apt-get install -qy --no-install-recommends ca-certificates libstdc++6",
  ]);
  cpSync(nodeBinary, join(root, "usr/local/bin/node"), { dereference: true });
  cpSync(npmFolder(), join(root, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true });
  writeFileSync(
    join(root, "usr/local/bin/npm"),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  );
  cpSync("/etc/ssl/certs/ca-certificates.crt", join(root, "etc/ssl/certs/ca-certificates.crt"));
}

function npmFolder() {
  const binary = execFileSync("sh", ["-c", "readlink -f $(command -v npm)"]).toString().trim();
  return dirname(dirname(binary));
}

/** The lines of the Dockerfile, with continued ones joined and comments left out. */
function instructions() {
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8").replaceAll(/^#.*\n/gm, "");
  return text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
}

/** The files of this folder that `.dockerignore` leaves, as Docker would see them. */
function makeContext() {
  const context = join(place, "context");
  rmSync(context, { recursive: true, force: true });
  mkdirSync(context, { recursive: true });
  const lines = readFileSync(join(ROOT, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const kept = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const left = lines.filter((line) => !line.startsWith("!") && line !== "*");
  for (const path of kept) {
    mkdirSync(dirname(join(context, path)), { recursive: true });
    const excluded = left.flatMap((pattern) =>
      pattern.startsWith("**/") ? ["--exclude", pattern.slice(3)] : ["--exclude", `./${pattern}`],
    );
    const archive = execFileSync("tar", ["-C", ROOT, "-c", ...excluded, `./${path}`], { maxBuffer: 1 << 30 });
    execFileSync("tar", ["-C", context, "-x"], { input: archive });
  }
  return context;
}

function copy(stage, rest, context, stages) {
  const words = rest.split(/\s+/);
  const from = /^--from=(\w+)$/.exec(words[0] ?? "")?.[1];
  if (from !== undefined) words.shift();
  const to = words.pop() ?? "";
  const source = from === undefined ? context : (stages.get(from)?.root ?? "");
  const target = join(stage.root, to.startsWith("/") ? to : join(stage.workdir, to));
  for (const word of words) {
    const path = join(source, word);
    const isFolder = statSync(path).isDirectory();
    // A folder is copied by its content, a file into a folder or by the name.
    const into = isFolder
      ? target
      : to.endsWith("/") || words.length > 1
        ? join(target, basename(word))
        : target;
    mkdirSync(isFolder ? into : dirname(into), { recursive: true });
    run("cp", isFolder ? ["-a", `${path}/.`, into] : ["-a", path, into]);
  }
}

function runIn(stage, command) {
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/root",
    DEBIAN_FRONTEND: "noninteractive",
    NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt",
    ...stage.env,
  };
  const script = `mount -t proc proc ${stage.root}/proc && exec chroot --userspec=${stage.user} ${stage.root} sh -c 'cd "$0" && eval "$1"' ${stage.workdir} "$COMMAND"`;
  run("unshare", ["-m", "sh", "-c", script], { env: { ...env, COMMAND: command } });
}

makeDebian();
const context = makeContext();
const stages = new Map();
const values_ = new Map();
let stage = null;
const filled = (text) => text.replaceAll(/\$\{(\w+)\}/g, (_, name) => values_.get(name) ?? "");
for (const { name, rest } of instructions()) {
  process.stdout.write(`\n== ${name} ${rest}\n`);
  if (name === "ARG") values_.set(...rest.split("=", 2));
  else if (name === "FROM") {
    const [image = "", , alias = "final"] = filled(rest).split(/\s+/);
    stage = { root: join(place, alias), workdir: "/", user: "0:0", env: {}, ended: [] };
    rmSync(stage.root, { recursive: true, force: true });
    makeBase(image, stage.root);
    stages.set(alias, stage);
  } else if (stage === null) throw new Error(`${name} before FROM`);
  else if (name === "WORKDIR") {
    stage.workdir = rest;
    mkdirSync(join(stage.root, rest), { recursive: true });
  } else if (name === "ENV") {
    const [key = "", ...value] = rest.split("=");
    stage.env[key] = value.join("=");
  } else if (name === "USER") {
    const line = readFileSync(join(stage.root, "etc/passwd"), "utf8")
      .split("\n")
      .find((entry) => entry.startsWith(`${rest}:`));
    const [, , uid, gid] = (line ?? "").split(":");
    if (uid === undefined) throw new Error(`There is no user ${rest} in the image.`);
    stage.user = `${uid}:${gid}`;
  } else if (name === "COPY") copy(stage, rest, context, stages);
  else if (name === "RUN") runIn(stage, rest);
}
const sizes = execFileSync("du", ["-sm", debian, join(place, "final")]).toString();
const [base = 0, all = 0] = sizes.split("\n").map((line) => Number.parseInt(line, 10));
process.stdout.write(`\nThe image has ${String(all)} MB, ${String(base)} MB of them Debian.\n`);
