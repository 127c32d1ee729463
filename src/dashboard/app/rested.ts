import { useEffect, useState } from "preact/hooks";

/** How long typing has to rest before a search is sent. */
const REST_MS = 200;

/** `text` as it was when typing last rested, without blanks around it. */
export function useRested(text: string): string {
  const [rested, setRested] = useState(text.trim());
  useEffect(() => {
    const timer = setTimeout(() => setRested(text.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
