// The blocks of docs/guides/before-you-send.md in their frameworks, against a service that answers by the address, and against none.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { httpPeer } from "../../http/peer.ts";
import { testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { FRAMEWORKS, layClient, PYTHON, worksIn } from "./guide-tools.ts";

const run = promisify(execFile);
const CLIENTS = fileURLToPath(new URL("../../../../clients", import.meta.url));

interface Post {
  readonly email: string;
  /** The question about the address was answered in the form. */
  readonly confirmed?: true;
  readonly captcha?: true;
  /** The browser has the signed cookie of this account. */
  readonly account?: string;
}

/** A form, and what became of it with the service, and without one. */
const POSTS: readonly (readonly [Post, now: string, away?: string])[] = [
  [{ email: "jo@x.example" }, "sent"],
  [{ email: "held@x.example" }, "no", "sent"],
  [{ email: "typo@x.example" }, "asked", "sent"],
  [{ email: "typo@x.example", captcha: true }, "asked", "sent"],
  [{ email: "typo@x.example", confirmed: true }, "sent"],
  [{ email: "wave@x.example" }, "asked", "sent"],
  [{ email: "wave@x.example", confirmed: true }, "asked", "sent"],
  [{ email: "wave@x.example", captcha: true }, "sent"],
  [{ email: "400@x.example" }, "no", "sent"],
  [{ email: "413@x.example" }, "no", "sent"],
  [{ email: "429@x.example" }, "no", "sent"],
  [{ email: "500@x.example" }, "sent"],
  [{ email: "401@x.example" }, "sent"],
  [{ email: "known@x.example" }, "no", "sent"],
  [{ email: "known@x.example", account: "jo@x.example" }, "no", "sent"],
  [{ email: "known@x.example", account: "known@x.example" }, "sent"],
];

/** What the service answers; "known" is held for strangers. */
function answerTo(body: Readonly<Record<string, unknown>>): readonly [status: number, object] {
  const { email, for: asked, known, confirmed } = body;
  const [user = ""] = String(email).split("@");
  const policy = { name: "send", version: 1 };
  const said = (decision: string, reason: string) =>
    [200, { decision, reason, message: "Why?", complete: true, policy }] as const;
  if (asked !== "send") return [400, { error: "not a message" }];
  if (/^\d+$/.test(user)) return [Number(user), { error: "No." }];
  if (user === "known" && known !== true) return said("reject", "too_often");
  if (user === "held") return said("reject", "bounced");
  if (["typo", "wave"].includes(user) && confirmed !== true) return said("challenge", user);
  return said("accept", "ok");
}

interface Application {
  readonly program: string;
  readonly missing: () => readonly string[];
  readonly fence: string;
  /** Where the block goes. */
  readonly file: string;
  readonly beside?: Readonly<Record<string, string>>;
  /** Reads posts.json, and prints what became of each. */
  readonly driver: readonly [file: string, code: string];
}

const APPLICATIONS: Readonly<Record<string, Application>> = {
  Express: {
    program: "node",
    missing: () => [],
    fence: "js",
    file: "send.mjs",
    driver: [
      "driver.mjs",
      `import { readFileSync } from "node:fs";
import { once } from "node:events";
import express from "express";
import cookies from "cookie-parser";
import signature from "cookie-signature";
import { forgotPassword } from "./send.mjs";
const app = express();
const sent = [];
app.locals.sendLink = (email) => sent.push(email);
app.locals.passedCaptcha = (request) => Boolean(request.body.captcha);
app.use(express.urlencoded({ extended: false }), cookies("a secret"));
app.post("/forgot", forgotPassword);
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const became = [];
for (const { account, ...form } of JSON.parse(readFileSync("posts.json"))) {
  const before = sent.length;
  const cookie = account ? "account=" + encodeURIComponent("s:" + signature.sign(account, "a secret")) : "account=" + form.email;
  const answer = await fetch("http://127.0.0.1:" + server.address().port + "/forgot", {
    method: "POST", body: new URLSearchParams(form), headers: { cookie } });
  became.push(sent.length > before ? "sent" : answer.status === 422 && (await answer.json()).error === "Why?" ? "asked" : "no");
}
process.stdout.write(JSON.stringify(became), () => process.exit());`,
    ],
  },
  Django: {
    program: PYTHON,
    missing: () => (worksIn(PYTHON, "import django", "-c") ? [] : ["python3-django"]),
    fence: "py",
    file: "shop/views.py",
    beside: {
      "shop/__init__.py": "",
      "shop/mail.py":
        "sent = []\nsend_link = sent.append\npassed_captcha = lambda request: 'captcha' in request.POST\n",
    },
    driver: [
      "driver.py",
      `import json, django
from django.conf import settings
settings.configure(SECRET_KEY="a secret", ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="shop")
django.setup()
from django.core import signing
from django.test import RequestFactory
from shop.mail import sent
from shop.views import forgot_password
became = []
for form in json.load(open("posts.json")):
    account = form.pop("account", None)
    request = RequestFactory().post("/forgot", form)
    signer = signing.get_cookie_signer(salt="account")
    request.COOKIES["account"] = signer.sign(account) if account else form["email"]
    before = len(sent)
    answer = forgot_password(request)
    asked = answer.status_code == 422 and json.loads(answer.content)["error"] == "Why?"
    became.append("sent" if len(sent) > before else "asked" if asked else "no")
print(json.dumps(became))`,
    ],
  },
  Laravel: {
    program: "php",
    missing: () =>
      worksIn("php", "require 'Illuminate/autoload.php';", "-r") ? [] : ["php-laravel-framework"],
    fence: "php",
    file: "send.php",
    driver: [
      "driver.php",
      `<?php
require 'Illuminate/autoload.php';
require '${CLIENTS}/php/src/autoload.php';
require 'send.php';
$gatepost = new Gatepost\\Client(getenv('GATEPOST_URL'), getenv('GATEPOST_KEY'));
echo json_encode(array_map(function (array $form) use ($gatepost): string {
    $cookies = ['account' => $form['account'] ?? null];
    $request = Illuminate\\Http\\Request::create('/forgot', 'POST', $form, $cookies);
    $may = mayContinue($gatepost, $request, fn ($asked) => $asked->boolean('captcha'));
    return $may->send ? 'sent' : ($may->ask && $may->message === 'Why?' ? 'asked' : 'no');
}, json_decode(file_get_contents('posts.json'), true)));`,
    ],
  },
  Rails: {
    program: "ruby",
    missing: () =>
      worksIn("ruby", 'require "action_controller"', "-e") ? [] : ["ruby-actionpack"],
    fence: "rb",
    file: "send.rb",
    driver: [
      "driver.rb",
      `require "logger"
require "action_controller"
require "active_support/messages/rotation_configuration"
require "rack/mock"
require_relative "gatepost"
require_relative "send"
class MailController < ActionController::Base
  include AsksBeforeSending
  def sign_in
    cookies.permanent.signed[:account] = params[:account]
    head :ok
  end
  def forgot
    said = may_send(params[:email])
    became = { "accept" => "sent", "challenge" => said["message"] == "Why?" ? "asked" : "no" }
    render plain: became.fetch(said["decision"], "no")
  end
  def passed_captcha? = params[:captcha].present?
end
KEYS = ActiveSupport::CachingKeyGenerator.new(ActiveSupport::KeyGenerator.new("a secret", iterations: 1))
def post(action, form, cookie)
  rotations = ActiveSupport::Messages::RotationConfiguration.new
  env = Rack::MockRequest.env_for("/", method: "POST", params: form, "HTTP_COOKIE" => cookie.to_s,
    "action_dispatch.key_generator" => KEYS, "action_dispatch.secret_key_base" => "a secret",
    "action_dispatch.signed_cookie_salt" => "salt", "action_dispatch.cookies_rotations" => rotations,
    "action_dispatch.cookies_serializer" => :json)
  _, headers, body = ActionDispatch::Cookies.new(MailController.action(action)).call(env)
  text = +""
  body.each { |piece| text << piece }
  [headers["Set-Cookie"].to_s.split(";").first, text]
end
became = JSON.parse(File.read("posts.json")).map do |form|
  account = form.delete("account")
  cookie = account ? post(:sign_in, { account: account }, "").first : "account=#{form["email"]}"
  post(:forgot, form, cookie).last
end
puts JSON.generate(became)`,
    ],
  },
};

suite("applications that ask before they send", () => {
  for (const [name, application] of Object.entries(APPLICATIONS)) {
    const { program, missing, fence, file, beside = {}, driver } = application;
    testWith([program], missing(), `before-you-send.md, ${name}`, async (t) => {
      const place = temporaryFolder();
      const write = (path: string, text: string): void => {
        mkdirSync(dirname(join(place, path)), { recursive: true });
        writeFileSync(join(place, path), text);
      };
      layClient(place);
      for (const each of ["express", "cookie-parser", "cookie-signature"]) {
        symlinkSync(join(FRAMEWORKS, each), join(place, "node_modules", each));
      }
      const [block = ""] = guideBlocks("before-you-send", fence);
      write(file, block);
      write("gatepost.rb", guideBlocks("rails", "rb")[0] ?? "");
      for (const [path, text] of Object.entries(beside)) write(path, text);
      write(...driver);
      write("posts.json", JSON.stringify(POSTS.map(([post]) => post)));
      const { url, close } = await httpPeer((request, response) => {
        let text = "";
        request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        request.on("end", () => {
          const [status, answer] = answerTo(JSON.parse(text) as Record<string, unknown>);
          response.writeHead(status, { "content-type": "application/json" });
          response.end(JSON.stringify(answer));
        });
      });
      t.after(close);
      const became = async (GATEPOST_URL: string): Promise<unknown> => {
        const PYTHONPATH = join(CLIENTS, "python");
        const env = { ...process.env, PYTHONPATH, GATEPOST_KEY: "k", GATEPOST_URL };
        return JSON.parse((await run(program, [driver[0]], { cwd: place, env })).stdout);
      };
      assert.deepEqual(
        await became(url),
        POSTS.map(([, now]) => now),
      );
      assert.deepEqual(
        await became("http://127.0.0.1:9"),
        POSTS.map(([, now, away = now]) => away),
        "without the service",
      );
    });
  }
});

const ses = (message: unknown): unknown => ({
  Type: "Notification",
  Message: typeof message === "string" ? message : JSON.stringify(message),
});
const bounced = (bounceType: string, emailAddress: string) => ({
  bounce: { bounceType, bouncedRecipients: [{ emailAddress }] },
});
const complained = (complaintFeedbackType: string, ...emails: readonly string[]) => ({
  complaint: {
    complaintFeedbackType,
    complainedRecipients: emails.map((emailAddress) => ({ emailAddress })),
  },
});
const mailgun = (event: string, severity?: string): unknown => ({
  "event-data": { event, severity, recipient: "jo@x.example" },
});

/** A receiver, a body, and what is told. */
const TOLD: readonly (readonly [receiver: string, body: unknown, told: readonly string[]])[] = [
  ["ses", ses({ eventType: "Complaint", ...complained("abuse", "jo@x.example") }), ["complaint"]],
  ["ses", ses({ notificationType: "Complaint", ...complained("abuse", "jo@x.example", "jo@x.example") }), ["complaint", "complaint"]], // prettier-ignore
  ["ses", ses({ eventType: "Complaint", ...complained("not-spam", "jo@x.example") }), ["fine"]],
  ["ses", ses({ eventType: "Bounce", ...bounced("Permanent", '"Jo, K" <jo@x.example>') }), ["bounce"]], // prettier-ignore
  ["ses", ses({ notificationType: "Bounce", ...bounced("Permanent", "jo@x.example") }), ["bounce"]],
  ["ses", ses({ eventType: "Bounce", ...bounced("Transient", "jo@x.example") }), []],
  ["ses", ses({ eventType: "Delivery", delivery: {} }), []],
  ["ses", ses("Successfully validated SNS topic for Amazon SES event publishing."), []],
  ["ses", { Type: "SubscriptionConfirmation", Message: "You have chosen to subscribe" }, []],
  ["ses", ses({ eventType: "Complaint", ...complained("abuse", "no address", "jo@x.example") }), ["complaint"]], // prettier-ignore
  ["postmark", { RecordType: "SpamComplaint", Email: "jo@x.example" }, ["complaint"]],
  ["postmark", { RecordType: "SpamComplaint", Email: "no address" }, []],
  ["postmark", { RecordType: "Bounce", Type: "HardBounce", Email: "jo@x.example" }, ["bounce"]],
  ["postmark", { RecordType: "Bounce", Type: "BadEmailAddress", Email: "jo@x.example" }, ["bounce"]], // prettier-ignore
  ["postmark", { RecordType: "Bounce", Type: "SoftBounce", Email: "jo@x.example" }, []],
  ["mailgun", mailgun("complained"), ["complaint"]],
  ["mailgun", mailgun("failed", "permanent"), ["bounce"]],
  ["mailgun", mailgun("failed", "temporary"), []],
  [
    "sendgrid",
    [
      { event: "bounce", type: "bounce", email: "no address" },
      { event: "bounce", type: "bounce", email: "jo@x.example" },
      { event: "bounce", type: "blocked", email: "no@x.example" },
      { event: "spamreport", email: "jo@x.example" },
      { event: "open", email: "no@x.example" },
    ],
    ["bounce", "complaint"],
  ],
  ["mailjet", { event: "bounce", hard_bounce: true, email: "jo@x.example" }, ["bounce"]],
  [
    "mailjet",
    [
      { event: "bounce", hard_bounce: false, email: "no@x.example" },
      { event: "spam", email: "jo@x.example" },
      { event: "blocked", email: "no@x.example" },
    ],
    ["complaint"],
  ],
  ["brevo", { event: "hard_bounce", email: "jo@x.example" }, ["bounce"]],
  ["brevo", { event: "invalid_email", email: "jo@x.example" }, ["bounce"]],
  ["brevo", { event: "soft_bounce", email: "no@x.example" }, []],
  ["brevo", { event: "spam", email: "jo@x.example" }, ["complaint"]],
  ["resend", { type: "email.complained", data: { to: ["jo@x.example"] } }, ["complaint"]],
  ["resend", { type: "email.bounced", data: { to: ["jo@x.example"], bounce: { type: "Permanent" } } }, ["bounce"]], // prettier-ignore
  ["resend", { type: "email.bounced", data: { to: ["no@x.example"], bounce: { type: "Transient" } } }, []], // prettier-ignore
];

test("the receivers of before-you-send.md tell what mail services report", async () => {
  const place = temporaryFolder();
  const [, ...receivers] = guideBlocks("before-you-send", "js");
  writeFileSync(join(place, "all.mjs"), `import { gatepost } from "./told.mjs";\n${receivers.join("\n")}`); // prettier-ignore
  writeFileSync(
    join(place, "told.mjs"),
    `export const told = [];
     let asked = 0;
     export const gatepost = { async feedback({ email, outcome }) {
       if (email === "no address") throw Object.assign(new Error(), { status: 400 });
       asked += 1;
       if (asked % 2 === 1) throw Object.assign(new Error(), { status: 429, retryAfter: 0 });
       if (email !== "jo@x.example") throw new Error(email);
       told.push(outcome);
     } };`,
  );
  writeFileSync(join(place, "cases.json"), JSON.stringify(TOLD));
  writeFileSync(
    join(place, "driver.mjs"),
    `import { readFileSync } from "node:fs";
     import { told } from "./told.mjs";
     import * as all from "./all.mjs";
     const said = [];
     for (const [name, body] of JSON.parse(readFileSync("cases.json"))) {
       const given = name === "ses" && said.length % 2 === 0 ? JSON.stringify(body) : body;
       await all[name + "Feedback"](given);
       said.push(told.splice(0));
     }
     console.log(JSON.stringify(said));`,
  );
  const { stdout } = await run("node", ["driver.mjs"], { cwd: place });
  assert.deepEqual(
    JSON.parse(stdout),
    TOLD.map(([, , told]) => told),
  );
});
