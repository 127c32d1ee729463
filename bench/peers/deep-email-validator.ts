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
// Its probe by SMTP asks every mail server: nobody's sign-up waits for that.
await answerLines(async (email) => (await validate({ email, validateSMTP: false })).valid);
