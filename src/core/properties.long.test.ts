// The tests of these files again, with the effort of a long suite.
import "./address/address.test.ts";
import "./address/entry.test.ts";
import "./evidence/address-evidence.test.ts";
import "./evidence/alias.test.ts";
import "./evidence/names/typo.test.ts";
import "./evidence/names/word-finder.test.ts";
import "./evidence/verdict.test.ts";
import "./name/domain.test.ts";
