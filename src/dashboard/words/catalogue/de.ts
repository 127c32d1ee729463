import type { Catalogue } from "../../app/i18n.ts";

export const DE: Catalogue = {};
