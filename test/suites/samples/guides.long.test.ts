import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { before, suite } from "node:test";
import { promisify } from "node:util";
import { DOCS_ZONE } from "../../e2e/docs-zone.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { hiddenIn } from "../../policy/hostile-values.ts";
import { guideBlocks } from "./guide-blocks.ts";
import {
  countOf,
  FRAMEWORKS,
  inTime,
  PYTHON,
  startRefusingService,
  worksIn,
} from "./guide-tools.ts";

const run = promisify(execFile);

type Form = Readonly<Record<string, string | readonly string[]>>;

const PERMANENT = "Please use a permanent email address.";
const NO_MAIL = "This address cannot receive email. Please check the part after the @.";
const MEANT = "Did you mean jo@gmail.com?";

/** A form, and what the visitor reads. */
const DECIDED: readonly (readonly [form: Form, message: string])[] = [
  [{ email: "jo@good.example" }, ""],
  [{ email: "jo@silent.example" }, ""],
  [{ email: "jo@gmaik.com" }, MEANT],
  [{ email: "jo@gmaik.com", confirmed: "" }, MEANT],
  [{ email: "jo@gmaik.com", confirmed: "1" }, ""],
  [{ email: "jo@mailinator.com" }, PERMANENT],
  [{ email: "jo@mailinator.com", confirmed: "1" }, PERMANENT],
  [{ email: "jo@null.example", confirmed: "1" }, NO_MAIL],
];

/** Forms that are refused without asking, in whatever words; some frameworks have their own. */
const MALFORMED: readonly Form[] = [
  { email: ["jo@mailinator.com", "jo@mailinator.com"], confirmed: "1" },
  { email: "", confirmed: "1" },
  { confirmed: "1" },
];

/** A listed address among what a visitor can put into a field of text; nobody comes in by it. */
const HIDDEN = hiddenIn("mailinator.com").map((email): Form => ({ email, confirmed: "1" }));

/** Over the service's limit; a framework that cuts the white space off asks about the rest. */
const LONG: Form = { email: `jo@mailinator.com${" ".repeat(70_000)}`, confirmed: "1" };

interface Guide {
  readonly program: string;
  readonly missing: () => readonly string[];
  readonly fence: string;
  /** A file for each block; "" for a block of another guide. */
  readonly files: readonly string[];
  /** The page of docs/guides, if its name is another. */
  readonly page?: string;
  readonly wrap?: (file: string, block: string) => string;
  /** What the framework needs beside the guide's files. */
  readonly beside?: Readonly<Record<string, string>>;
  readonly link?: Readonly<Record<string, string>>;
  /**
   * Sends the forms of the file that the first argument names to the guide's code, as sign-ups, or as changes of address when there
   * is a second argument; prints the messages as JSON.
   */
  readonly driver: readonly [file: string, code: string];
}

/** The address that the proxy appends; before it stands what the visitor says. */
const VISITOR = "192.0.2.1";

