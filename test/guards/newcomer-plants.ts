/** What a newcomer writes for one task of the house, in a copy of the sources. */
export interface Planting {
  readonly task: string;
  /** New files. */
  readonly adds: Readonly<Record<string, string>>;
  /** Lines put before the place that a pattern finds. */
  readonly lines: readonly (readonly [file: string, before: RegExp, line: string])[];
  /** Pages that say it. */
  readonly docs: readonly string[];
  /** Files that may be touched: new ones, and lines in old ones. */
  readonly most: { readonly added: number; readonly lines: number };
}

const CHECK = `import { type FieldsOf, type Advised, type Check, NOT_NOW } from "./check.ts";
import { Type } from "../json-schema.ts";

const FIELDS = { planted_field: Type.Integer({ description: "A planted number.", minimum: 0 }) };
type Fields = FieldsOf<typeof FIELDS>;

export const planted: Check<"planted", typeof FIELDS> = {
  name: "planted",
  title: "A planted title",
  about: "A planted check.",
  fields: FIELDS,
  questions: 0,
  run: () => Promise.resolve({ planted_field: 7 }),
  advise: ({ planted_field: field }: Advised & Fields) =>
    field === undefined ? NOT_NOW : { state: "good", says: \`Planted: \${String(field)}.\` },
};
`;

const ROUTE = `import { Type } from "../../core/json-schema.ts";
import { json, type Operation } from "../operation.ts";
import { JSON_TYPE, type Route } from "../route.ts";

export const PLANTED: Operation = {
  id: "planted",
  at: "GET /api/planted",
  summary: "A planted route",
  tag: "system",
  answers: json("What the setting says.", Type.Object({ words: Type.String() }), { words: "w" }),
};

/** GET /api/planted. */
export function plantedRoute(words: string): Route {
  return {
    family: "planted",
    methods: ["GET"],
    body: "params",
    parameters: new Set(),
    charges: "nothing",
    handle: () => ({ type: JSON_TYPE, body: JSON.stringify({ words }) }),
  };
}
`;

const COMMAND = `import { rowsFor } from "../command.ts";

/** \`gatepost planted\`. */
export const plantedCommand = rowsFor()("planted", {
  about: "a planted command",
  examples: ["gatepost planted"],
  run: () => ({ text: "Planted.\\n" }),
});
`;

const START = /^/;

export const PLANTINGS: readonly Planting[] = [
  {
    task: "a premium check with a field of its own",
    adds: { "src/core/checks/planted.ts": CHECK },
    lines: [
      ["src/core/checks/registry.ts", START, 'import { planted } from "./planted.ts";\n'],
      ["src/core/checks/registry.ts", /(?<=^const ALL = \[[^\]]*)\] as const;/m, ", planted"],
    ],
    docs: ["docs/premium.md"],
    most: { added: 1, lines: 1 },
  },
  {
    task: "a signal",
    adds: {},
    lines: [
      [
        "src/core/evidence/signals.ts",
        /^\} as const satisfies/m,
        `  planted_signal: {
    weight: 0,
    about: "note",
    means: "A planted note.",
    short: "Planted.",
    found: null,
  },
`,
      ],
      [
        "src/core/evidence/domain-evidence.ts",
        /^ +freeRegistryEvidence\(domain\.name\),/m,
        '    domain.name.startsWith("planted.") ? evidence("planted_signal") : undefined,\n',
      ],
    ],
    docs: ["docs/signals.md"],
    most: { added: 0, lines: 2 },
  },
  {
    task: "a field of the single answer",
    adds: {},
    lines: [
      [
        "src/core/validate/result.ts",
        /^ +role: flag\(/m,
        '  planted_length: Type.Optional(Type.Integer({ description: "Of the domain." })),\n',
      ],
      [
        "src/core/validate/validate.ts",
        /^ +draft\.role = /m,
        "  draft.planted_length = domain.name.length;\n",
      ],
    ],
    docs: ["docs/api.md"],
    most: { added: 0, lines: 2 },
  },
  {
    task: "a field of the decision",
    adds: {},
    lines: [
      [
        "src/gate/gate-shapes.ts",
        /^ +complete: Type\.Boolean\(\{ description: "False: DNS/m,
        '    planted_seen: Type.Optional(Type.Boolean({ description: "Planted." })),\n',
      ],
      ["src/gate/decision-body.ts", /^ +complete: isComplete,/m, "    planted_seen: true,\n"],
    ],
    docs: ["docs/decide.md"],
    most: { added: 0, lines: 2 },
  },
  {
    task: "a feed",
    adds: {},
    lines: [
      [
        "tables/feeds.txt",
        /^wesbos\t/m,
        "planted\tweak\tlines\t1\tno\tno\tplanted/lists/HEAD/list.txt\n",
      ],
    ],
    docs: [],
    most: { added: 0, lines: 1 },
  },
  {
    task: "a setting, used by an API route",
    adds: { "src/http/api/planted.ts": ROUTE },
    lines: [
      [
        "src/main/settings/config.ts",
        /^ +maxConnectionsPerAddress: set\(/m,
        '  planted: set("GATEPOST_PLANTED", "nothing", text, "Words of the planted route."),\n',
      ],
      ["src/main/service.ts", START, 'import { plantedRoute } from "../http/api/planted.ts";\n'],
      ["src/main/service.ts", /^ +viewRoute\(/m, "    plantedRoute(process.config.planted),\n"],
      ["src/http/operations.ts", START, 'import { PLANTED } from "./api/planted.ts";\n'],
      ["src/http/operations.ts", /^ +EXPLAIN,$/m, "  PLANTED,\n"],
    ],
    docs: ["docs/configuration.md", "docs/api.md"],
    most: { added: 1, lines: 3 },
  },
  {
    task: "a command",
    adds: { "src/cli/commands/planted.ts": COMMAND },
    lines: [
      [
        "src/main/tools.ts",
        START,
        'import { plantedCommand } from "../cli/commands/planted.ts";\n',
      ],
      ["src/main/tools.ts", /^ +backupCommand\(/m, "    plantedCommand(terminal, opening({})),\n"],
    ],
    docs: ["docs/cli.md"],
    most: { added: 1, lines: 1 },
  },
];
