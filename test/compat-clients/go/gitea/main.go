// Reads app.ini and its list of blocked domains with the parsers of Gitea and Forgejo; says of each address whether it is blocked.
package main

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/gobwas/glob"
	"gopkg.in/ini.v1"
)

func main() {
	file, err := ini.Load(os.Args[1])
	if err != nil {
		panic(err)
	}
	patterns := []glob.Glob{}
	for _, text := range file.Section("service").Key("EMAIL_DOMAIN_BLOCKLIST").Strings(",") {
		patterns = append(patterns, glob.MustCompile(text))
	}
	said := []bool{}
	for _, email := range os.Args[2:] {
		domain := email[strings.LastIndex(email, "@")+1:]
		blocked := false
		for _, pattern := range patterns {
			blocked = blocked || pattern.Match(domain)
		}
		said = append(said, blocked)
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
