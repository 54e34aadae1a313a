/** Templates for new agents. Each says whether it works with the built-in offline engines. */

import type { LucideIcon } from "lucide-react";
import { ConciergeBell, FilePlus2, ListChecks, PhoneForwarded } from "lucide-react";

export interface Starter {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly icon: LucideIcon;
  readonly template: Readonly<Record<string, unknown>>;
  /** Fields that differ with the demo engines, which understand only these phrases. */
  readonly demoTemplate?: (phrases: readonly string[]) => Readonly<Record<string, unknown>>;
}

/** @param phrases what calls understand; null: all speech */
export function templateOf(starter: Starter, phrases: readonly string[] | null): Starter["template"] {
  return phrases === null ? starter.template : { ...starter.template, ...starter.demoTemplate?.(phrases) };
}

const SILENCE = [
  { duration: "12s", message: "Are you still there?" },
  { duration: "12s", message: "I will hang up now. Goodbye.", endBehavior: "END_BEHAVIOR_HANG_UP_SOFT" },
];

export const STARTERS: readonly Starter[] = [
  {
    id: "concierge",
    name: "Concierge",
    text: "Greets the caller and answers briefly. Works with the demo engines.",
    icon: ConciergeBell,
    template: {
      systemPrompt:
        "You are the concierge of a small hotel by the sea. Breakfast is from seven to ten, the pool is open until nine. " +
        "Answer in one or two short sentences, as they are spoken. When you do not know something, say so.",
      firstSpeakerSettings: { agent: { text: "Good evening. What can I do for you?" } },
      inactivityMessages: SILENCE,
      recordingEnabled: true,
    },
    demoTemplate: (phrases) => ({
      firstSpeakerSettings: {
        // Two are enough to listen to; the page shows the others.
        agent: { text: `Good evening. Try saying: ${phrases.slice(-2).join(", or: ")}.` },
      },
    }),
  },
  {
    id: "intake",
    name: "Appointment desk",
    text: "Asks for the details of an appointment and confirms them. Requires a language model.",
    icon: ListChecks,
    template: {
      systemPrompt:
        "You take appointments for a bicycle workshop, Monday to Friday from nine to five. Find out, one question at a " +
        "time: the name, what is wrong with the bicycle, and which day suits. Repeat all three in one sentence and ask " +
        "whether they are right. Then say goodbye and call hangUp. You speak on the telephone: no lists, no symbols.",
      firstSpeakerSettings: { agent: { text: "Bicycle workshop, good day. May I have your name?" } },
      vadSettings: { turnEndpointDelay: "0.6s" },
      selectedTools: [{ toolName: "hangUp" }],
      inactivityMessages: SILENCE,
      maxDuration: "600s",
      recordingEnabled: true,
    },
  },
  {
    id: "reminder",
    name: "Reminder call",
    text: "Reminds a guest of a reservation. Uses variables that are set for each call. Requires a language model.",
    icon: PhoneForwarded,
    template: {
      systemPrompt:
        "You call {{guest}} to remind them of their table on {{day}}. If they cannot come, offer to cancel it. Be kind " +
        "and brief, say goodbye, and call hangUp.",
      firstSpeakerSettings: { agent: { prompt: "Greet {{guest}} by name and say why you call." } },
      selectedTools: [{ toolName: "hangUp" }],
      maxDuration: "300s",
      timeExceededMessage: "I have to go now. Goodbye, {{guest}}.",
    },
  },
  {
    id: "blank",
    name: "Blank agent",
    text: "Starts with default settings and no prompt.",
    icon: FilePlus2,
    template: {},
  },
];
