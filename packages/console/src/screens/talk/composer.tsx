/** The text input of a call. */

import type { Call, Urgency } from "@parley/client";
import { SendHorizontal } from "lucide-react";
import { type FormEvent, useState } from "react";
import { IconButton } from "../../ui/button.tsx";
import { Select, TextInput } from "../../ui/field.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./talk.module.css";

const URGENCIES: readonly { readonly value: Urgency; readonly label: string }[] = [
  { value: "soon", label: "After the agent" },
  { value: "immediate", label: "Interrupt" },
  { value: "later", label: "No reply" },
];

export function Composer({ call }: { readonly call: Call }) {
  const [text, setText] = useState("");
  const [urgency, setUrgency] = useState<Urgency>("soon");
  const toast = useToast();
  const send = (event: FormEvent) => {
    event.preventDefault();
    const said = text.trim();
    if (said === "") return;
    try {
      call.sendText(said, { urgency });
      setText("");
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "failed");
    }
  };
  return (
    <form className={styles.composer} aria-label="Type to the agent" onSubmit={send}>
      <TextInput
        aria-label="Message"
        placeholder="Type instead of speaking"
        autoComplete="off"
        enterKeyHint="send"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Select
        aria-label="How to send"
        className={styles.urgency}
        value={urgency}
        choices={URGENCIES}
        onChange={setUrgency}
      />
      <IconButton
        type="submit"
        kind="primary"
        label="Send"
        icon={<SendHorizontal aria-hidden="true" />}
        disabled={text.trim() === ""}
      />
    </form>
  );
}
