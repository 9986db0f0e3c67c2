package mapping_test

import (
	"fmt"

	"sfbridge/mapping"
	"sfbridge/mapping/path"
)

func Example() {
	file, err := mapping.Parse("stripe.yaml", []byte(`source: stripe
provider: stripe
secrets: ["${STRIPE_SECRET}"]
routes:
  - name: charge
    when: {type: [charge.succeeded, charge.failed, charge.refunded]}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
`))
	if err != nil {
		fmt.Println(err) // every mistake, one a line
		return
	}
	event, _ := path.DecodeJSON([]byte(`{"type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":5000,"currency":"eur"}}}`))
	in := mapping.Input{EventID: "stripe:evt_1", Type: "charge.succeeded", Scope: path.Scope{Event: event}}
	route, _ := file.Route(in)
	records, errs := route.Records(in)
	fmt.Println(route.Name, records[0].Object, records[0].Key.Value, records[0].Sent(true)["Amount__c"], errs)
	// Output: charge Payment__c ch_1 50.00 []
}
