import type { GateOptions, GateWorld } from "./gate-world.ts";
import { inject } from "../http/inject.ts";

export interface Answer {
  readonly decision: string;
  readonly reason: string;
  readonly message?: string;
  readonly retry_after?: number;
  readonly did_you_mean?: string;
  readonly complete: boolean;
  readonly policy: { readonly name: string; readonly version: number };
  readonly mailbox?: { readonly id: string; readonly seen?: number };
  readonly counts?: Readonly<Record<string, Readonly<Record<"10m" | "day" | "30d", number>>>>;
  readonly result?: {
    readonly format: boolean;
    readonly disposable: boolean;
    readonly signals: readonly string[];
    readonly mx_info?: readonly string[];
  };
  readonly token?: string;
}

export const KNOWN: GateOptions = {
  known: { curated: ["bad.example"], domains: { "vip.example": "allow", "foe.example": "deny" } },
};

export async function ask(
  { app }: GateWorld,
  payload: object | string,
  headers: Record<string, string> = {},
): Promise<{ status: number; answer: Answer; headers: Record<string, unknown> }> {
  const type =
    typeof payload === "string" ? "application/x-www-form-urlencoded" : "application/json";
  const reply = await inject(app, {
    method: "POST",
    url: "/api/decide",
    payload,
    headers: { "content-type": type, ...headers },
  });
  return { status: reply.statusCode, answer: reply.json(), headers: reply.headers };
}
