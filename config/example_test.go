package config_test

import (
	"fmt"

	"sfbridge/config"
)

func Example() {
	cfg, err := config.Load("examples/bridge.yaml")
	if err != nil {
		fmt.Println(err) // every mistake, one a line
		return
	}
	fmt.Println(cfg.Listen, cfg.Poller.Batch, cfg.Salesforce.Auth.ClientID)
	env := config.Env{Lookup: func(string) (string, bool) { return "3MVG9", true }}
	cfg, err = cfg.Fill(env, "salesforce")
	fmt.Println(cfg.Salesforce.Auth.ClientID, err)
	// Output:
	// 127.0.0.1:8080 200 ${SF_CLIENT_ID}
	// 3MVG9 <nil>
}
