package simorg_test

import (
	"fmt"
	"net/http"
	"strings"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

// An org that loses the answer to the first insert, as a time-out after the
// commit does.
func Example() {
	srv, err := simorg.New(simorg.Config{
		Samples: true,
		Faults:  []fault.Fault{{Operation: fault.Row, Kind: fault.DropAfter, Times: 1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := srv.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 2 {
		req, _ := http.NewRequest("POST", srv.URL()+"/services/data/v65.0/sobjects/Payment__c",
			strings.NewReader(`{"Stripe_Charge_Id__c":"ch_1"}`))
		req.Header.Set("Authorization", "Bearer "+srv.AccessToken())
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println("no answer, rows:", len(srv.Rows("Payment__c")))
			continue
		}
		fmt.Println(resp.Status, "rows:", len(srv.Rows("Payment__c")))
		resp.Body.Close()
	}
	// Output:
	// no answer, rows: 1
	// 400 Bad Request rows: 1
}
