/** Services that publish lists: requests, and what must stand in the answers; `compat-world.ts` says how they are written. */
export const LISTS = {
  "debounce-free": {
    cases: `
a disposable domain
  GET ?email=bad.example
  200 {"disposable":"true"}
a careless plus sign
  GET ?email=jo+x@good.example
  200 {"disposable":"false"}
a blank where a plus sign was
  GET ?email=jo%20x@bad.example
  200 {"disposable":"true"}
no name
  GET 
  400 {"message":"Missing parameter: email."}
`,
    optimistic: ``,
  },
  "kickbox-open": {
    cases: `
a disposable domain
  GET v1/disposable/bad.example
  200 {"disposable":true}
an address, not encoded
  GET v1/disposable/Jo+x@Bad.Example
  200 {"disposable":true}
an encoded address
  GET v1/disposable/jo%40good.example
  200 {"disposable":false}
bad input
  GET v1/disposable/@@
  200 {"disposable":true}
no name
  GET v1/disposable
  404 {"message":"Not found."}
`,
    optimistic: ``,
  },
  "mailcheck-ai": {
    cases: `
an address
  GET email/jo@bad.example
  200 {"status":200,"email":"jo@bad.example","domain":"bad.example","mx":true,"disposable":true,
    "public_domain":false,"alias":false,"did_you_mean":null}
a domain
  GET domain/none.example
  200 {"status":200,"domain":"none.example","mx":false,"disposable":false}
no DNS answer
  GET domain/silent.example
  200 {"mx":null}
syntax
  GET email/jo
  400 {"status":400,"error":"The email address is invalid."}
`,
    optimistic: ``,
  },
  truemail: {
    cases: `
what Misskey sends: nothing is encoded, the key stands alone, an empty body is called JSON
  POST ?email=Jo+x@good.example <authorization: KEY> json
  200 {"email":"Jo+x@good.example","success":true,"errors":null}
what other clients send
  GET ?email=jo%40bad.example <authorization: KEY>
  200 {"email":"jo@bad.example","success":false,"errors":{"list_match":"disposable"}}
no mail server
  POST ?email=jo@null.example <authorization: Bearer KEY>
  200 {"success":false,"errors":{"mx":"no mail server"}}
syntax
  POST ?email=jo
  200 {"email":"jo","success":false,"errors":{"regex":"malformed address"}}
a trap
  POST ?email=trap@good.example <authorization: KEY>
  200 {"success":false,"errors":{"list_match":"blacklist"}}
a role is no reason to refuse a person
  POST ?email=info@good.example
  200 {"success":true,"errors":null}
no DNS answer is a success
  POST ?email=jo@silent.example
  200 {"email":"jo@silent.example","success":true,"errors":null}
a wrong key is told when the server is set up
  POST ?email=jo@good.example <authorization: x>
  401 {"error":"Invalid API key."}
no address
  POST  <authorization: KEY>
  422 {"error":"Missing parameter: email."}
`,
    optimistic: ``,
  },
  usercheck: {
    cases: `
an address, raw
  GET email/Jo+x@mail.good.example <authorization: Bearer KEY>
  200 {"status":200,"email":"Jo+x@mail.good.example","normalized_email":"jo@mail.good.example",
    "domain":"mail.good.example","mx":true,"mx_records":[{"hostname":"mx.good.example",
    "priority":1}],"mx_providers":[],"disposable":false,"public_domain":false,
    "relay_domain":false,"alias":true,"role_account":false,"spam":false,"did_you_mean":null,
    "blocklisted":false}
a domain
  GET domain/good.example?key=KEY
  200 {"status":200,"domain":"good.example","domain_authority":null,"domain_age_in_days":33,
    "mx":true,"disposable":false}
the domain alone is suggested
  GET email/jo@gmial.com
  200 {"did_you_mean":"gmail.com","mx":false}
no DNS answer is neither yes nor no
  GET email/jo@silent.example
  200 {"mx":null,"mx_records":[]}
syntax
  GET email/jo@
  400 {"status":400,"error":"The email address is invalid."}
an address as a domain
  GET domain/jo@good.example
  400 {"status":400,"error":"The domain is invalid."}
a wrong key
  GET email/jo@good.example?key=x
  401 {"status":401,"error":"Unauthorized"}
`,
    optimistic: ``,
  },
} as const;
