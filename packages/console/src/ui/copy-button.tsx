import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button.tsx";
import { useToast } from "./toast.tsx";

/** How long the check mark is shown. */
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
      // Plain-http pages from another machine have no clipboard access.
      toast("The browser does not allow copying on this page. Select the text instead.", "failed");
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
