/** An event in the conversation. */

import type { CallEvent, Severity } from "@parley/schema";
import {
  ArrowRightLeft,
  CircleAlert,
  EarOff,
  Info,
  PhoneCall,
  PhoneOff,
  Scissors,
  Timer,
  Voicemail,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "../../ui/class-names.ts";
import type { Tone } from "../../ui/display.tsx";
import { CodeBlock } from "../../ui/parts.tsx";
import styles from "./transcript.module.css";

export const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = {
  debug: "plain",
  info: "plain",
  warning: "warn",
  error: "bad",
};

const ICONS: Readonly<Record<string, LucideIcon>> = {
  "call.joined": PhoneCall,
  "call.ended": PhoneOff,
  "stage.changed": ArrowRightLeft,
  "telephony.machine_detected": Voicemail,
  "turn.completed": Timer,
  "turn.interrupted": Scissors,
  "turn.not_understood": EarOff,
};

export interface EventRowProps {
  readonly event: CallEvent;
  /** How often it happened. */
  readonly count: number;
  readonly time: ReactNode;
}

export function EventRow({ event, count, time }: EventRowProps) {
  const { type, text, severity } = event;
  const isBad = severity === "warning" || severity === "error";
  const Icon = isBad ? CircleAlert : (ICONS[type] ?? Info);
  return (
    <li className={styles.line}>
      {time}
      <div className={classNames(styles.event, isBad && styles[severity])}>
        <Icon aria-hidden="true" />
        <div>
          <code>{type}</code> {text}
          {count > 1 && ` ×${count.toLocaleString()}`}
          <Extras event={event} />
        </div>
      </div>
    </li>
  );
}

export function Extras({ event: { extras } }: { readonly event: CallEvent }) {
  if (extras === null || Object.keys(extras).length === 0) return null;
  return (
    <details className={styles.extras}>
      <summary>Details</summary>
      <CodeBlock label="Event details">{JSON.stringify(extras, null, 2)}</CodeBlock>
    </details>
  );
}
