/** A file that is dropped beside what takes one would open in the page's place, and all that stands there be lost. */
export function refuseDrops(): void {
  const refuse = (event: DragEvent): void => {
    const { dataTransfer, target } = event;
    const isInput = target instanceof HTMLInputElement && target.type === "file";
    if (event.defaultPrevented || isInput || dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    dataTransfer.dropEffect = "none";
  };
  addEventListener("dragover", refuse);
  addEventListener("drop", refuse);
}