const GUIDES: Readonly<Record<string, Guide>> = {
  express: {
    program: "node",
    missing: () => (existsSync(join(FRAMEWORKS, "express")) ? [] : ["express"]),
    fence: "js",
    files: ["gatepost.mjs", "server.mjs", "", "", ""],
    link: { node_modules: FRAMEWORKS },
    driver: [
      "driver.mjs",
      `import { readFileSync } from "node:fs";
import { Server } from "node:http";
let server;
const { listen } = Server.prototype;
Server.prototype.listen = function (...words) { server = this; return listen.apply(this, words); };
await import("./server.mjs");
if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
const said = [];
const [, , forms, isChange] = process.argv;
const [path, done] = isChange ? ["/account/email", 200] : ["/sign-up", 201];
for (const form of JSON.parse(readFileSync(forms))) {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) for (const each of [value].flat()) body.append(name, each);
  const headers = { "x-forwarded-for": "203.0.113.9, ${VISITOR}" };
  const answer = await fetch(\`http://127.0.0.1:\${server.address().port}\${path}\`, { method: "POST", body, headers });
  const { error = "" } = await answer.json();
  said.push(answer.status === (error ? 422 : done) ? error : String(answer.status));
}
process.stdout.write(JSON.stringify(said), () => process.exit());`,
    ],
  },
  next: {
    program: "node",
    missing: () => [],
    fence: "js",
    page: "express",
    files: [
      "gatepost.mjs",
      "",
      "email-form.mjs",
      "app/sign-up/route.mjs",
      "app/account/email/route.mjs",
    ],
    driver: [
      "driver.mjs",
      `import { readFileSync } from "node:fs";
const [, , forms, isChange] = process.argv;
const [path, done] = isChange ? ["account/email", 200] : ["sign-up", 201];
const { POST } = await import(\`./app/\${path}/route.mjs\`);
const said = [];
for (const form of JSON.parse(readFileSync(forms))) {
  const body = new FormData();
  for (const [name, value] of Object.entries(form)) {
    if (Array.isArray(value)) body.append(name, new Blob(["a file"]));
    else body.append(name, value);
  }
  const headers = { "x-forwarded-for": "203.0.113.9, ${VISITOR}" };
  const answer = await POST(new Request("http://shop.example/" + path, { method: "POST", body, headers }));
  const { error = "" } = await answer.json();
  said.push(answer.status === (error ? 422 : done) ? error : String(answer.status));
}
console.log(JSON.stringify(said));`,
    ],
  },
  django: {
    program: PYTHON,
    missing: () => (worksIn(PYTHON, "import django", "-c") ? [] : ["python3-django"]),
    fence: "py",
    files: ["shop/gatepost.py", "shop/forms.py", ""],
    beside: { "shop/__init__.py": "" },
    driver: [
      "driver.py",
      `import json, sys, django
from django.conf import settings
settings.configure(LANGUAGE_CODE="en")
django.setup()
from django.test import RequestFactory
from shop.forms import ChangeEmailForm, SignUpForm, visitor_address
visitor_address(lambda request: None)(RequestFactory().get("/", HTTP_X_FORWARDED_FOR="203.0.113.9, ${VISITOR}"))
is_change = len(sys.argv) > 2
same = ChangeEmailForm({"email": "jo@mailinator.com"}, initial={"email": "jo@mailinator.com"})
assert same.is_valid(), "an address that stays is asked about"
said = []
for form in json.load(open(sys.argv[1])):
    filled = ChangeEmailForm(form, initial={"email": "old@good.example"}) if is_change else SignUpForm(form)
    said.append("" if filled.is_valid() else filled.errors["email"][0])
print(json.dumps(said))`,
    ],
  },
  laravel: {
    program: "php",
    missing: () =>
      worksIn("php", "require 'Illuminate/autoload.php'; require 'GuzzleHttp/autoload.php';", "-r")
        ? []
        : ["php-laravel-framework", "php-guzzlehttp-guzzle"],
    fence: "php",
    files: ["config/services.php", "app/Rules/ReceivesMail.php", "app/usage.php", "app/change.php"],
    wrap: (file, block) =>
      file === "config/services.php"
        ? `<?php return [\n${block}];`
        : ["app/usage.php", "app/change.php"].includes(file)
          ? // Laravel 10 calls validate() of the rule itself.
            `<?php\n${block}`.replace("new \\App\\Rules\\ReceivesMail", "$rule")
          : block,
    beside: {
      "config/app.php": `<?php return ['env' => 'production', 'locale' => 'en', 'fallback_locale' => 'en', 'timezone' => 'UTC',
        'key' => str_repeat('k', 32), 'cipher' => 'AES-256-CBC', 'url' => 'http://localhost', 'aliases' => [], 'providers' => [
        Illuminate\\Auth\\AuthServiceProvider::class, Illuminate\\Cache\\CacheServiceProvider::class,
        Illuminate\\Database\\DatabaseServiceProvider::class, Illuminate\\Filesystem\\FilesystemServiceProvider::class,
        Illuminate\\Foundation\\Providers\\ConsoleSupportServiceProvider::class,
        Illuminate\\Foundation\\Providers\\FoundationServiceProvider::class, Illuminate\\Queue\\QueueServiceProvider::class,
        Illuminate\\Translation\\TranslationServiceProvider::class, Illuminate\\Validation\\ValidationServiceProvider::class,
        Illuminate\\View\\ViewServiceProvider::class]];`,
      "config/cache.php":
        "<?php return ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']]];",
      "config/database.php": "<?php return ['default' => 'none', 'connections' => []];",
      "config/queue.php":
        "<?php return ['default' => 'sync', 'connections' => [], 'failed' => ['driver' => 'null']];",
      "config/view.php": "<?php return ['paths' => [], 'compiled' => sys_get_temp_dir()];",
      "bootstrap/cache/.keep": "",
      "bootstrap/app.php": `<?php
$app = new Illuminate\\Foundation\\Application(dirname(__DIR__));
foreach ([[Illuminate\\Contracts\\Http\\Kernel::class, Illuminate\\Foundation\\Http\\Kernel::class],
    [Illuminate\\Contracts\\Console\\Kernel::class, Illuminate\\Foundation\\Console\\Kernel::class],
    [Illuminate\\Contracts\\Debug\\ExceptionHandler::class, Illuminate\\Foundation\\Exceptions\\Handler::class]] as $pair) {
    $app->singleton(...$pair);
}
return $app;`,
    },
    driver: [
      "driver.php",
      `<?php
// Laravel reads .env once, for config:cache; afterwards nothing of it is in the environment.
require 'Illuminate/autoload.php';
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/' . str_replace(['App\\\\', '\\\\'], ['app/', '/'], $class) . '.php';
    if (is_file($file)) { require $file; }
});
if (!interface_exists('Illuminate\\Contracts\\Validation\\ValidationRule')) { // before Laravel 10
    eval('namespace Illuminate\\Contracts\\Validation; interface ValidationRule {}');
}
$names = ['GATEPOST_URL', 'GATEPOST_KEY'];
file_put_contents(__DIR__ . '/.env', implode("\\n", array_map(fn ($name) => "$name=" . getenv($name), $names)));
$forget = function () use ($names): void {
    foreach ($names as $name) { putenv($name); unset($_ENV[$name], $_SERVER[$name]); }
};
$forget();
(require __DIR__ . '/bootstrap/app.php')->make(Illuminate\\Contracts\\Console\\Kernel::class)->call('config:cache');
unlink(__DIR__ . '/.env');
$forget();
$app = require __DIR__ . '/bootstrap/app.php';
$http = $app->make(Illuminate\\Contracts\\Http\\Kernel::class);
$http->bootstrap();
$rule = fn ($attribute, $value, $fail) => (new App\\Rules\\ReceivesMail)->validate($attribute, $value, $fail);
$file = isset($argv[2]) ? 'change' : 'usage';
$app['router']->post('/sign-up', function (Illuminate\\Http\\Request $request) use ($rule, $file) {
    $request->setUserResolver(fn () => (object) ['email' => 'old@good.example']);
    require __DIR__ . "/app/$file.php";
    return response('', 201);
});
$said = [];
foreach (json_decode(file_get_contents($argv[1]), true) as $form) {
    $headers = ['HTTP_ACCEPT' => 'application/json', 'REMOTE_ADDR' => '${VISITOR}'];
    $answer = $http->handle(Illuminate\\Http\\Request::create('/sign-up', 'POST', $form, [], [], $headers));
    $errors = json_decode($answer->getContent(), true)['errors'] ?? [];
    $said[] = $answer->getStatusCode() === 201 ? '' : $errors['email'][0] ?? $answer->getContent();
}
echo json_encode($said);`,
    ],
  },
  rails: {
    program: "ruby",
    missing: () =>
      worksIn("ruby", 'require "active_record"; require "sqlite3"', "-e")
        ? []
        : ["ruby-activerecord", "ruby-sqlite3"],
    fence: "rb",
    files: ["gatepost.rb", "current.rb", "user.rb", ""],
    driver: [
      "driver.rb",
      `require "logger"
require "active_record"
require "active_support/current_attributes"
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define { create_table(:users) { |t| t.string :email; t.string :name } }
class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
require_relative "gatepost"
require_relative "current"
require_relative "user"
Current.ip = "${VISITOR}"
said = JSON.parse(File.read(ARGV[0])).map do |sent|
  form = sent.reject { |_, value| value.is_a?(Array) } # as params.permit does
  user = User.new(form)
  if ARGV[1]
    User.insert({ email: "old@mailinator.com" })
    user = User.last
    raise "an address that stays is asked about" unless user.update(name: "Jo")
    user.assign_attributes({ "email" => nil }.merge(form))
  end
  user.save ? "" : user.errors[:email].first
end
puts JSON.generate(said)`,
    ],
  },
};

