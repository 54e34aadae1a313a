/** The text of a search field, and the text to search for after a pause in typing. */

import { useEffect, useState } from "react";

/** Longer than most people pause between letters, short enough to feel immediate. */
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
