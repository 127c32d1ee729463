import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Takes a file that is dropped anywhere on the page: beside a smaller target the browser would open it in the
 * page's place. True while one is held over the page.
 */
export function useDroppedFile(onFile: (file: File | undefined) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFile);
  take.current = onFile;
  useEffect(() => {
    const listener = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(event.type === "dragover");
      if (event.type === "drop") take.current(event.dataTransfer.files[0]);
    };
    const kinds = ["dragover", "dragleave", "drop"] as const;
    for (const kind of kinds) document.addEventListener(kind, listener);
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, listener);
    };
  }, []);
  return isOver;
}

/** Dropped on the front page, before its visitor had an account. */
let brought: File | undefined;

/** Keeps a file until the page of lists takes it; nothing of it leaves the browser. */
export function bringFile(file: File): void {
  brought = file;
}

/** The file that a visitor brought along, once. */
export function takeBroughtFile(): File | undefined {
  const file = brought;
  brought = undefined;
  return file;
}
