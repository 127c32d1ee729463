export { accepted, ApiFault, call, faultText } from "../api/client.ts";
