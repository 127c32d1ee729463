import { registrationCacheContract } from "../../test/contracts/evidence/registration-cache.ts";
import { memoryRegistrationCache } from "./registration-cache.ts";

registrationCacheContract("memory", () => Promise.resolve(memoryRegistrationCache()));
