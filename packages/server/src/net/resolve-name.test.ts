import { expect, test } from "vitest";
import { openNameResolver, type NameSources } from "./resolve-name.ts";

const HOSTS =
  "127.0.0.1 localhost\n# 10.0.0.9 commented.example\n10.0.0.5\tshop.example Pinned.example # ours\n";

function failing(code: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(code), { code }));
}

/** DNS knows nothing and the machine nothing more, unless said otherwise. */
function resolver(changes: Partial<NameSources> = {}) {
  const requested: string[] = [];
  const looked: string[] = [];
  const { queryDns, lookUp } = changes;
  const resolve = openNameResolver({
    hostsFile: changes.hostsFile ?? (() => Promise.resolve(HOSTS)),
    queryDns: (name, family) => {
      requested.push(`${name} ${String(family)}`);
      return queryDns?.(name, family) ?? failing("ENOTFOUND");
    },
    lookUp: (name) => {
      looked.push(name);
      return lookUp?.(name) ?? failing("ENOTFOUND");
    },
  });
  return { resolve, requested, looked };
}

test("addresses of both families come from DNS, and no thread is held", async () => {
  const { resolve, looked } = resolver({
    queryDns: (_name, family) => Promise.resolve(family === 4 ? ["1.1.1.1"] : ["2606:4700::1111"]),
  });
  expect(await resolve("tools.example")).toEqual(["1.1.1.1", "2606:4700::1111"]);
  expect(looked).toEqual([]);
});

test("one family is enough, whatever becomes of the other", async () => {
  const { resolve } = resolver({
    queryDns: (_name, family) => (family === 4 ? Promise.resolve(["1.1.1.1"]) : failing("ETIMEOUT")),
  });
  expect(await resolve("tools.example")).toEqual(["1.1.1.1"]);
});

test.each([["shop.example"], ["pinned.example"], ["PINNED.example."]])(
  "%s is what the machine's own list says",
  async (name) => {
    const { resolve, requested } = resolver({ queryDns: () => Promise.resolve(["1.1.1.1"]) });
    expect(await resolve(name)).toEqual(["10.0.0.5"]);
    expect(requested).toEqual([]);
  },
);

test("what the list has in a comment is not in it, and a list that cannot be read has nothing", async () => {
  const queryDns: NameSources["queryDns"] = (_name, family) =>
    Promise.resolve(family === 4 ? ["1.1.1.1"] : []);
  expect(await resolver({ queryDns }).resolve("commented.example")).toEqual(["1.1.1.1"]);
  const { resolve } = resolver({ queryDns, hostsFile: () => failing("ENOENT") });
  expect(await resolve("shop.example")).toEqual(["1.1.1.1"]);
});

test.each([["receiver"], ["a.localhost"], ["printer.local"]])("%s is not asked for by DNS", async (name) => {
  const { resolve, requested } = resolver({ lookUp: () => Promise.resolve(["10.1.2.3"]) });
  expect(await resolve(name)).toEqual(["10.1.2.3"]);
  expect(requested).toEqual([]);
});

test("a name that DNS does not know is looked up on the machine", async () => {
  const { resolve, looked } = resolver({ lookUp: () => Promise.resolve(["10.1.2.3"]) });
  expect(await resolve("intranet.corp")).toEqual(["10.1.2.3"]);
  expect(looked).toEqual(["intranet.corp"]);
  await expect(resolver().resolve("nowhere.example")).rejects.toThrow("ENOTFOUND");
});

test("a name whose server is silent holds no thread at all", async () => {
  const { resolve, looked } = resolver({ queryDns: () => failing("ETIMEOUT") });
  await expect(resolve("silent.example")).rejects.toThrow("ETIMEOUT");
  expect(looked).toEqual([]);
});

test("look-ups that hang hold two threads, the others wait their turn, and too many are refused", async () => {
  const ends: (() => void)[] = [];
  const { resolve, looked } = resolver({
    lookUp: (name) =>
      name.startsWith("slow")
        ? new Promise((end) => ends.push(() => end(["10.0.0.1"])))
        : Promise.resolve(["10.0.0.2"]),
  });
  const slow = ["slow1", "slow2"].map((name) => resolve(name));
  const waiting = Array.from({ length: 200 }, (_, turn) => resolve(`quick${String(turn)}`));
  await expect.poll(() => looked.length).toBe(2);
  await expect(resolve("one-more")).rejects.toThrow("too many names");
  ends[0]?.();
  await Promise.all(waiting);
  ends[1]?.();
  expect(await Promise.all(slow)).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
  expect(await resolve("quick")).toEqual(["10.0.0.2"]);
});
