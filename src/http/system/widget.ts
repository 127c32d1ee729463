import { createHash } from "node:crypto";
import type { Page } from "../routes.ts";

/**
 * The script of sign-up pages: no dependency, no inline style, no inline code. It runs as it stands in browsers of
 * the last years, so it is written in plain JavaScript. A fault, a timeout or an answer it does not know never
 * blocks the form.
 */
const SOURCE = `(function () {
  "use strict";
  var script = document.currentScript;
  // A page's own <img name="currentScript"> can stand there instead.
  if (!(script instanceof HTMLScriptElement)) return;
  var base = script.getAttribute("data-url") || new URL(".", script.src).href.slice(0, -1);
  var key = script.getAttribute("data-key") || "";
  var enforce = script.hasAttribute("data-enforce");
  var TIMEOUT_MS = 2000;
  var DECISIONS = ["accept", "challenge", "review", "reject"];
  var count = 0;

  function ask(email) {
    var ending = new AbortController();
    var timer = setTimeout(function () { ending.abort(); }, TIMEOUT_MS);
    var body = { email: email, deadline_ms: 1500, language: document.documentElement.lang || navigator.language || "en" };
    return fetch(base + "/api/decide", {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      headers: { "Content-Type": "application/json", "X-Api-Key": key },
      body: JSON.stringify(body),
      signal: ending.signal
    }).then(function (answer) {
      if (!answer.ok) throw new Error("status " + answer.status);
      return answer.json();
    }).finally(function () { clearTimeout(timer); });
  }

  function attach(field) {
    if (field.gatepost) return;
    field.gatepost = true;
    count += 1;
    var note = document.createElement("div");
    note.id = "gatepost-note-" + count;
    note.className = "gatepost-note";
    note.setAttribute("role", "status");
    note.setAttribute("aria-live", "polite");
    field.insertAdjacentElement("afterend", note);
    var described = field.getAttribute("aria-describedby");
    field.setAttribute("aria-describedby", described ? described + " " + note.id : note.id);
    var token = document.createElement("input");
    token.type = "hidden";
    token.name = "gatepost-token";
    field.insertAdjacentElement("afterend", token);
    var asked = 0;

    function clear() {
      asked += 1;
      note.textContent = "";
      token.value = "";
      field.removeAttribute("aria-invalid");
      if (enforce) field.setCustomValidity("");
    }

    function show(answer) {
      note.textContent = answer.message || "";
      if (answer.decision === "reject") {
        field.setAttribute("aria-invalid", "true");
        if (enforce) field.setCustomValidity(answer.message || "Please use another email address.");
      }
      if (!answer.did_you_mean) return;
      var fix = document.createElement("button");
      fix.type = "button";
      fix.className = "gatepost-fix";
      fix.textContent = answer.did_you_mean;
      fix.addEventListener("click", function () {
        field.value = answer.did_you_mean;
        field.focus();
        check();
      });
      note.append(" ", fix);
    }

    function trimmed(text) {
      return text.replace(/^[\\s\\u0085\\u200b]+|[\\s\\u0085\\u200b]+$/g, "");
    }

    function check() {
      var email = trimmed(field.value);
      clear();
      if (email === "") return;
      var mine = asked;
      ask(email).then(function (answer) {
        if (mine !== asked || DECISIONS.indexOf(answer.decision) < 0) return;
        token.value = typeof answer.token === "string" ? answer.token : "";
        var told = new CustomEvent("gatepost:decision", { bubbles: true, cancelable: true, detail: answer });
        if (field.dispatchEvent(told)) show(answer);
      }).catch(function () { /* the form goes on without an answer */ });
    }

    field.addEventListener("change", check);
    field.addEventListener("input", clear);
    if (trimmed(field.value) !== "") check();
  }

  function start() {
    document.querySelectorAll("input[data-gatepost]").forEach(attach);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
`;

export const WIDGET = {
  source: SOURCE,
  /** Of the source: a page may name it for good. */
  hash: createHash("sha256").update(SOURCE).digest("hex").slice(0, 16),
};

const SCRIPT = {
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/** The script of sign-up pages, under its own name and for good under the one with its hash. */
export const gatePages: readonly Page[] = (
  [
    ["/widget.js", "public, max-age=300"],
    [`/widget-${WIDGET.hash}.js`, "public, max-age=31536000, immutable"],
  ] as const
).map(([path, cache]) => ({
  method: "GET",
  path,
  handle: () => ({
    type: "text/javascript; charset=utf-8",
    headers: { ...SCRIPT, "cache-control": cache },
    body: WIDGET.source,
  }),
}));
