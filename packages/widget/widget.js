/*
 * The script of sign-up pages: no dependency, no inline style, no inline code. It runs as it stands in browsers of the
 * last years. A fault, a timeout or an answer that it does not know never blocks the form.
 */
(function () {
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
    var timer = setTimeout(function () {
      ending.abort();
    }, TIMEOUT_MS);
    var body = {
      email: email,
      deadline_ms: 1500,
      language: document.documentElement.lang || navigator.language || "en",
    };
    return fetch(base + "/api/decide", {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      headers: { "Content-Type": "application/json", "X-Api-Key": key },
      body: JSON.stringify(body),
      signal: ending.signal,
    })
      .then(function (answer) {
        if (!answer.ok) throw new Error("status " + answer.status);
        return answer.json();
      })
      .finally(function () {
        clearTimeout(timer);
      });
  }

  var FIELD = "input[data-gatepost]";
  // React and Vue watch the property of the element itself; this is the browser's own.
  var setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  var attached = [];

  function trimmed(text) {
    return text.replace(/^[\s\u0085\u200b]+|[\s\u0085\u200b]+$/g, "");
  }

  // They stand beside the field from its first use on, so that a framework finds the server's HTML unchanged.
  function partsOf() {
    count += 1;
    var note = document.createElement("div");
    note.id = "gatepost-note-" + count;
    note.className = "gatepost-note";
    note.setAttribute("role", "status");
    note.setAttribute("aria-live", "polite");
    var token = document.createElement("input");
    token.type = "hidden";
    token.name = "gatepost-token";
    return { note: note, token: token };
  }

  function describe(field, id) {
    var ids = (field.getAttribute("aria-describedby") || "").split(/\s+/).filter(Boolean);
    if (ids.indexOf(id) < 0) field.setAttribute("aria-describedby", ids.concat(id).join(" "));
  }

  function attachField(field) {
    if (field.gatepost) return;
    field.gatepost = true;
    attached.push({ field: field, detach: detach });
    var ending = new AbortController();
    var parts;
    var asked = 0;
    var last = "";

    function touch() {
      if (!parts) parts = partsOf();
      if (parts.note.parentNode !== field.parentNode) field.after(parts.token, parts.note);
      describe(field, parts.note.id);
    }

    function clear() {
      touch();
      asked += 1;
      last = "";
      parts.note.textContent = "";
      parts.token.value = "";
      field.removeAttribute("aria-invalid");
      if (enforce) field.setCustomValidity("");
    }

    function show(answer) {
      if (answer.decision === "accept" || answer.decision === "review") return;
      parts.note.textContent = answer.message || "";
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
        setValue.call(field, answer.did_you_mean);
        field.focus();
        ["input", "change"].forEach(function (name) {
          field.dispatchEvent(new Event(name, { bubbles: true }));
        });
      });
      parts.note.append(" ", fix);
    }

    function check() {
      var email = trimmed(field.value);
      if (email === last) return;
      clear();
      last = email;
      if (email === "") return;
      var mine = asked;
      ask(email)
        .then(function (answer) {
          if (mine !== asked || DECISIONS.indexOf(answer.decision) < 0) return;
          parts.token.value = typeof answer.token === "string" ? answer.token : "";
          var told = new CustomEvent("gatepost:decision", {
            bubbles: true,
            cancelable: true,
            detail: answer,
          });
          if (field.dispatchEvent(told)) show(answer);
        })
        .catch(function () {
          /* the form goes on without an answer */
        });
    }

    function detach() {
      ending.abort();
      asked += 1;
      field.gatepost = false;
      if (!parts) return;
      parts.note.remove();
      parts.token.remove();
    }

    // "blur" too: a framework that sets the value while a person types takes "change" away.
    [
      ["focus", touch],
      ["input", clear],
      ["change", check],
      ["blur", check],
    ].forEach(function (each) {
      field.addEventListener(each[0], each[1], { signal: ending.signal });
    });
    if (field === document.activeElement) touch();
    check();
  }

  function attach(element) {
    if (element instanceof HTMLInputElement) attachField(element);
    else if (element.querySelectorAll) element.querySelectorAll(FIELD).forEach(attachField);
  }

  function follow(changes) {
    attached = attached.filter(function (each) {
      each.wasThere = each.wasThere || each.field.isConnected;
      if (each.field.isConnected === each.wasThere) return true;
      each.detach();
      return false;
    });
    changes.forEach(function (change) {
      var nodes = change.type === "attributes" ? [change.target] : change.addedNodes;
      nodes.forEach(function (node) {
        if (!(node instanceof HTMLInputElement) || node.matches(FIELD)) attach(node);
      });
    });
  }

  function start() {
    attach(document);
    var what = {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["data-gatepost"],
    };
    new MutationObserver(follow).observe(document, what);
  }
  window.gatepost = { attach: attach };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
