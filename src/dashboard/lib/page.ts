export { takeBroughtFile, useDroppedFile } from "../parts/dropped-file.ts";