/** Puts the guide's code, and what its framework needs, into a folder. */
function lay(place: string, name: string, guide: Guide): void {
  const { fence, files, wrap = (_, block) => block, beside = {}, link = {}, driver } = guide;
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(place, file)), { recursive: true });
    writeFileSync(join(place, file), text);
  };
  const blocks = guideBlocks(guide.page ?? name, fence);
  assert.equal(blocks.length, files.length);
  for (const [at, file] of files.entries()) {
    if (file !== "") write(file, wrap(file, blocks[at] ?? ""));
  }
  for (const [file, text] of Object.entries(beside)) write(file, text);
  for (const [file, target] of Object.entries(link)) symlinkSync(target, join(place, file));
  write(...driver);
}

suite("forms guarded by the guides' code", () => {
  let folder = "";
  const asked: (string | undefined)[] = [];
  let turn = 0;
  const urls = { moved: "", silent: "" };
  let refusing: Awaited<ReturnType<typeof startRefusingService>>;
  const world = serviceWorld({
    zone: { ...DOCS_ZONE, "gmaik.com": { mx: ["10 mx1.mail.example"] } },
    async begin({ atEnd }) {
      refusing = await startRefusingService();
      atEnd(() => refusing.close());
      const listen = async (answer: RequestListener): Promise<string> => {
        const server = createServer(answer).listen(0, "127.0.0.1");
        await new Promise((resolve) => server.once("listening", resolve));
        atEnd(() => (server.closeAllConnections(), server.close()));
        return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      };
      const other = await listen((request, response) => {
        asked.push(request.headers["x-api-key"]?.toString());
        response.setHeader("content-type", "application/json").end('{"decision":"reject"}');
      });
      urls.silent = await listen(() => undefined);
      urls.moved = await listen((request, response) => {
        const status = [301, 302, 303, 307, 308][(turn += 1) % 5] ?? 307;
        response.writeHead(status, { location: `${other}${request.url ?? ""}` }).end();
      });
    },
  });

  before(() => {
    folder = temporaryFolder();
  });

  for (const [name, guide] of Object.entries(GUIDES)) {
    const missing = hasTool(guide.program) ? guide.missing() : [guide.program];
    testWith(["the framework"], missing, `docs/guides, ${name}`, async () => {
      const place = join(folder, name);
      lay(place, name, guide);
      const { api_key: key } = createAccount(world.home, `${name}@shop.example`);
      const saidAt = async (
        url: string,
        forms: readonly Form[],
        ...more: readonly string[]
      ): Promise<readonly string[]> => {
        const env = {
          ...process.env,
          GATEPOST_URL: url,
          GATEPOST_KEY: key,
          PORT: "0",
          PYTHONDONTWRITEBYTECODE: "1",
        };
        const file = join(place, guide.driver[0]);
        const list = join(place, "forms.json");
        writeFileSync(list, JSON.stringify(forms));
        const { stdout } = await run(guide.program, [file, list, ...more], {
          env,
          timeout: 240_000,
        });
        return JSON.parse(stdout) as readonly string[];
      };
      const forms = DECIDED.map(([form]) => form);
      const told = DECIDED.map(([, message]) => message);
      const all = [...forms, ...MALFORMED, LONG];
      const said = await inTime(() => saidAt(world.service.url, all), told);
      assert.deepEqual(said.slice(0, forms.length), told);
      for (const refused of said.slice(forms.length)) assert.notEqual(refused, "");
      assert.equal(said.length, forms.length + MALFORMED.length + 1);
      assert.ok(
        (await countOf(world.service.url, key, VISITOR)) > 0,
        "counted by the visitor's address",
      );
      assert.ok(HIDDEN.length > 150, String(HIDDEN.length));
      const hidden = await inTime(
        () => saidAt(world.service.url, HIDDEN),
        HIDDEN.map(() => "refused"),
      );
      const within = HIDDEN.filter((_, at) => hidden[at] === "");
      assert.deepEqual([hidden.length, within], [HIDDEN.length, []], "a listed address came in");
      const changed = await inTime(() => saidAt(world.service.url, forms, "change"), told);
      assert.deepEqual(changed, told, "a change of address");

      const away = await saidAt("http://127.0.0.1:9", [...forms, ...MALFORMED]);
      assert.deepEqual(
        away.slice(0, forms.length),
        forms.map(() => ""),
      );
      for (const refused of away.slice(forms.length)) assert.notEqual(refused, "");
      for (const { status, url, message } of refusing.rows) {
        const ask = () => saidAt(url, forms.slice(0, 1));
        assert.deepEqual(await inTime(ask, [message]), [message], String(status));
      }
      assert.deepEqual(await saidAt(urls.silent, forms.slice(0, 1)), [""]);
      assert.deepEqual(await saidAt(urls.moved, forms.slice(0, 5)), ["", "", "", "", ""]);
      assert.deepEqual(asked, [], "the key was sent to another origin");
    });
  }
});
