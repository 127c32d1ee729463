import assert from "node:assert/strict";
import { test } from "node:test";
import { FREE_REGISTRIES, LARGE_PROVIDERS } from "../tables/data.ts";
import { shown, table } from "../../../test/lists/evidence-table.ts";

table(
  "words",
  `
a strong word anywhere in a label
  mytempmail24.example -> keyword_match 0.9 tempmail
a pair with a hyphen
  trash-box.example -> keyword_match 0.9 trash-box
a label below the registrable one
  yopmail.host.example -> keyword_match 0.9 yopmail
the public suffix is not searched
  shop.example -> nothing
two labels make no word
  temp.mail.example -> keyword_weak 0.35 temp
a weak word by itself
  spam.example -> keyword_weak 0.35 spam
a weak word between digits and hyphens
  my-temp4u.example -> keyword_weak 0.35 temp
a weak word inside another is none
  template.example -> nothing
a weak word at the end of another is none
  contemp.example -> nothing
a strong word outranks a weak one
  spam.tempmail.example -> keyword_match 0.9 tempmail
an honest bearer of a strong word
  www.junkmail.co.za -> nothing
an honest name as somebody else's label
  trashbox.ru.evil.example -> keyword_match 0.9 trashbox
templates of mail are a trade
  emailtemplates.example -> nothing
mail for a while is not
  emailtemporaneo.example -> keyword_match 0.9 mailtemp
contemporary is not temporary
  contemporarymail-art.example -> nothing
minds are no minutes
  10minds.example -> nothing
nor are 110 of them ten
  110min-walk.example -> nothing
an inbox of ten minutes
  10mininbox.example -> keyword_match 0.9 10min
an honest place beside a telling one
  10minds-10min.example -> keyword_match 0.9 10min
the last minute is for travellers
  lastminute-inbox.example -> nothing
the first is not
  firstminute-inbox.example -> keyword_match 0.9 minute-inbox
who would stop junk mail sends none
  stop-junkmail.example -> nothing
who would have none of it may
  nojunkmail.example -> keyword_match 0.9 junkmail
nappies are thrown away as well
  wegwerfwindeln.example -> nothing
and so are addresses
  wegwerfadresse.example -> keyword_match 0.9 wegwerfadresse
mail, box and free are nothing
  free-mail-box.example -> nothing
`,
);

table(
  "look-alikes",
  `
gmail within a name
  my-gmail4u.example -> lookalike_provider 0.85 gmail.com
gmail as a label in front
  gmail.com.login.example -> lookalike_provider 0.85 gmail.com
gmail itself
  gmail.com free=gmail.com -> nothing
a host of Google
  gmail.google.com -> nothing
Google's other name
  googlemail.com -> nothing
an honest other
  app.gmailify.com -> nothing
a g that ends another word
  bookingmail.example -> nothing
a blog's mail
  blogmail.example -> nothing
a school whose name ends in g
  aegmail.de -> nothing
students' mail of a university
  jagmail.southalabama.edu -> nothing
students' mail of a university of Taiwan
  ltugmail.ltu.edu.tw -> nothing
a second place after an innocent one
  bigmail-gmail.example -> lookalike_provider 0.85 gmail.com
a slip of the finger imitates nobody
  gmaill.com -> typo_domain 0 gmail.com
`,
);

table(
  "slips",
  `
two letters swapped
  gmial.com -> typo_domain 0 gmail.com
uncurated lists count nothing beside a misspelling, even when they agree
  gmial.com first=gmial.com second=gmial.com
    -> blacklist_single 0 gmial.com | typo_domain 0 gmail.com
a curated list decides about a misspelling
  gmial.com curated=gmial.com first=gmial.com
    -> blacklist_exact 1 gmial.com | typo_domain 0 gmail.com
the operator decides about a misspelling
  gmial.com domains=gmial.com:deny first=gmial.com
    -> blacklist_exact 1 gmial.com | typo_domain 0 gmail.com
a letter missing
  hotmal.com -> typo_domain 0 hotmail.com
a letter too many
  outlookk.com -> typo_domain 0 outlook.com
a wrong letter
  yahop.com -> typo_domain 0 yahoo.com
the first letter missing
  ahoo.com -> typo_domain 0 yahoo.com
the last letter missing
  gmail.co -> typo_domain 0 gmail.com
an ending that does not exist
  gmail.con -> typo_domain 0 gmail.com
an ending swapped
  yahoo.ocm -> typo_domain 0 yahoo.com
the dot swapped with its neighbour
  hotmai.lcom -> typo_domain 0 hotmail.com
a country's own provider misspelt
  wanadooo.fr -> typo_domain 0 wanadoo.fr
two slips are too many
  gmaiil.co -> nothing
a Turkish keyboard's i
  hotmaıl.com -> typo_domain 0 hotmail.com
an accent
  gmaìl.com -> typo_domain 0 gmail.com
Cyrillic letters
  gmаil.соm -> typo_domain 0 gmail.com
A-labels that read like a provider
  xn--utlook-vqf.com -> typo_domain 0 outlook.com
another alphabet's own word
  почта.example -> nothing
a short name's look is no slip
  wéb.de -> nothing
a known-good name in another alphabet
  gmаil.com free=xn--gmil-63d.com -> nothing
a short name has too many neighbours
  lice.com -> nothing
live.com is nobody's target
  lives.com -> nothing
another country's branch is no slip
  hotmail.se -> nothing
nor is one under a longer ending
  yahoo.com.tr -> nothing
clouds are services of their own
  mcloud.com -> nothing
but the ending of icloud can slip
  icloud.cm -> typo_domain 0 icloud.com
a large provider near another
  ymail.com -> nothing
a free provider near a large one
  fmail.com free=fmail.com -> nothing
a known-good name near a large one
  hmail.com knownGood=hmail.com -> nothing
a word of the dictionary
  never.com -> nothing
only the whole name can be a slip
  mail.gmial.com -> nothing
`,
);

test("no large provider shows any evidence, with its own kind of mail host or none", () => {
  for (const domain of LARGE_PROVIDERS) {
    assert.deepEqual(shown({ domain, mx: [`mx1.${domain}`] }), [], domain);
  }
});

table(
  "free registries",
  `
a name below one
  x1.dpdns.org -> free_registry_suffix 0.8 dpdns.org
a deep name below one
  a.b.x1.cc.cd -> free_registry_suffix 0.8 cc.cd
the registry itself
  qzz.io -> nothing
letters before it are no label
  xdpdns.org -> nothing
registries with honest customers
  x.eu.org -> nothing
`,
);

test("every free registry is two labels, as the look-up takes it", () => {
  for (const name of FREE_REGISTRIES) assert.match(name, /^[a-z0-9-]+\.[a-z]+$/);
});
