import type { Route } from "../route.ts";
import { type CompatDeps, compatRoute } from "./compat-route.ts";
import { abstract } from "./services/abstract.ts";
import { aftership } from "./services/aftership.ts";
import { blockTemporaryEmail } from "./services/block-temporary-email.ts";
import { debounceFree } from "./services/debounce-free.ts";
import { debounce } from "./services/debounce.ts";
import { emailable } from "./services/emailable.ts";
import { kickboxOpen } from "./services/kickbox-open.ts";
import { kickbox } from "./services/kickbox.ts";
import { mailcheckAi } from "./services/mailcheck-ai.ts";
import { mailgun } from "./services/mailgun.ts";
import { neverbounce } from "./services/neverbounce.ts";
import { reacher } from "./services/reacher.ts";
import { usercheck } from "./services/usercheck.ts";
import { zerobounce } from "./services/zerobounce.ts";
import type { Shape } from "./shape.ts";

/** Every service whose clients work here with another base URL. */
export const SHAPES: readonly Shape[] = [
  kickboxOpen,
  kickbox,
  debounceFree,
  debounce,
  usercheck,
  mailcheckAi,
  zerobounce,
  neverbounce,
  emailable,
  abstract,
  mailgun,
  reacher,
  aftership,
  blockTemporaryEmail,
];

export const compatRoutes = (deps: CompatDeps): readonly Route[] =>
  SHAPES.map((shape) => compatRoute(shape, deps));
