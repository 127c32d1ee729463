import { registrationCacheContract } from "../../test/contracts/evidence/registration-cache.ts";
import { memoryRegistrationCache } from "./rdap/registration.ts";

registrationCacheContract("memory", () => Promise.resolve(memoryRegistrationCache()));
