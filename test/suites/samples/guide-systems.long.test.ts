import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "node:test";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { promisify } from "node:util";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { hiddenIn } from "../../policy/hostile-values.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { countOf, FRAMEWORKS, inTime, startRefusingService } from "./guide-tools.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const GERMAN = "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.";

/** An address, and what the person reads; a typo is a question that these systems cannot ask. "de." asks in German. */
const CASES = [
  ["jo@good.example", ""],
  ["de.jo@mailinator.com", GERMAN],
  ["jo@silent.example", ""],
  ["jo@", "The part after the @ is missing."],
  ["jo@gmaik.com", ""],
  ["jo@mailinator.com", "Please use a permanent email address."],
  ["jo@null.example", "This address cannot receive email. Please check the part after the @."],
  [`${"jo".repeat(500)}@mailinator.com`, "Please enter a complete email address."],
] as const;

/** What the visitor claims, and what the proxy saw. */
const FORWARDED = "203.0.113.9, 192.0.2.1";

/** A listed address among what a visitor can put into a field of text; who has no address came by telephone. */
const HIDDEN = hiddenIn("mailinator.com").filter((email) => email.trim() !== "");

interface System {
  readonly program: string;
  /** Language of the fences; each block becomes a file, "" none. */
  readonly fence: string;
  /** The page of docs/guides, if its name is another. */
  readonly page?: string;
  readonly files: readonly string[];
  readonly missing?: () => readonly string[];
  readonly link?: Readonly<Record<string, string>>;
  /** The system's call interface, as far as the guide uses it. */
  readonly stubs: Readonly<Record<string, string>>;
  /** Calls the guide's code as the system does; prints a line for each address. */
  readonly driver: { readonly file: string; readonly code: string };
}

const CLIENT = new URL("../../../clients/typescript/src/", import.meta.url).href;

