import { createValidator } from "../../src/main/library.ts";
import { answerLines } from "./protocol.ts";

const [, , dnsServers = ""] = process.argv;
const validator = await createValidator({ dnsServers, dnsCanaries: [] });
await answerLines(async (address) => {
  const { format, dns, disposable } = await validator.validate(address);
  return format && dns === true && disposable !== true;
});
await validator.close();
