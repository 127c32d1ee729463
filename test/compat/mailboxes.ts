/** Services that speak of mailboxes: requests, and what must stand in the answers; `compat-world.ts` says how they are written. */
export const MAILBOXES = {
  kickbox: {
    cases: `
a domain that takes mail
  GET v2/verify?email=Jo@Good.example&apikey=KEY&timeout=6000
  200 {"result":"unknown","reason":"unavailable_smtp","role":false,"free":false,
    "disposable":false,"accept_all":false,"did_you_mean":null,"sendex":0.5,
    "email":"jo@good.example","user":"jo","domain":"good.example","success":true,"message":null}
syntax
  GET v2/verify?email=jo@&apikey=KEY
  200 {"result":"undeliverable","reason":"invalid_email","sendex":0}
no mail
  GET v2/verify?email=jo@none.example&apikey=KEY
  200 {"result":"undeliverable","reason":"invalid_domain"}
disposable
  GET v2/verify?email=jo@bad.example&apikey=KEY
  200 {"result":"risky","reason":"low_quality","disposable":true}
role
  GET v2/verify?email=info@good.example&apikey=KEY
  200 {"result":"risky","role":true}
no DNS answer
  GET v2/verify?email=jo@silent.example&apikey=KEY
  200 {"result":"unknown","reason":"timeout"}
typo
  GET v2/verify?email=jo@gmial.com&apikey=KEY
  200 {"result":"undeliverable","did_you_mean":"jo@gmail.com"}
free
  GET v2/verify?email=jo@gmail.com&apikey=KEY
  200 {"free":true}
a wrong key in the header of the official clients
  GET v2/verify?email=jo@good.example <authorization: token wrong>
  403 {"success":false,"message":"Invalid API key"}
the key in that header
  GET v2/verify?email=jo@good.example <authorization: token KEY>
  200 {"success":true}
no address
  GET v2/verify?apikey=KEY
  400 {"success":false,"message":"Missing parameter: email."}
another path
  GET v2/other?apikey=KEY
  404 {"success":false,"message":"Not found."}
the balance
  GET v2/balance?apikey=KEY
  200 {"balance":999999999,"success":true,"message":null}
`,
    optimistic: `
good
  GET v2/verify?email=jo@good.example&apikey=KEY
  200 {"result":"deliverable","reason":"accepted_email"}
no DNS answer
  GET v2/verify?email=jo@silent.example&apikey=KEY
  200 {"result":"unknown"}
role
  GET v2/verify?email=info@good.example&apikey=KEY
  200 {"result":"risky"}
`,
  },
  neverbounce: {
    cases: `
a form, with everything
  POST v4.2/single/check form key=KEY&email=jo+x@mail.good.example&address_info=1&credits_info=1
  200 {"status":"success","result":"unknown","flags":["has_dns","has_dns_mx","contains_alias",
    "contains_subdomain"],"suggested_correction":"","retry_token":"","execution_time":0,
    "address_info":{"original_email":"jo+x@mail.good.example",
    "normalized_email":"jo@mail.good.example","addr":"jo","alias":"x","host":"mail.good.example",
    "fqdn":"good.example","domain":"good","subdomain":"mail","tld":"example"},
    "credits_info":{"paid_credits_used":0,"free_credits_used":1,"paid_credits_remaining":0,
    "free_credits_remaining":999999999}}
JSON, with numbers
  POST v4.1/single/check json {"key":"KEY","email":"jo@bad.example","address_info":0,"timeout":5}
  200 {"result":"disposable","flags":["has_dns","has_dns_mx","disposable_email"]}
syntax
  GET v4/single/check?key=KEY&email=jo@
  200 {"result":"invalid","flags":["bad_syntax"]}
no mail
  GET v4/single/check?key=KEY&email=jo@none.example
  200 {"result":"invalid","flags":["bad_dns"]}
role
  GET v4/single/check?key=KEY&email=info@good.example
  200 {"result":"unknown","flags":["has_dns","has_dns_mx","role_account"]}
no DNS answer
  GET v4/single/check?key=KEY&email=jo@silent.example
  200 {"result":"unknown","flags":["temporary_dns_error"]}
typo
  GET v4/single/check?key=KEY&email=jo@gmial.com
  200 {"suggested_correction":"jo@gmail.com"}
a wrong key is 200
  GET v4/single/check?key=x&email=a@b.example
  200 {"status":"auth_failure","message":"Invalid API key.","execution_time":0}
a key that is a number is wrong, too
  POST v4.2/single/check json {"key":5,"email":"jo@bad.example"}
  200 {"status":"auth_failure","message":"Invalid API key."}
a key that is null is none
  POST v4.2/single/check json {"key":null,"email":"jo@bad.example"}
  200 {"status":"success"}
no address is 200
  GET v4/single/check?key=KEY
  200 {"status":"general_failure","message":"Missing required parameter 'email'"}
broken JSON is 200
  POST v4/single/check json {
  200 {"status":"general_failure"}
a GET with a JSON body, as official clients send it
  GET v4.2/single/check json {"key":"KEY","email":"jo@bad.example"}
  200 {"status":"success"}
a JSON body that calls itself a form
  POST v4.2/single/check form {"key":"KEY","email":"jo@good.example"}
  200 {"status":"success"}
a JSON body of another type
  POST v4.2/single/check <content-type: application/octet-stream> {"key":"KEY",
    "email":"jo@good.example"}
  200 {"status":"success"}
the account
  GET v4.2/account/info?key=KEY
  200 {"status":"success","credits_info":{"paid_credits_used":0,"free_credits_used":0,
    "paid_credits_remaining":0,"free_credits_remaining":999999999},"job_counts":{"completed":0,
    "under_review":0,"queued":0,"processing":0}}
the account of a wrong key is 200
  GET v4.2/account/info?key=x
  200 {"status":"auth_failure"}
another path is 200
  GET v4/jobs/search?key=KEY
  200 {"status":"general_failure","message":"Not found."}
`,
    optimistic: `
good
  GET v4/single/check?key=KEY&email=jo@good.example
  200 {"result":"valid"}
`,
  },
  reacher: {
    cases: `
all fields
  POST v0/check_email json {"to_email":"jo+x@gmail.com","proxy":{"host":"x","port":1}}
  200 {"input":"jo+x@gmail.com","is_reachable":"unknown","misc":{"is_disposable":false,
    "is_role_account":false,"is_b2c":true,"gravatar_url":null,"haveibeenpwned":null},
    "mx":{"accepts_mail":true,"records":["gmail-smtp-in.l.google.com."]},
    "smtp":{"can_connect_smtp":false,"has_full_inbox":false,"is_catch_all":false,
    "is_deliverable":false,"is_disabled":false},"syntax":{"address":"jo+x@gmail.com",
    "domain":"gmail.com","is_valid_syntax":true,"username":"jo+x",
    "normalized_email":"jo@gmail.com","suggestion":null},"debug":{"backend_name":"gatepost",
    "start_time":"2026-11-22T08:00:00.000Z","duration":{"secs":0,"nanos":0}}}
syntax
  POST v0/check_email json {"to_email":"jo","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"invalid","syntax":{"is_valid_syntax":false,"address":null,"domain":"",
    "username":""}}
no mail
  POST v0/check_email json {"to_email":"jo@none.example","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"invalid","mx":{"accepts_mail":false,"records":[]}}
disposable
  POST v0/check_email json {"to_email":"jo@bad.example","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"risky","misc":{"is_disposable":true}}
role
  POST v0/check_email json {"to_email":"info@good.example","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"risky","misc":{"is_role_account":true}}
no DNS answer
  POST v0/check_email json {"to_email":"jo@silent.example","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"unknown","mx":{"error":{"type":"ResolveError",
    "message":"DNS did not answer."}}}
typo
  POST v0/check_email json {"to_email":"jo@gmial.com","proxy":{"host":"x","port":1}}
  200 {"syntax":{"suggestion":"jo@gmail.com"}}
no address
  POST v1/check_email json {}
  400 {"error":"to_email field is required."}
the key as it is in Authorization
  POST v0/check_email <authorization: KEY> json {"to_email":"jo@bad.example","proxy":{"host":"x",
    "port":1}}
  200 {"is_reachable":"risky"}
the key as Bearer
  POST v0/check_email <authorization: Bearer KEY> json {"to_email":"jo@bad.example",
    "proxy":{"host":"x","port":1}}
  200 {"is_reachable":"risky"}
a wrong secret
  POST v1/check_email <x-reacher-secret: x> json {}
  400 "Invalid request header \\"x-reacher-secret\\""
GET
  GET v1/check_email
  405 {"error":"Method not allowed."}
`,
    optimistic: `
good
  POST v0/check_email json {"to_email":"jo@good.example","proxy":{"host":"x","port":1}}
  200 {"is_reachable":"safe","smtp":{"can_connect_smtp":true,"is_deliverable":true}}
`,
  },
  verifalia: {
    cases: `
a job that is over when it is answered
  POST v2.6/email-validations?waitTime=30000 <authorization: Bearer KEY> json {"entries":[
    {"inputData":"jo@bad.example"}]}
  200 {"overview":{"status":"Completed","noOfEntries":1},"entries":{"meta":{"isTruncated":false},
    "data":[{"index":0,"inputData":"jo@bad.example","completedOn":"2026-11-22T08:00:00.000Z",
    "emailAddress":"jo@bad.example","emailAddressLocalPart":"jo",
    "emailAddressDomainPart":"bad.example","asciiEmailAddressDomainPart":"bad.example",
    "isDisposableEmailAddress":true,"isFreeEmailAddress":false,"isRoleAccount":false,
    "status":"DomainIsWellKnownDea","classification":"Risky","suggestions":[]}]}}
syntax
  POST v2.6/email-validations json {"entries":[{"inputData":"jo"}]}
  200 {"entries":{"data":[{"index":0,"inputData":"jo","completedOn":"2026-11-22T08:00:00.000Z",
    "isDisposableEmailAddress":false,"isFreeEmailAddress":false,"isRoleAccount":false,
    "status":"InvalidCharacterInSequence","classification":"Undeliverable","suggestions":[]}]}}
nothing is kept of a job
  GET v2.6/email-validations/00000000-0000-0000-0000-000000000000
  410 {}
the balance
  GET v2.5/credits/balance <authorization: Bearer KEY>
  200 {"creditPacks":999999999}
no entries
  POST v2.6/email-validations json {"entries":[]}
  400 {"message":"Parameter entries must be an array of 1 to 200 addresses."}
an entry without an address
  POST v2.6/email-validations json {"entries":[null]}
  400 {"message":"Missing parameter: inputData."}
a wrong key
  POST v2.6/email-validations <authorization: Basic YXBpOndyb25n> json {"entries":[]}
  401 {"message":"Invalid API key."}
`,
    optimistic: ``,
  },
  zerobounce: {
    cases: `
text and booleans as the original mixes them
  GET v2/validate?api_key=KEY&email=jo@good.example&ip_address=
  200 {"address":"jo@good.example","status":"unknown","sub_status":"","free_email":false,
    "did_you_mean":null,"account":"jo","domain":"good.example","domain_age_days":"33",
    "smtp_provider":"","mx_found":"true","mx_record":"mx.good.example","firstname":null,
    "lastname":null,"gender":null,"country":null,"region":null,"city":null,"zipcode":null,
    "processed_at":"2026-11-22 08:00:00.000"}
syntax
  GET v2/validate?api_key=KEY&email=jo&ip_address=
  200 {"status":"invalid","sub_status":"failed_syntax_check"}
typo
  GET v2/validate?api_key=KEY&email=jo@gmial.com&ip_address=
  200 {"status":"invalid","sub_status":"possible_typo","did_you_mean":"jo@gmail.com"}
no mail
  GET v2/validate?api_key=KEY&email=jo@none.example&ip_address=
  200 {"status":"invalid","sub_status":"no_dns_entries","mx_found":"false","mx_record":null}
null MX
  GET v2/validate?api_key=KEY&email=jo@null.example&ip_address=
  200 {"status":"invalid","sub_status":"does_not_accept_mail"}
disposable
  GET v2/validate?api_key=KEY&email=jo@bad.example&ip_address=
  200 {"status":"do_not_mail","sub_status":"disposable"}
trap
  GET v2/validate?api_key=KEY&email=trap@good.example&ip_address=
  200 {"status":"spamtrap","sub_status":""}
role
  GET v2/validate?api_key=KEY&email=info@good.example&ip_address=
  200 {"status":"do_not_mail","sub_status":"role_based"}
no DNS answer
  GET v2/validate?api_key=KEY&email=jo@silent.example&ip_address=
  200 {"status":"unknown","sub_status":"mail_server_temporary_error"}
provider
  GET v2/validate?api_key=KEY&email=jo@gmail.com&ip_address=
  200 {"smtp_provider":"google","free_email":true}
a wrong key is 200
  GET v2/validate?api_key=x&email=jo@good.example
  200 {"error":"Invalid API Key or your account ran out of credits"}
no address
  GET v2/validate?api_key=KEY
  400 {"error":"Missing parameter: email."}
credits
  GET v2/getcredits?api_key=KEY
  200 {"Credits":"999999999"}
use of the API, which the service counts elsewhere
  GET v2/getapiusage?api_key=KEY&start_date=2026-11-01&end_date=2026-11-30
  200 {"total":0,"status_valid":0,"start_date":"2026-11-01","end_date":"2026-11-30"}
credits of a wrong key
  GET v2/getcredits?api_key=x
  200 {"Credits":"-1"}
a batch
  POST v2/validatebatch json {"api_key":"KEY","email_batch":[{"email_address":"jo@bad.example",
    "ip_address":null},{"email_address":1}]}
  200 {"errors":[{"error":"Missing email_address.","email_address":""}]}
a batch as the official npm client sends it
  POST v2/validatebatch?api_key=KEY <content-type: text/plain;charset=UTF-8> {"email_batch":[{}]}
  200 {"email_batch":[],"errors":[{"error":"Missing email_address.","email_address":""}]}
a batch with a wrong key
  POST v2/validatebatch json {"api_key":"x","email_batch":[]}
  200 {"email_batch":[],"errors":[{"error":"Invalid API Key or your account ran out of credits",
    "email_address":"all"}]}
a key of another type is wrong, and no caller without one
  POST v2/validatebatch json {"api_key":["KEY"],"email_batch":[{"email_address":"jo@bad.example"}]}
  200 {"email_batch":[],"errors":[{"error":"Invalid API Key or your account ran out of credits",
    "email_address":"all"}]}
a batch that is too long
  POST v2/validatebatch json {"api_key":"KEY","email_batch":[{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},
    {},{},{}]}
  400 {"email_batch":[],"errors":[{"error":"At most 200 addresses in a batch.",
    "email_address":"all"}]}
`,
    optimistic: `
good
  GET v2/validate?api_key=KEY&email=jo@good.example&ip_address=
  200 {"status":"valid","sub_status":""}
`,
  },
} as const;
