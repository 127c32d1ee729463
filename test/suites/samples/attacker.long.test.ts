// Hostile forms through the Express and Django applications of the guides, against the real service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { FRAMEWORKS, layClient, PYTHON, TRIES, worksIn } from "./guide-tools.ts";

const run = promisify(execFile);
const CLIENTS = fileURLToPath(new URL("../../../../clients", import.meta.url));

/** Percent-encoded, so that a form carries them as they are: separators, control characters, octets that are no UTF-8. */
const PIECES = [
  ..."%3B %2C %20 %09 %0A %0D %0D%0A %00 %01 %1B %7F %22 %27 %28 %29 %3C %3E %5B %5D %5C %3A".split(
    " ",
  ),
  ..."%3B%20 %2C%20 %20%3B %7C %26 %3D %23 %25 %2F %3F %60 %7B %7D %C2%A0 %E2%80%8B %EF%BB%BF".split(
    " ",
  ),
  ..."%E2%80%AE %FF %C0%80 %ED%A0%80 %F0%9F%98%80 %E3%80%80".split(" "),
];

const LISTED = "jo%40mailinator.com";
const LENGTHS = [64, 65, 254, 255, 256, 1_000, 1_001, 8_192, 8_193, 65_536];

/** Addresses of a listed domain, hidden in what else stands in the field. */
const EMAILS = [
  ...PIECES.flatMap((piece) => [
    `email=${LISTED}${piece}x%40x`,
    `email=x%40x${piece}${LISTED}`,
    `email=${piece}${LISTED}`,
    `email=${LISTED}${piece}`,
    `email=jo${piece}%40mailinator.com`,
  ]),
  ...LENGTHS.flatMap((length) => [
    `email=${"a".repeat(length)}%40mailinator.com`,
    `email=${LISTED}${"+".repeat(length)}`,
    `email=${"+".repeat(length)}${LISTED}`,
  ]),
  `email=${LISTED}&email=${LISTED}`,
  `email[]=${LISTED}`,
  `email[a]=${LISTED}`,
  `email=&email=${LISTED}`,
  "",
  "email",
];

const VALUES = [
  ...PIECES.flatMap((piece) => [
    piece,
    piece.repeat(9),
    `de${piece}`,
    `${piece}de`,
    `q%3D${piece}`,
  ]),
  ...LENGTHS.flatMap((length) => ["a".repeat(length), "%FF".repeat(length)]),
];

