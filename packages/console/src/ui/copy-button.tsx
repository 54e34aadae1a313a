import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button.tsx";
import { useToast } from "./toast.tsx";

/** How long the tick stays. */
const DONE_MS = 1500;

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [done, setDone] = useState(false);
  const toast = useToast();
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), DONE_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
    } catch {
      // Pages that came by plain http from another machine have no clipboard.
      toast("The browser does not let this page copy. Select the text instead.", "failed");
    }
  };
  return (
    <IconButton
      label={done ? "Copied" : label}
      icon={done ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      small
      onClick={() => void copy()}
    />
  );
}
