import { signal } from "@preact/signals";

/** Whether the command menu is open; its code is fetched when it opens for the first time. */
export const areCommandsOpen = signal(false);

export const openCommands = (): void => {
  areCommandsOpen.value = true;
};

/** Ctrl K, or Command K, opens the command menu from anywhere. */
export function listenForCommands(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    areCommandsOpen.value = !areCommandsOpen.value;
  });
}
