/** The inputs that this process has sent last, for the report of a fault. */

/** Several attackers have up to 32 on their way at a time. */
const MOST = 128;

const recent: Buffer[] = [];

export function remember(input: Buffer): void {
  recent.push(input);
  if (recent.length > MOST) recent.shift();
}

/** In hexadecimal digits, the last one at the end. */
export function recentInputs(): readonly string[] {
  return recent.map((input) => input.toString("hex"));
}
