import { strict as assert } from "node:assert";
import { test } from "node:test";
import { tokenTable } from "../../clients/token-cases.ts";
import { type Driver, testSamples } from "./samples.ts";

const DRIVERS: Readonly<Record<string, Driver>> = {
  go: (sample) => `${sample.replace("import (", 'import (\n\t"fmt"\n\t"os"')}
type table struct {
	Secrets []string
	Account string
	Cases   []struct {
		Token, Email, Form string
		Now                int64
	}
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var given table
	json.Unmarshal(text, &given)
	used := map[string]bool{}
	isNew := func(jti string, exp int64) bool {
		known := used[jti]
		used[jti] = true
		return !known
	}
	for _, each := range given.Cases {
		claims := verifyToken(each.Token, each.Email, given.Secrets, given.Account, each.Form, each.Now, isNew)
		if claims == nil {
			fmt.Println("-")
		} else {
			fmt.Println(claims["dec"])
		}
	}
}
`,
  ruby: (sample) => `${sample}
table = JSON.parse(File.read(ARGV[0], encoding: "utf-8"))
used = {}
table["cases"].each do |each|
  asked = [table["secrets"], table["account"], each["form"], each["now"]]
  claims = verify_token(each["token"], each["email"], *asked) do |jti, _exp|
    !used.key?(jti) && used[jti] = true
  end
  puts claims ? claims["dec"] : "-"
end
`,
};

const TABLE = tokenTable();

const decisionOf = (name: string): string => (name === "a rejection" ? "reject" : "accept");

testSamples({
  page: "docs/tokens.md",
  says: "accepts the good tokens alone",
  drivers: DRIVERS,
  cases: JSON.stringify(TABLE),
  want: TABLE.cases.map(({ name, fault }) => (fault === undefined ? decisionOf(name) : "-")),
});

test("the table has at least 40 changed tokens, each case of its own name", () => {
  const changed = TABLE.cases.filter(({ fault }) => fault !== undefined);
  assert.ok(changed.length >= 40);
  assert.equal(new Set(TABLE.cases.map(({ name }) => name)).size, TABLE.cases.length);
});
