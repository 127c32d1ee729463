import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { hasTool } from "../../process/require-tool.ts";
import { patient, startRefusingService } from "./guide-tools.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const run = promisify(execFile);
const SOURCE = fileURLToPath(
  new URL("../../../../clients/keycloak/GatepostEmail.java", import.meta.url),
);

/** Keycloak's interfaces, as far as the validator uses them: "package.Name": body. */
const STUBS: Readonly<Record<string, string>> = {
  "models.UserModel": `record UserModel(String email) { public String getEmail() {
    if (email.equals("fault")) throw new NullPointerException();
    return email; } }`,
  "common.ClientConnection":
    'class ClientConnection { public String getRemoteAddr() { return "203.0.113.7"; } }',
  "models.KeycloakContext": `class KeycloakContext {
    private final java.util.Locale locale;
    public KeycloakContext(String tag) { locale = java.util.Locale.forLanguageTag(tag); }
    public org.keycloak.common.ClientConnection getConnection() { return new org.keycloak.common.ClientConnection(); }
    public java.util.Locale resolveLocale(UserModel user) { return locale; } }`,
  "models.KeycloakSession": `class KeycloakSession {
    private final KeycloakContext context;
    public KeycloakSession(String tag) { context = new KeycloakContext(tag); }
    public KeycloakContext getContext() { return context; } }`,
  "provider.ProviderConfigProperty": "class ProviderConfigProperty {}",
  "provider.ConfiguredProvider": `interface ConfiguredProvider {
    String getHelpText(); java.util.List<ProviderConfigProperty> getConfigProperties(); }`,
  "userprofile.UserProfileContext": `enum UserProfileContext { REGISTRATION, UPDATE_EMAIL, IDP_REVIEW, USER_API;
    public boolean isAdminContext() { return this == USER_API; } }`,
  "userprofile.AttributeContext": `record AttributeContext(UserProfileContext context, org.keycloak.models.UserModel user) {
    public UserProfileContext getContext() { return context; }
    public org.keycloak.models.UserModel getUser() { return user; } }`,
  "userprofile.UserProfileAttributeValidationContext": `class UserProfileAttributeValidationContext extends org.keycloak.validate.ValidationContext {
    private final AttributeContext asked;
    public UserProfileAttributeValidationContext(AttributeContext asked, String tag) { super(tag); this.asked = asked; }
    public AttributeContext getAttributeContext() { return asked; }
    public static UserProfileAttributeValidationContext from(org.keycloak.validate.ValidationContext given) {
      return (UserProfileAttributeValidationContext) given; } }`,
  "validate.ValidationError": "record ValidationError(String id, String hint, String message) {}",
  "validate.ValidatorConfig": "class ValidatorConfig {}",
  "validate.ValidationContext": `class ValidationContext {
    private final org.keycloak.models.KeycloakSession session;
    public String told = "";
    public ValidationContext(String tag) { session = new org.keycloak.models.KeycloakSession(tag); }
    public org.keycloak.models.KeycloakSession getSession() { return session; }
    public void addError(ValidationError error) { told = error.hint() + ": " + error.message(); } }`,
  "validate.AbstractStringValidator": `abstract class AbstractStringValidator {
    protected abstract void doValidate(String value, String hint, ValidationContext context, ValidatorConfig config);
    public abstract String getId();
    public String told(String value, ValidationContext context) {
      doValidate(value, "email", context, null); return context.told; } }`,
  "util.JsonSerialization": `class JsonSerialization {
    public static String writeValueAsString(Object value) {
      if (value instanceof Number) return value.toString();
      if (!(value instanceof java.util.Map)) return '"' + value.toString() + '"';
      java.util.List<String> members = new java.util.ArrayList<>();
      ((java.util.Map<?, ?>) value).forEach((name, each) -> members.add('"' + name.toString() + "\\":" + writeValueAsString(each)));
      return "{" + String.join(",", members) + "}"; }
    public static <T> T readValue(String text, Class<T> type) {
      java.util.Map<String, Object> said = new java.util.HashMap<>();
      java.util.regex.Matcher found = java.util.regex.Pattern.compile("\\"(\\\\w+)\\":\\"([^\\"]*)\\"").matcher(text);
      while (found.find()) said.put(found.group(1), found.group(2));
      return type.cast(said); } }`,
};

