package salesforce_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

// An org that knows one payment and refuses another.
func exampleOrg() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, `[{"id":"a01000000000001AAA","success":true,"errors":[],"created":true},
			{"success":false,"errors":[{"statusCode":"REQUIRED_FIELD_MISSING","message":"Required fields are missing: [Amount__c]","fields":["Amount__c"]}]}]`)
	}))
}

func Example() {
	org := exampleOrg()
	defer org.Close()
	sessions, err := auth.New(auth.Config{Flow: auth.GivenSession, AccessToken: "token", InstanceURL: org.URL, AllowHTTP: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := salesforce.New(salesforce.Config{Sessions: sessions})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdle()
	results, err := client.UpsertAll(context.Background(), "Key__c", []salesforce.Row{
		{Object: "Payment__c", Fields: map[string]any{"Key__c": "ch_1", "Amount__c": 5}},
		{Object: "Payment__c", Fields: map[string]any{"Key__c": "ch_2"}},
	}, false)
	if err != nil {
		fmt.Println(err) // the whole call failed: salesforce.ClassOf(err) tells how
		return
	}
	for _, r := range results {
		fmt.Println(r.Success, r.Class(), r.Fault().NamedFields())
	}
	// Output:
	// true ok []
	// false data [Amount__c]
}
