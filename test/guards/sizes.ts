import { parseSync } from "vite";

interface Node {
  readonly type?: string;
  readonly start?: number;
  readonly end?: number;
}

const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

const linesOf = (text: string): number => text.split("\n").length;

/** How many lines each function of a file has, those within others included. */
export function functionLines(file: string, source: string): readonly number[] {
  const found: number[] = [];
  JSON.stringify(parseSync(file, source).program, (_key, node: Node | bigint | null) => {
    if (typeof node === "bigint") return 0;
    if (typeof node === "object" && node !== null && FUNCTIONS.test(node.type ?? "")) {
      found.push(linesOf(source.slice(node.start, node.end)));
    }
    return node;
  });
  return found;
}

/** The value that nine in ten do not exceed. */
export function ninetieth(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
}
