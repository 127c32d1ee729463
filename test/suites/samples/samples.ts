import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const run = promisify(execFile);

interface Language {
  readonly name: string;
  /** The language of the fenced block. */
  readonly mark: string;
  readonly tool: string;
  readonly file: string;
  readonly command: (folder: string) => readonly [string, ...string[]];
}

const LANGUAGES: readonly Language[] = [
  {
    name: "TypeScript",
    mark: "typescript",
    tool: "node",
    file: "sample.mts",
    command: (folder) => ["node", join(folder, "built", "sample.mjs")],
  },
  {
    name: "Python",
    mark: "python",
    tool: "python3",
    file: "sample.py",
    command: (folder) => ["python3", join(folder, "sample.py")],
  },
  {
    name: "PHP",
    mark: "php",
    tool: "php",
    file: "sample.php",
    command: (folder) => ["php", join(folder, "sample.php")],
  },
  {
    name: "Ruby",
    mark: "ruby",
    tool: "ruby",
    file: "sample.rb",
    command: (folder) => ["ruby", join(folder, "sample.rb")],
  },
];

/** Makes a program from a sample: it reads the file named by its first argument and prints a line for each case. */
export type Driver = (sample: string) => string;

export interface Samples {
  /** The page, relative to the repository. */
  readonly page: string;
  readonly says: string;
  /** By the language of the fenced block. */
  readonly drivers: Readonly<Record<string, Driver>>;
  /** Written for the programs. */
  readonly cases: string;
  /** The lines that each program must print. */
  readonly want: readonly string[];
}

/** A test for each language with a driver: the sample of the page prints what is wanted. */
export function testSamples(samples: Samples): void {
  for (const language of LANGUAGES.filter(({ mark }) => samples.drivers[mark] !== undefined)) {
    const { name, tool } = language;
    const missing = hasTool(tool) ? [] : [tool];
    testWith([tool], missing, `the ${name} sample of ${samples.page} ${samples.says}`, async () => {
      assert.deepEqual(await linesOf(language, samples), samples.want);
    });
  }
}

async function linesOf(language: Language, samples: Samples): Promise<readonly string[]> {
  const { mark, file } = language;
  const driver = samples.drivers[mark];
  assert.ok(driver !== undefined, `no driver for ${mark}`);
  const folder = temporaryFolder();
  await mkdir(join(folder, "built"));
  await writeFile(join(folder, "cases"), samples.cases);
  await writeFile(join(folder, file), driver(await sampleOf(samples.page, mark)));
  if (mark === "typescript") await compileTypeScript(folder);
  const [command, ...words] = language.command(folder);
  const { stdout } = await run(command, [...words, join(folder, "cases")], {
    env: environment(),
    timeout: 240_000,
  });
  return stdout.trim().split("\n");
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PYTHONPATH: join(root, "clients", "python"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

async function sampleOf(page: string, mark: string): Promise<string> {
  const document = await readFile(join(root, page), "utf8");
  const sample = new RegExp(`\`\`\`${mark}\\n([^]*?)\`\`\``).exec(document)?.[1];
  assert.ok(sample !== undefined, `${page} has no ${mark} sample`);
  return sample;
}

export async function compileTypeScript(
  folder: string,
  file = "sample.mts",
  out = join(folder, "built"),
): Promise<void> {
  const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
  const options = [
    "--ignoreConfig",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    ...types,
  ];
  const built = ["--outDir", out, join(folder, file)];
  await run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), ...options, ...built]);
}