/** Arguments: where the address is asked for, the address so far, language and address, four words for each call. */
const DRIVER = `import org.keycloak.models.UserModel;
import org.keycloak.userprofile.*;
public class Driver {
  public static void main(String[] words) {
    for (int at = 0; at < words.length; at += 4) {
      UserModel user = words[at + 1].isEmpty() ? null : new UserModel(words[at + 1]);
      AttributeContext asked = new AttributeContext(UserProfileContext.valueOf(words[at]), user);
      System.out.println(new GatepostEmail().told(words[at + 3], new UserProfileAttributeValidationContext(asked, words[at + 2])));
    }
  }
}`;

const REFUSED = "email: Please use a permanent email address.";

/** Where it is asked for, the address so far, language, address, and what the person reads. */
const CASES = [
  ["REGISTRATION", "", "en", "jo@good.example", ""],
  ["REGISTRATION", "", "en", "jo@mailinator.com", REFUSED],
  [
    "REGISTRATION",
    "",
    "de-AT",
    "jo@mailinator.com",
    "email: Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.",
  ],
  ["UPDATE_EMAIL", "jo@good.example", "en", "jo@mailinator.com", REFUSED],
  ["UPDATE_EMAIL", "jo@mailinator.com", "en", "Jo@Mailinator.com", ""],
  ["UPDATE_EMAIL", "fault", "en", "jo@mailinator.com", ""],
  ["IDP_REVIEW", "jo@mailinator.com", "en", "jo@mailinator.com", REFUSED],
  ["IDP_REVIEW", "fault", "en", "jo@mailinator.com", REFUSED],
  ["USER_API", "", "en", "jo@mailinator.com", ""],
  ["REGISTRATION", "", "en", "jo@gmaik.com", ""],
  ["REGISTRATION", "", "en", " ", ""],
  [
    "REGISTRATION",
    "",
    "en",
    `${"jo".repeat(500)}@x.example`,
    "email: Please enter a complete email address.",
  ],
] as const;

suite("the validator of clients/keycloak", () => {
  let key = "";
  let refusing: Awaited<ReturnType<typeof startRefusingService>>;
  const world = serviceWorld({
    async begin({ home, atEnd }) {
      refusing = await startRefusingService();
      atEnd(() => refusing.close());
      key = createAccount(home, "you@example.com").api_key;
    },
  });
  const skip = hasTool("javac") ? false : "javac";
  test(
    "refuses new throwaway addresses of people, and nobody without an answer",
    { skip },
    async () => {
      const folder = temporaryFolder();
      const files: string[] = [];
      const write = (file: string, text: string): void => {
        const path = join(folder, file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        files.push(path);
      };
      for (const [name, body] of Object.entries(STUBS)) {
        const [part = "", type = ""] = name.split(".");
        write(`org/keycloak/${part}/${type}.java`, `package org.keycloak.${part};\npublic ${body}`);
      }
      write("Driver.java", DRIVER);
      write("GatepostEmail.java", patient(readFileSync(SOURCE, "utf8")));
      await run("javac", ["-d", folder, ...files]);
      const words = CASES.flatMap((row) => row.slice(0, 4));
      const said = async (GATEPOST_URL: string, GATEPOST_KEY: string) => {
        const env = { ...process.env, GATEPOST_URL, GATEPOST_KEY };
        const { stdout, stderr } = await run("java", ["-cp", folder, "Driver", ...words], { env });
        return { told: stdout.split("\n").slice(0, CASES.length), log: stderr };
      };
      const { told: all } = await said(world.service.url, key);
      assert.deepEqual(
        all,
        CASES.map((row) => row[4]),
      );
      for (const { status, url, message } of refusing.rows) {
        const { told } = await said(url, key);
        assert.equal(told[0], message && `email: ${message}`, String(status));
      }
      const open = CASES.map(([, , , email, told]) => (email.length > 1_000 ? told : ""));
      for (const [url, given, why] of [
        ["http://127.0.0.1:9", key, /let in without a check: java\.\S+Exception/],
        [world.service.url, "gp_live_x", /let in without a check: status 401/],
      ] as const) {
        const { told, log } = await said(url, given);
        assert.deepEqual(told, open);
        assert.match(log, why);
        assert.doesNotMatch(log, /mailinator/);
      }
    },
  );
});