interface Sent {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another hostile value in each field that the visitor fills, beside this address; headers have no control characters. */
const besides = (email: string): readonly Sent[] =>
  VALUES.flatMap((value) => {
    const text = Buffer.from(unescape(value), "latin1").toString("latin1").replaceAll(/[^\t\x20-\x7E\x80-\xFF]/g, "?"); // prettier-ignore
    const header = text.slice(0, 4_000).trim();
    return [
      { body: `email=${email}&confirmed=${value}` },
      { body: `email=${email}&confirmed=1&confirmed=${value}&evt=${value}&evt=${value}` },
      { body: `email=${email}`, headers: { "accept-language": header, origin: header } },
    ];
  });

interface Application {
  readonly program: string;
  readonly missing: () => readonly string[];
  readonly fence: string;
  readonly page: string;
  readonly files: readonly string[];
  readonly beside: Readonly<Record<string, string>>;
  /** Prints for each request of requests.json whether the person came in. */
  readonly signUp: string;
  /** Prints how many addresses of requests.json got a message, without those that nobody answered for in time. */
  readonly send: string;
  readonly ending: string;
}

const APPLICATIONS: Readonly<Record<string, Application>> = {
  Express: {
    program: "node",
    missing: () => (existsSync(join(FRAMEWORKS, "express")) ? [] : ["express"]),
    fence: "js",
    page: "express",
    files: ["gatepost.mjs", "server.mjs"],
    beside: {},
    ending: "mjs",
    signUp: `import { readFileSync } from "node:fs";
import { request, Server } from "node:http";
let server;
const { listen } = Server.prototype;
Server.prototype.listen = function (...words) { server = this; return listen.apply(this, words); };
await import("./server.mjs");
if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();
const post = ({ body, headers }) => new Promise((resolve, reject) => {
  const all = { "content-type": "application/x-www-form-urlencoded", ...headers };
  const asked = request({ port, method: "POST", path: "/sign-up", headers: all }, (answer) => {
    answer.resume().on("end", () => resolve(answer.statusCode === 201));
  });
  asked.on("error", reject).end(body);
});
const all = JSON.parse(readFileSync("requests.json"));
const said = new Array(all.length);
let next = 0;
await Promise.all(Array.from({ length: 8 }, async () => {
  while (next < all.length) { const at = next++; said[at] = await post(all[at]); }
}));
process.stdout.write(JSON.stringify(said), () => process.exit());`,
    send: `import { readFileSync } from "node:fs";
let faults = 0;
const { fetch } = globalThis;
globalThis.fetch = (...words) => fetch(...words).catch((error) => { faults += 1; throw error; });
const { forgotPassword } = await import("./send.mjs");
const sent = [];
const locals = { sendLink: (email) => sent.push(email), passedCaptcha: () => false };
const response = { status: () => response, send: () => response };
const all = JSON.parse(readFileSync("requests.json"));
let next = 0;
await Promise.all(Array.from({ length: 16 }, async () => {
  while (next < all.length) {
    await forgotPassword({ body: { email: all[next++], confirmed: "1" }, app: { locals } }, response);
  }
}));
process.stdout.write(String(new Set(sent).size - faults), () => process.exit());`,
  },
  Django: {
    program: PYTHON,
    missing: () => (worksIn(PYTHON, "import django", "-c") ? [] : ["python3-django"]),
    fence: "py",
    page: "django",
    files: ["shop/gatepost.py", "shop/forms.py"],
    beside: {
      "shop/__init__.py": "",
      "shop/mail.py":
        "sent = []\nsend_link = sent.append\npassed_captcha = lambda request: False\n",
    },
    ending: "py",
    signUp: `import json, django
from concurrent.futures import ThreadPoolExecutor
from django.conf import settings
settings.configure(LANGUAGE_CODE="en", SECRET_KEY="a secret", DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF="shop.urls",
    MIDDLEWARE=["shop.forms.visitor_address", "django.middleware.locale.LocaleMiddleware"])
django.setup()
from django.test import Client
def post(each):
    headers = {"HTTP_" + name.upper().replace("-", "_"): text for name, text in each.get("headers", {}).items()}
    kind = "application/x-www-form-urlencoded"
    return Client(raise_request_exception=False).post("/sign-up", each["body"], content_type=kind, **headers).status_code == 201
with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(post, json.load(open("requests.json"))))))`,
    send: `import json, django
from concurrent.futures import ThreadPoolExecutor
from django.conf import settings
settings.configure(SECRET_KEY="a secret", ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="shop")
django.setup()
from django.test import RequestFactory
from shop.mail import sent
from shop.views import forgot_password, gatepost
faults = []
gatepost._core._on_fault = lambda fault, during: faults.append(fault)
def post(email):
    forgot_password(RequestFactory().post("/forgot", {"email": email, "confirmed": "1"}))
with ThreadPoolExecutor(16) as pool:
    list(pool.map(post, json.load(open("requests.json"))))
print(len(set(sent)) - len(faults))`,
  },
};

const URLS = `from django.http import HttpResponse
from django.urls import path
from .forms import SignUpForm

def sign_up(request):
    form = SignUpForm(request.POST)
    return HttpResponse(status=201 if form.is_valid() else 422)

urlpatterns = [path("sign-up", sign_up)]
`;

suite("the attacker at the guides' forms", () => {
  const keys: string[] = [];
  const world = serviceWorld({
    prepare(home) {
      for (const at of [0, 1, 2]) keys.push(createAccount(home, `${String(at)}@x.example`).api_key);
    },
  });
  for (const [name, application] of Object.entries(APPLICATIONS)) {
    const { program, missing, fence, page, files, beside, signUp, send, ending } = application;
    testWith([program], missing(), name, async () => {
      const place = temporaryFolder();
      const write = (path: string, text: string): void => {
        mkdirSync(dirname(join(place, path)), { recursive: true });
        writeFileSync(join(place, path), text);
      };
      layClient(place);
      symlinkSync(join(FRAMEWORKS, "express"), join(place, "node_modules/express"));
      const blocks = guideBlocks(page, fence);
      for (const [at, file] of files.entries()) write(file, blocks[at] ?? "");
      const [sending = ""] = guideBlocks("before-you-send", fence);
      write(ending === "py" ? "shop/views.py" : "send.mjs", sending);
      write("shop/urls.py", URLS);
      for (const [path, text] of Object.entries(beside)) write(path, text);
      write(`sign-up.${ending}`, signUp);
      write(`send.driver.${ending}`, send);
      const driven = async <T>(driver: string, requests: unknown, key: string): Promise<T> => {
        write("requests.json", JSON.stringify(requests));
        const env = {
          ...process.env,
          PYTHONPATH: join(CLIENTS, "python"),
          GATEPOST_URL: world.service.url,
          GATEPOST_KEY: key,
          PORT: "0",
        };
        const options = { cwd: place, env, maxBuffer: 16_777_216 };
        return JSON.parse((await run(program, [`${driver}.${ending}`], options)).stdout) as T;
      };
      const [key = "", otherKey = "", thirdKey = ""] = keys;
      const cameIn = async (requests: readonly Sent[]): Promise<readonly Sent[]> => {
        const said = await driven<readonly boolean[]>("sign-up", requests, key);
        assert.equal(said.length, requests.length);
        return requests.filter((_, at) => said[at] === true);
      };
      /** On a busy machine some come in because the answer is late: they try again, and a hole is there the next time too. */
      const noneComesIn = async (requests: readonly Sent[], why: string): Promise<void> => {
        let within = requests;
        for (let tries = 0; tries < TRIES && within.length > 0; tries += 1)
          within = await cameIn(within);
        const shown = within.map((each) => JSON.stringify(each).slice(0, 200));
        assert.deepEqual(shown, [], why);
      };
      const emails = EMAILS.map((body) => ({ body: `${body}&confirmed=1` }));
      assert.ok(emails.length > 200 && VALUES.length > 200);
      await noneComesIn(emails, "a hostile address");
      await noneComesIn(besides(LISTED), "a listed address beside hostile values");
      // Express itself refuses a form of more than 100 KB.
      const honest = besides("jo%40good.example").filter(({ body }) => body.length < 100_000);
      assert.equal((await cameIn(honest)).length, honest.length, "an honest person is lost");
      const many = Array.from({ length: 560 }, (_, at) => ({ body: `email=a${String(at)}%40mailinator.com` })); // prettier-ignore
      await noneComesIn(many, "beyond the rate");

      // More than the 500 a minute of the plan; src/http/api/decide-spent.test.ts asks for 1,500 and 1,000.
      const victim = Array.from({ length: 560 }, (_, at) => `jo+${name}${String(at)}@gmail.com`);
      const strangers = Array.from({ length: 280 }, (_, at) => `${name}${String(at)}@good.example`);
      const sentKey = name === "Django" ? otherKey : thirdKey;
      const hit = await driven<number>("send.driver", victim, sentKey);
      assert.ok(hit <= 3, `one victim: ${String(hit)} messages`);
      const wave = await driven<number>("send.driver", [...strangers, ...strangers], sentKey);
      assert.ok(wave <= 31, `a wave: ${String(wave)} messages`);
    });
  }
});
