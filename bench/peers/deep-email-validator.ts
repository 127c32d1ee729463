import { setServers } from "node:dns";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { answerLines } from "./protocol.ts";

type Validate = (options: object) => Promise<{ readonly valid: boolean }>;

const [, , dns = "", folder = ""] = process.argv;
setServers([dns]);
const path = createRequire(join(folder, "x.js")).resolve("deep-email-validator");
const { validate } = (await import(pathToFileURL(path).href)) as { readonly validate: Validate };
// Its probe by SMTP is off, because no sign-up form waits for a mail server.
await answerLines(async (email) => (await validate({ email, validateSMTP: false })).valid);
