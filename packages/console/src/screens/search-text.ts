/** What is typed into a search field, and what is asked for once the typing pauses. */

import { useEffect, useState } from "react";

/** Long enough for the next letter of most people, short enough to feel immediate. */
const PAUSE_MS = 250;

export function useSearchText(initial = "") {
  const [text, setText] = useState(initial);
  const [wanted, setWanted] = useState(initial);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { text, setText, wanted };
}
