import { basePathOf } from "../request/target.ts";
import { IDLE_MS } from "../../accounts/sign-in/sign-ins.ts";

/** How the session cookie is written: by the scheme of the public address. */
export interface SessionCookie {
  read(header: string | undefined): string | undefined;
  /** The value of Set-Cookie; an empty token takes the cookie away. */
  write(token: string): string;
}

/**
 * Behind TLS the `__Host-` prefix makes browsers hold it to Secure, this host and the whole path, and `__Secure-`, for a
 * public URL with a path, to Secure. Over plain HTTP, as on a loopback address, they would refuse such a name.
 */
export function sessionCookie(publicUrl: string): SessionCookie {
  const isSecure = publicUrl.startsWith("https:");
  const path = basePathOf(publicUrl) || "/";
  const prefix = path === "/" ? "__Host-" : "__Secure-";
  const name = isSecure ? `${prefix}gatepost_session` : "gatepost_session";
  const attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return {
    read: (header) => valueOf(name, header ?? ""),
    write: (token) => {
      const seconds = token === "" ? 0 : Math.floor(IDLE_MS / 1_000);
      return `${name}=${token}; Max-Age=${String(seconds)}; ${attributes}`;
    },
  };
}

function valueOf(name: string, header: string): string | undefined {
  const pair = header.split(";").find((part) => part.trim().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}
