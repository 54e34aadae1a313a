import { expect, it } from "vitest";
import { EXECUTIONS_OF_A_PLAN, PreparedGroups } from "./prepared-groups.ts";

const MARKED = "/* prepared */ insert into t values ($1)";

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`, "latin1");
  bytes.writeUInt32BE(bytes.byteLength - 1, 1);
  return bytes;
}

/** As `pg` sends a text with one parameter. */
function group(text: string, value = "x"): Buffer {
  const bind = message("B", `\0\0\0\0\0\u0001\0\0\0${String.fromCharCode(value.length)}${value}\0\0`);
  const rest = [message("D", "P\0"), message("E", "\0\0\0\0\0"), message("S", "")];
  return Buffer.concat([message("P", `\0${text}\0\0\0`), bind, ...rest]);
}

interface Step {
  readonly type: string;
  readonly body: string;
}

function stepsOf(bytes: Uint8Array): Step[] {
  const all = Buffer.from(bytes);
  const steps: Step[] = [];
  for (let at = 0; at < all.byteLength;) {
    const end = at + 1 + all.readUInt32BE(at + 1);
    steps.push({ type: String.fromCharCode(all[at] ?? 0), body: all.toString("latin1", at + 5, end) });
    at = end;
  }
  return steps;
}

/** A session that knows which statements it has, and answers as PostgreSQL does. */
function openBackend() {
  const statements = new Map<string, string>();
  /** Texts as they are executed, and how often each text came with its statement. */
  const executed: string[] = [];
  let parsed = 0;
  const backend = { statements, executed, parsed: () => parsed, fails: "" };
  const run = (bytes: Uint8Array): Uint8Array => {
    const answer: Buffer[] = [];
    let bound = "";
    for (const { type, body } of stepsOf(bytes)) {
      const [name = "", text = ""] = body.split("\0");
      if (type === backend.fails) {
        answer.push(message("E", "an error"));
        break;
      }
      if (type === "C") {
        statements.delete(body.slice(1, -1));
        answer.push(message("3", ""));
      } else if (type === "P") {
        parsed += 1;
        statements.set(name, text);
        answer.push(message("1", ""));
      } else if (type === "B") {
        const known = statements.get(text);
        if (known === undefined) {
          answer.push(message("E", "no such statement"));
          break;
        }
        bound = `${known} ${body.at(-3) ?? ""}`;
        answer.push(message("2", ""));
      } else if (type === "E") {
        executed.push(bound);
        answer.push(message("C", "INSERT 0 1\0"));
      }
    }
    return Buffer.concat([...answer, message("Z", "I")]);
  };
  const groups = new PreparedGroups();
  const send = (bytes: Buffer): string =>
    stepsOf(groups.run(bytes, run))
      .map(({ type }) => type)
      .join("");
  return { ...backend, groups, send, fail: (type: string) => (backend.fails = type) };
}

it("parses a marked text once, and answers as if it had come each time", () => {
  const { send, executed, parsed, statements } = openBackend();
  for (const value of ["a", "b", "c"]) expect(send(group(MARKED, value))).toBe("12CZ");
  expect(executed).toEqual([`${MARKED} a`, `${MARKED} b`, `${MARKED} c`]);
  expect(parsed()).toBe(1);
  expect([...statements]).toEqual([["parley_service_0", MARKED]]);
});

it("leaves other groups as they are", () => {
  const { send, parsed, statements } = openBackend();
  for (let time = 0; time < 2; time += 1) {
    send(group("select $1"));
    send(group("select $1 /* prepared */"));
    send(message("Q", `${MARKED}\0`));
    // Named by its client, with types of parameters, without a Bind.
    send(Buffer.concat([message("P", `own\0${MARKED}\0\0\0`), message("S", "")]));
    send(Buffer.concat([message("P", `\0${MARKED}\0\0\u0001\0\0\0\u0017`), message("S", "")]));
    send(Buffer.concat([message("P", `\0${MARKED}\0\0\0`), message("S", "")]));
  }
  expect(parsed()).toBe(10);
  expect([...statements.keys()].toSorted()).toEqual(["", "own"]);
});

it("prepares a text again when the session has lost it, or when it fails", () => {
  const { send, groups, statements, parsed, fail } = openBackend();
  send(group(MARKED));
  statements.clear();
  groups.forget();
  expect(send(group(MARKED))).toBe("12CZ");
  expect(parsed()).toBe(2);
  // Nobody has reported this loss.
  statements.clear();
  expect(send(group(MARKED))).toBe("1EZ");
  expect(send(group(MARKED))).toBe("12CZ");
  // A text that cannot be parsed, or a transaction that has failed.
  groups.forget();
  fail("P");
  for (let time = 0; time < 2; time += 1) expect(send(group(MARKED))).toBe("EZ");
  fail("");
  expect(send(group(MARKED))).toBe("12CZ");
  expect(statements.size).toBe(1);
});

it("plans a text again from time to time, under the same name", () => {
  const { send, parsed, statements } = openBackend();
  for (let time = 0; time <= EXECUTIONS_OF_A_PLAN; time += 1) send(group(MARKED));
  expect(parsed()).toBe(1);
  expect(send(group(MARKED))).toBe("12CZ");
  expect(parsed()).toBe(2);
  expect(statements.size).toBe(1);
});

it("prepares a hundred texts at most", () => {
  const { send, statements } = openBackend();
  for (let text = 0; text < 150; text += 1) send(group(`${MARKED} ${String(text)}`));
  expect([...statements.keys()].filter((name) => name !== "")).toHaveLength(100);
});
