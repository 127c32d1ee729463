import { registrationCacheContract } from "../../../test/contracts/registration-cache.ts";
import { memoryRegistrationCache } from "./registration-cache.ts";

registrationCacheContract("memory", () => Promise.resolve(memoryRegistrationCache()));