const SYSTEMS: Readonly<Record<string, System>> = {
  "better-auth": {
    program: "node",
    fence: "js",
    page: "identity",
    files: ["auth.mjs", "", "", "", ""],
    missing: () => (existsSync(join(FRAMEWORKS, "better-auth")) ? [] : ["better-auth"]),
    link: { "node_modules/better-auth": join(FRAMEWORKS, "better-auth") },
    stubs: {
      "node_modules/gatepost-client/package.json":
        '{"type":"module","exports":{".":"./index.mjs","./better-auth":"./better-auth.mjs"}}',
      "node_modules/gatepost-client/index.mjs": `export * from "${CLIENT}index.js";`,
      "node_modules/gatepost-client/better-auth.mjs": `export * from "${CLIENT}better-auth.js";`,
    },
    driver: {
      file: "driver.mjs",
      // better-auth itself refuses an address that is none at its form; what other systems tell it goes to its store at once.
      code: `Object.assign(process.env, { BETTER_AUTH_SECRET: "a secret of the test, which nothing else has", BETTER_AUTH_URL: "http://shop.example" });
        const { auth } = await import("./auth.mjs");
        const { internalAdapter } = await auth.$context;
        for (const email of JSON.parse(process.env.EMAILS)) {
          const headers = { "content-type": "application/json", origin: "http://shop.example", "x-forwarded-for": "${FORWARDED}",
            "accept-language": email.startsWith("de.") ? "de-AT,de;q=0.9" : "en" };
          const body = JSON.stringify({ email, password: "correct horse battery", name: "Jo" });
          const answer = await auth.handler(new Request("http://shop.example/api/auth/sign-up/email", { method: "POST", headers, body }));
          let { status } = answer;
          let { message = "" } = await answer.json();
          if (status === 400) {
            [status, message] = await internalAdapter.createUser({ email, name: "Jo" }).then(() => [200, ""], ({ statusCode, body }) => [statusCode, body.message]);
          }
          console.log(status === (message ? 422 : 200) ? message : String(status) + message);
        }
        process.exit();`,
    },
  },
  auth0: {
    program: "node",
    fence: "js",
    page: "identity",
    files: ["", "gatepost.mjs", "action.cjs", "", ""],
    stubs: {},
    driver: {
      file: "driver.mjs",
      code: `import { readFileSync, writeFileSync } from "node:fs";
        import { createRequire } from "node:module";
        const [shared, own] = ["gatepost.mjs", "action.cjs"].map((name) => readFileSync(new URL(name, import.meta.url), "utf8"));
        writeFileSync(new URL("pasted.cjs", import.meta.url), shared.replace("export ", "") + own);
        const action = createRequire(import.meta.url)("./pasted.cjs");
        const secrets = { GATEPOST_URL: process.env.GATEPOST_URL, GATEPOST_KEY: process.env.GATEPOST_KEY };
        const byTelephone = { user: { phone_number: "+15550100" }, request: { language: "en" }, secrets };
        await action.onExecutePreUserRegistration(byTelephone, { access: { deny(reason) { throw new Error(reason); } } });
        for (const email of JSON.parse(process.env.EMAILS)) {
          let told = "";
          const deny = (reason, message) => { if (!reason.startsWith("gatepost: ")) throw new Error(reason); told = message; };
          const request = { language: email.startsWith("de.") ? "de" : "en", ip: "192.0.2.1" };
          await action.onExecutePreUserRegistration({ user: { email }, request, secrets }, { access: { deny } });
          console.log(told);
        }`,
    },
  },
  cognito: {
    program: "node",
    fence: "js",
    page: "identity",
    files: ["", "gatepost.mjs", "", "index.mjs", ""],
    stubs: {},
    driver: {
      file: "driver.mjs",
      code: `import { handler } from "./index.mjs";
        const eventOf = (email, triggerSource = "PreSignUp_SignUp") => ({
          version: "1", triggerSource, request: { userAttributes: { email } }, response: { autoConfirmUser: false } });
        const byAdmin = eventOf("jo@mailinator.com", "PreSignUp_AdminCreateUser");
        if ((await handler(byAdmin)) !== byAdmin) throw new Error("not the event");
        const byTelephone = eventOf();
        if ((await handler(byTelephone)) !== byTelephone) throw new Error("a telephone user is refused");
        for (const email of JSON.parse(process.env.EMAILS)) {
          const event = eventOf(email);
          if (email.startsWith("de.")) event.request.userAttributes.locale = "de-DE";
          else event.request.clientMetadata = { language: "en" };
          try { console.log((await handler(event)) === event ? "" : "another event"); }
          catch (error) { console.log(error.message); }
        }`,
    },
  },
  firebase: {
    program: "node",
    fence: "js",
    page: "identity",
    files: ["", "gatepost.mjs", "", "", "index.mjs"],
    stubs: {
      "node_modules/firebase-functions/package.json":
        '{"type":"module","exports":{"./v2/identity":"./identity.mjs"}}',
      "node_modules/firebase-functions/identity.mjs": `export const beforeUserCreated = (handler) => ({ run: handler });
        export class HttpsError extends Error { constructor(code, message) { super(message); this.code = code; } }`,
    },
    driver: {
      file: "driver.mjs",
      code: `import { guardSignUps } from "./index.mjs";
        await guardSignUps.run({ data: { phoneNumber: "+1" } });
        for (const email of JSON.parse(process.env.EMAILS)) {
          const locale = email.startsWith("de.") ? "de" : "en";
          try { await guardSignUps.run({ data: { email }, locale, ipAddress: "192.0.2.1" }); console.log(""); }
          catch (error) { if (error.code !== "invalid-argument") throw error; console.log(error.message); }
        }`,
    },
  },
  authentik: {
    program: "python3",
    fence: "py",
    page: "identity",
    files: ["policy.py"],
    stubs: {},
    driver: {
      file: "driver.py",
      code: `import ipaddress, json, os, textwrap, types, urllib.error, urllib.request
folder = os.path.dirname(os.path.abspath(__file__))
text = open(os.path.join(folder, "policy.py")).read()
for sample, own in (("https://gatepost.example", "GATEPOST_URL"), ("gp_live_...", "GATEPOST_KEY")):
    assert sample in text
    text = text.replace(sample, os.environ[own])
exec("def policy(request, requests, ak_message, ak_client_ip=ipaddress.ip_address('192.0.2.1')):\\n" + textwrap.indent(text, "    "))
class Requests:
    def post(self, url, json, headers, timeout, allow_redirects):
        assert timeout == 1.5 and allow_redirects is False
        fields = dump(json).encode()
        asked = urllib.request.Request(url, fields, {**headers, "Content-Type": "application/json"})
        try:
            answer = urllib.request.urlopen(asked, timeout=timeout)
        except urllib.error.HTTPError as refused:
            answer = refused
        said = answer.read()
        return types.SimpleNamespace(json=lambda: load(said), status_code=answer.status)
dump, load = json.dumps, json.loads
def passes(told, email, own="", **context):
    headers = {"Accept-Language": "de-AT,de;q=0.9" if email.startswith("de.") else "en"}
    request = types.SimpleNamespace(
        context=context or {"prompt_data": {"email": email}},
        user=types.SimpleNamespace(email=own),
        http_request=types.SimpleNamespace(headers=headers))
    return policy(request, Requests(), told.append)
assert passes([], "jo@mailinator.com", own="jo@mailinator.com")
assert passes([], "", other="no prompt")
for email in json.loads(os.environ["EMAILS"]):
    told = []
    assert passes(told, email) is (told == [])
    print("".join(told))`,
    },
  },
  discourse: {
    program: "ruby",
    fence: "rb",
    page: "sites",
    files: ["plugin.rb"],
    stubs: { "gatepost.rb": guideBlocks("rails", "rb")[0] ?? "" },
    driver: {
      file: "driver.rb",
      code: `require "json"
class Object; def blank? = respond_to?(:empty?) ? empty? : !self; def present? = !blank?; end
class UserEmail
  Errors = Struct.new(:all) do
    def [](name) = all.select { |field, _| field == name }
    def add(name, text) = all << [name, text]
  end
  attr_reader :errors, :email, :skip_validate_email, :user
  def self.validate(name) = (@checks ||= []) << name
  def self.checks = @checks
  def initialize(email, changed: true, skip: false)
    @email, @changed, @skip_validate_email, @errors = email, changed, skip, Errors.new([])
  end
  def will_save_change_to_email? = @changed
  def check = self.class.checks.each { |name| send(name) }
end
module I18n
  class << self; attr_accessor :locale; end
end
def after_initialize = yield
load File.join(__dir__, "plugin.rb")
[UserEmail.new("jo@mailinator.com", changed: false), UserEmail.new("jo@mailinator.com", skip: true)].each do |row|
  row.check
  raise "checked" unless row.errors.all.empty?
end
JSON.parse(ENV["EMAILS"]).each do |email|
  I18n.locale = email.start_with?("de.") ? :de : :en
  row = UserEmail.new(email)
  row.check
  puts row.errors.all.map(&:last).join
end`,
    },
  },
};

