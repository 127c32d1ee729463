import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "node:test";
import { promisify } from "node:util";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { PYTHON, worksIn } from "./guide-tools.ts";

const THROWAWAY = "Please use a permanent email address.";
const NO_MAIL = "This address cannot receive email. Please check the part after the @.";
const ASKED = "Did you mean jo@gmail.com?";

/** A form, what it says of the address while the service answers, and without an answer. "" makes the account. */
const FORMS = [
  [{ email: "jo@good.example" }, "", ""],
  [{ email: "jo@mailinator.com" }, THROWAWAY, ""],
  [{ email: "de.jo@mailinator.com" }, "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.", ""],
  [{ email: "jo@gmaik.com" }, ASKED, ""],
  // Who has confirmed is not asked again; the other rules decide.
  [{ email: "an@gmaik.com", confirmed: "on" }, NO_MAIL, ""],
  [{ email: "jo@null.example" }, NO_MAIL, ""],
  [{ email: "jo@silent.example" }, "", ""],
] as const;

interface Framework {
  readonly program: string;
  readonly missing: readonly string[];
  readonly packages: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly driver: string;
}

const block = (page: string, fence: string, at: number): string =>
  guideBlocks(page, fence)[at] ?? assert.fail(`${page} has no block ${String(at)}`);

const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  "django-allauth": {
    program: PYTHON,
    packages: ["python3-django-allauth"],
    missing: worksIn(PYTHON, "import allauth", "-c") ? [] : ["python3-django-allauth"],
    files: {
      "shop/__init__.py": "",
      "shop/gatepost.py": block("django", "py", 0),
      "shop/forms.py": block("django", "py", 1),
      "shop/allauth_forms.py": block("django", "py", 2),
      "urls.py": `from django.urls import include, path
urlpatterns = [path("accounts/", include("allauth.urls"))]`,
    },
    driver: `import json, sys
import django
from django.conf import settings

def contrib(*names):
    return ["django.contrib." + name for name in names]

settings.configure(
    SECRET_KEY="0" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls", SITE_ID=1,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[*contrib("auth", "contenttypes", "sessions", "sites", "messages"), "allauth", "allauth.account"],
    MIDDLEWARE=[
        "shop.forms.visitor_address", "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.locale.LocaleMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request",
            *(f"django.contrib.{name}.context_processors.{name}" for name in ("auth", "messages"))]}}],
    EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    ACCOUNT_FORMS={"signup": "shop.allauth_forms.SignUp", "add_email": "shop.allauth_forms.AddEmail"},
    ACCOUNT_EMAIL_REQUIRED=True, ACCOUNT_USERNAME_REQUIRED=False, ACCOUNT_AUTHENTICATION_METHOD="email",
    ACCOUNT_RATE_LIMITS={}, PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField")
django.setup()
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.contrib.auth import get_user_model
from allauth.account.models import EmailAddress
call_command("migrate", verbosity=0)
setup_test_environment()
PASSWORDS = {"password1": "long-secret-12", "password2": "long-secret-12"}

def told(client, path, form):
    language = "de" if form["email"].startswith("de.") else "en"
    answer = client.post(path, form, HTTP_ACCEPT_LANGUAGE=language)
    if EmailAddress.objects.filter(email=form["email"]).exists():
        return ""
    return "".join(answer.context["form"].errors.get("email", ["?"]))

forms = json.load(open(sys.argv[1]))
signed_up = [told(Client(), "/accounts/signup/", {**PASSWORDS, **form}) for form in forms]
member = Client()
assert told(member, "/accounts/signup/", {**PASSWORDS, "email": "member@good.example"}) == ""
get_user_model().objects.exclude(email="member@good.example").delete()
changed = [told(member, "/accounts/email/", {"action_add": "", **form}) for form in forms]
print(json.dumps([signed_up, changed]))`,
  },
  devise: {
    program: "ruby",
    packages: ["ruby-devise"],
    missing: worksIn("ruby", "require 'devise'; require 'sqlite3'", "-e") ? [] : ["ruby-devise"],
    files: {
      "gatepost.rb": block("rails", "rb", 0),
      "current.rb": block("rails", "rb", 1),
      "user.rb": block("rails", "rb", 2),
      "application_controller.rb": block("rails", "rb", 3),
    },
    driver: `ENV["RAILS_ENV"] = "test"
ENV["DATABASE_URL"] = "sqlite3::memory:"
require "json"
require "logger"
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "devise"

class Shop < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.hosts.clear
  config.action_controller.allow_forgery_protection = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(nil)
  config.i18n.available_locales = [:en, :de]
  config.i18n.fallbacks = true
end

class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
load File.join(__dir__, "application_controller.rb")
class ApplicationController
  respond_to :json
  around_action { |_, work| I18n.with_locale(params.dig(:user, :email).to_s.start_with?("de.") ? :de : :en, &work) }
end
Devise.setup { |config| require "devise/orm/active_record"; config.stretches = 1; config.secret_key = "1" * 64 }
%w[gatepost.rb current.rb].each { |file| require File.join(__dir__, file) }
Shop.initialize!
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:users) { |t| %i[email encrypted_password].each { |name| t.string name, null: false, default: "" } }
end
load File.join(__dir__, "user.rb")
User.devise :database_authenticatable, :registerable, :validatable
Rails.application.routes.draw do
  devise_for :users
  root to: proc { [200, {}, [""]] }
end

PASSWORDS = { password: "secret12", password_confirmation: "secret12" }
def told(session, verb, form)
  session.send(verb, "/users.json", params: { user: form })
  return "" if User.exists?(email: form["email"])
  JSON.parse(session.response.body).dig("errors", "email").to_a.join
end
forms = JSON.parse(File.read(ARGV[0]))
new_session = -> { ActionDispatch::Integration::Session.new(Rails.application) }
signed_up = forms.map { |form| told(new_session.call, :post, { **PASSWORDS, **form }) }
User.delete_all
member = new_session.call
raise "no member" unless told(member, :post, { **PASSWORDS, "email" => "member@good.example" }) == ""
changed = forms.map { |form| told(member, :put, { current_password: "secret12", **form }) }
puts JSON.generate([signed_up, changed])`,
  },
};

suite("the guides' code in django-allauth and Devise", () => {
  let folder = "";
  let key = "";
  const world = serviceWorld({
    begin({ home }) {
      key = createAccount(home, "you@example.com").api_key;
      folder = temporaryFolder();
    },
  });

  for (const [name, { program, packages, missing, files, driver }] of Object.entries(FRAMEWORKS)) {
    testWith(packages, missing, `${name}: sign-up and a changed address`, async () => {
      const place = join(folder, name);
      const forms = join(place, "forms.json");
      const main = join(place, "driver");
      const written = {
        ...files,
        driver,
        "forms.json": JSON.stringify(FORMS.map(([form]) => form)),
      };
      for (const [file, text] of Object.entries(written)) {
        mkdirSync(dirname(join(place, file)), { recursive: true });
        writeFileSync(join(place, file), text);
      }
      const run = async (url: string): Promise<unknown> => {
        const env = { ...process.env, GATEPOST_URL: url, GATEPOST_KEY: key };
        const { stdout } = await promisify(execFile)(program, [main, forms], { cwd: place, env });
        return JSON.parse(stdout);
      };
      const said = FORMS.map(([, message]) => message);
      assert.deepEqual(await run(world.service.url), [said, said]);
      const open = FORMS.map(([, , message]) => message);
      assert.deepEqual(await run("http://127.0.0.1:9"), [open, open]);
    });
  }
});
