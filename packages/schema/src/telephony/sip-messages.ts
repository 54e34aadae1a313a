/** The SIP messages of a call, and what the check of a trunk or a registration finds. */

import { z } from "zod";
import { text, Timestamp } from "../values/fields.ts";
import { TelephonyFinding } from "./dialling.ts";

const Transport = z.enum(["udp", "tcp", "tls"]);

export const SipMessage = z.strictObject({
  timestamp: Timestamp,
  direction: z.enum(["sent", "received"]).describe("As seen by the service."),
  transport: Transport,
  source: z.string().describe("Address and port, such as `203.0.113.5:5060`."),
  destination: z.string(),
  firstLine: z.string().describe("Such as `INVITE sip:+4930123456@trunk.example SIP/2.0`."),
  text: z
    .string()
    .describe(
      "The message, at most 8,000 characters. Passwords, answers to challenges, and keys of media are replaced by `***`.",
    ),
});
export type SipMessage = z.output<typeof SipMessage>;

const TARGET =
  /^(?:sips?:)?(?:[^\s<>"@]+@)?(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:;[\w.=-]+)*$/;

export const SipCheckRequest = z
  .strictObject({
    to: text(1, 200)
      .refine((value) => TARGET.test(value), {
        error: "must be a host or a SIP address, such as sip:trunk.example;transport=tcp",
      })
      .optional()
      .describe("A trunk, which gets an OPTIONS request. Absent: the configuration alone is checked."),
  })
  .meta({ examples: [{ to: "sip:trunk.example;transport=tcp" }] });
export type SipCheckRequest = z.output<typeof SipCheckRequest>;

const SipCheckAnswer = z.strictObject({
  request: z.enum(["OPTIONS", "REGISTER"]),
  transport: Transport,
  address: z.string().describe("Where the answer came from."),
  status: z.int(),
  reason: z.string(),
  realm: z.string().nullable().describe("Of the challenge, where the answer is one."),
  software: z.string().nullable().describe("What the other side says about itself."),
});

export const SipCheck = z.strictObject({
  ok: z.boolean().describe("No finding is an error."),
  findings: z.array(TelephonyFinding),
  answers: z.array(SipCheckAnswer).describe("The final answers to the requests of the check."),
});
export type SipCheck = z.output<typeof SipCheck>;