suite(
  "the guides of systems that run code work against a real server, and fail open without it",
  () => {
    let folder = "";
    let refusing: Awaited<ReturnType<typeof startRefusingService>>;
    const world = serviceWorld({
      tiers: { anonymous: { rate_per_minute: 1_000 } },
      async begin({ atEnd }) {
        refusing = await startRefusingService();
        atEnd(() => refusing.close());
        folder = temporaryFolder();
      },
    });

    for (const [name, system] of Object.entries(SYSTEMS)) {
      const { program, missing = () => [], link = {} } = system;
      const lacking = hasTool(program) ? missing() : [program];
      testWith([program], lacking, `docs/guides, ${name}`, async () => {
        const place = join(folder, name);
        const write = (file: string, text: string): void => {
          mkdirSync(dirname(join(place, file)), { recursive: true });
          writeFileSync(join(place, file), text);
        };
        const samples = guideBlocks(system.page ?? name, system.fence);
        assert.equal(samples.length, system.files.length);
        for (const [at, file] of system.files.entries()) {
          if (file !== "") write(file, samples[at] ?? "");
        }
        for (const [file, text] of Object.entries(system.stubs)) write(file, text);
        for (const [file, target] of Object.entries(link)) symlinkSync(target, join(place, file));
        write(system.driver.file, system.driver.code);
        const { api_key: key } = createAccount(world.home, `${name}@example.com`);
        const emails = CASES.map(([email]) => email);
        const run = async (
          url: string,
          given = key,
          asked: readonly string[] = emails,
        ): Promise<readonly string[]> => {
          const EMAILS = JSON.stringify(asked);
          const env = { ...process.env, GATEPOST_URL: url, GATEPOST_KEY: given, EMAILS };
          const file = join(place, system.driver.file);
          const { stdout } = await promisify(execFile)(program, [file], { env });
          return stdout.split("\n").slice(0, asked.length);
        };
        const all = (said: string): readonly string[] =>
          CASES.map(([email, message]) => (email.length > 1_000 ? message : said));
        // They cannot ask, so their plugins say that the person confirmed: then the other rules decide.
        const confirms = ["better-auth", "discourse"].includes(name);
        const told = CASES.map(([email, message]) =>
          confirms && email === "jo@gmaik.com" ? CASES[6][1] : message,
        );
        assert.deepEqual(await inTime(() => run(world.service.url), told), told);
        const hidden = await inTime(
          () => run(world.service.url, key, HIDDEN),
          HIDDEN.map(() => "refused"),
        );
        const within = HIDDEN.filter((_, at) => hidden[at] === "");
        assert.deepEqual([hidden.length, within], [HIDDEN.length, []], "a listed address came in");
        const [claimed = "", seen = ""] = FORWARDED.split(", ");
        const isSeen = !["cognito", "discourse"].includes(name);
        assert.equal(
          (await countOf(world.service.url, key, seen)) > 0,
          isSeen,
          "counted by address",
        );
        assert.equal(
          await countOf(world.service.url, key, claimed),
          0,
          "a visitor chose an address",
        );
        assert.deepEqual(await run("http://127.0.0.1:9"), all(""));
        assert.deepEqual(await run(world.service.url, "gp_live_x"), all(""));
        for (const { status, url, message } of refusing.rows) {
          assert.deepEqual(
            await inTime(() => run(url), all(message)),
            all(message),
            String(status),
          );
        }
      });
    }
  },
);
