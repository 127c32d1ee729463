import { createPublicHostCheck } from "../../src/outbound/dial.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import { countingIds } from "../contracts/stores.ts";
import { realClock } from "../time/real-clock.ts";
import { zoneLookup } from "../dns/zone-lookup.ts";
import { WebhookSetup } from "../../src/webhooks/configure.ts";

const zone = zoneLookup({
  "hook.example": { a: ["93.184.216.34"], aaaa: ["2606:2800:21f::1"] },
  "xn--bcher-kva.example": { a: ["93.184.216.34"] },
  "mixed.example": { a: ["93.184.216.34", "10.0.0.5"] },
  "mixed6.example": { a: ["93.184.216.34"], aaaa: ["::ffff:10.0.0.5"] },
  "private.example": { a: ["192.168.1.1"] },
  "loopback.example": { a: ["127.0.0.1"] },
  "metadata.example": { a: ["169.254.169.254"] },
  "v6metadata.example": { aaaa: ["fd00:ec2::254"] },
  "cgnat.example": { a: ["100.64.1.1"] },
  "nat64.example": { aaaa: ["64:ff9b::7f00:1"] },
  "sixtofour.example": { aaaa: ["2002:7f00:1::1"] },
  "teredo.example": { aaaa: ["2001:0:4136:e378:8000:63bf:3fff:fdd2"] },
  "mapped.example": { aaaa: ["::ffff:127.0.0.1"] },
  "linklocal.example": { aaaa: ["fe80::1"] },
  "nothing.example": { mx: ["10 mx.example"] },
  "broken.example": { unknown: true },
});

export const checkHost = createPublicHostCheck({
  addresses: (host) => zone.addresses(host),
  clock: realClock,
});

export function setup(save: (url: string) => void = () => undefined) {
  return new WebhookSetup({
    endpoints: {
      find: () => Promise.resolve(undefined),
      save: ({ url }) => Promise.resolve(save(url)),
      change: () => Promise.resolve(false),
      remove: () => Promise.resolve(false),
    },
    box: createSecretBox(new Uint8Array(32)),
    ids: countingIds(),
    checkHost,
  });
}
