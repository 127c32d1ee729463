import { strict as assert } from "node:assert";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { openPage, testInBrowser } from "./browser.ts";
import { decided, openWidgetWorld, typeAddress, type WidgetWorld } from "./widget-world.ts";

const INSTALLED = fileURLToPath(
  new URL("../../../clients/typescript/frameworks/node_modules", import.meta.url),
);

/** Each mounts a form that opens and closes, and greets with the address in its own state. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "app.mjs": `import { createElement as h, useState } from "react";
export function App({ isOpenAtFirst = false }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [email, setEmail] = useState("");
  const [isSent, setSent] = useState(false);
  if (isSent) return h("h1", null, "Welcome " + email);
  const submit = (event) => { event.preventDefault(); setSent(true); };
  return h("main", null,
    h("button", { onClick: () => setOpen(!isOpen) }, isOpen ? "Close" : "Open"),
    isOpen && h("form", { onSubmit: submit },
      h("label", { htmlFor: "email" }, "Email"),
      h("input", { id: "email", type: "email", "data-gatepost": "", value: email,
        onChange: (event) => setEmail(event.target.value.toLowerCase()) }),
      email !== "" && h("p", null, "You typed " + email),
      h("button", null, "Join")));
}`,
  "react.mjs": `import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.mjs";
createRoot(document.getElementById("root")).render(h(App));`,
  "hydrate.mjs": `import { createElement as h } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./app.mjs";
addEventListener("hydrate", () => hydrateRoot(document.getElementById("root"),
  h(App, { isOpenAtFirst: true }), { onRecoverableError: (error) => console.error(error) }));`,
  "vue.mjs": `import { createApp, h, ref, vModelText, withDirectives } from "vue";
createApp({ setup() {
  const isOpen = ref(false), email = ref(""), isSent = ref(false);
  return () => isSent.value ? h("h1", "Welcome " + email.value) : h("main", [
    h("button", { onClick: () => { isOpen.value = !isOpen.value; } }, isOpen.value ? "Close" : "Open"),
    isOpen.value ? h("form", { onSubmit: (event) => { event.preventDefault(); isSent.value = true; } }, [
      h("label", { for: "email" }, "Email"),
      withDirectives(h("input", { id: "email", type: "email", "data-gatepost": "",
        "onUpdate:modelValue": (value) => { email.value = value; } }), [[vModelText, email.value]]),
      email.value === "" ? null : h("p", "You typed " + email.value),
      h("button", "Join"),
    ]) : null,
  ]);
} }).mount("#root");`,
};

let world: WidgetWorld | undefined;

const MISSING = ["react", "react-dom", "vue"].every((name) => existsSync(join(INSTALLED, name)))
  ? []
  : ["npm ci in clients/typescript/frameworks"];
const names = (page: Page): Promise<number> => page.locator("[name=gatepost-token]").count();

before(async () => {
  if (MISSING.length > 0) return;
  const folder = temporaryFolder();
  symlinkSync(INSTALLED, join(folder, "node_modules"));
  for (const [file, text] of Object.entries(PROGRAMS)) writeFileSync(join(folder, file), text);
  const scripts: Record<string, string> = {};
  for (const name of ["react", "hydrate", "vue"]) {
    scripts[`/${name}.js`] = await bundled(join(folder, `${name}.mjs`));
  }
  const markup = await serverMarkup(folder);
  const plain = `<p><label for="other">Email</label><input id="other"></p><div id="host"></div>`;
  world = await openWidgetWorld((script) => {
    const page = (name: string, inside = ""): string =>
      `<!doctype html><html lang="en"><title>Sign up</title>${script()}<script src="/${name}.js" defer></script><div id="root">${inside}</div>`;
    const plainPage = `<!doctype html><html lang="en"><title>Sign up</title>${script()}${plain}`;
    const pages = { "/react": page("react"), "/vue": page("vue"), "/plain": plainPage };
    return { ...scripts, ...pages, "/hydrate": page("hydrate", markup) };
  });
});

after(() => world?.close());

/** As an application is built for production, in a script without imports. */
async function bundled(entry: string): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    build: { write: false, lib: { entry, formats: ["iife"], name: "shop" } },
  });
  const [output] = [made].flat() as readonly Rolldown.RolldownOutput[];
  return output?.output[0].code ?? "";
}

/** What React's server sends of the open form. */
async function serverMarkup(folder: string): Promise<string> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(path).href);
  const { App } = (await load(join(folder, "app.mjs"))) as { readonly App: unknown };
  const react = (await load(join(INSTALLED, "react/index.js"))) as {
    readonly default: { createElement(type: unknown, properties: object): unknown };
  };
  const server = (await load(join(INSTALLED, "react-dom/server.node.js"))) as {
    readonly default: { renderToString(element: unknown): string };
  };
  return server.default.renderToString(react.default.createElement(App, { isOpenAtFirst: true }));
}

/** Opens a page of the site; runs `body`, and nothing was complained about. */
function testPage(name: string, path: string, body: (page: Page) => Promise<void>): void {
  const withFrameworks = async (): Promise<void> => {
    assert.ok(world !== undefined);
    const { page, context, complaints } = await openPage(world.siteUrl);
    await page.goto(`${world.siteUrl}${path}`);
    await body(page);
    assert.deepEqual(complaints, []);
    await context.close();
  };
  testInBrowser(name, withFrameworks, MISSING);
}

async function acceptSuggestion(page: Page): Promise<void> {
  await typeAddress(page, "Jo@gmial.com");
  await page.getByRole("button", { name: "jo@gmail.com" }).click();
  await page.getByText("You typed jo@gmail.com").waitFor();
  await decided(page);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome jo@gmail.com" }).waitFor();
}

for (const framework of ["react", "vue"]) {
  testPage(
    `${framework}: a form that opens later is guarded, and the suggestion is sent`,
    `/${framework}`,
    async (page) => {
      for (const asked of ["jo@bad.example", "joe@bad.example"]) {
        await page.getByRole("button", { name: "Open" }).click();
        await typeAddress(page, asked);
        await page.getByText("Please use a permanent email address.").waitFor();
        assert.equal(await names(page), 1);
        await page.getByRole("button", { name: "Close" }).click();
        await page.locator("form").waitFor({ state: "detached" });
      }
      assert.equal(await names(page), 0);
      await page.getByRole("button", { name: "Open" }).click();
      await acceptSuggestion(page);
    },
  );
}

testPage(
  "react: the server's form is taken over after the widget saw it",
  "/hydrate",
  async (page) => {
    await page.waitForFunction("window.gatepost !== undefined");
    await page.evaluate("dispatchEvent(new Event('hydrate'))");
    await acceptSuggestion(page);
  },
);

testPage("a field and a shadow root are attached by hand", "/plain", async (page) => {
  await page.evaluate(`(() => {
    const root = document.querySelector("#host").attachShadow({ mode: "open" });
    root.innerHTML = '<label for="email">Email</label><input id="email" data-gatepost>';
    gatepost.attach(root);
    gatepost.attach(document.querySelector("#other"));
  })()`);
  await typeAddress(page, "jo@bad.example");
  await page.getByText("Please use a permanent email address.").waitFor();
  await page.locator("#other").fill("joe@gmial.com");
  await page.locator("#other").blur();
  await page.getByRole("button", { name: "joe@gmail.com" }).click();
  assert.equal(await page.locator("#other").inputValue(), "joe@gmail.com");
});
