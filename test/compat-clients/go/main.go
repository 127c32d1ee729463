// Calls Mailgun's own Go client as its documentation shows, and prints what it gave: client -> [disposable, good, wrong key].
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/mailgun/mailgun-go/v4"
)

func verify(key, address string) any {
	client := mailgun.NewEmailValidator(key)
	client.SetAPIBase(os.Getenv("COMPAT_URL") + "/compat/mailgun/v4")
	told, err := client.ValidateEmail(context.Background(), address, false)
	if err != nil {
		return mailgun.GetStatusFromErr(err)
	}
	return told.Result
}

func main() {
	key := os.Getenv("COMPAT_KEY")
	said := []any{verify(key, "jo@bad.example"), verify(key, "jo@good.example"), verify("wrong-key", "jo@good.example")}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"go mailgun-go, by URL": said})
}
