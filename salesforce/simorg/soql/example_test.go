package soql_test

import (
	"context"
	"fmt"

	"sfbridge/apex"
	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

func Example() {
	s, err := schema.Load(schema.Source{Name: "samples", FS: apex.Samples()})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := &world{schema: s, rows: map[*schema.Object][]schema.Row{}}
	customer := w.insert("Customer__c", set{"Email__c": "ada@example.com"})
	w.insert("Payment__c", set{"Stripe_Charge_Id__c": "ch_1", "Amount__c": dec("50.00"), "Customer__c": customer})
	w.insert("Payment__c", set{"Stripe_Charge_Id__c": "ch_2", "Amount__c": dec("3.20")})

	q, err := soql.Compile("SELECT Stripe_Charge_Id__c, Customer__r.Email__c FROM Payment__c WHERE Amount__c > 5", s, soql.Options{Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := q.Run(context.Background(), w)
	if err != nil {
		fmt.Println(err)
		return
	}
	charge, parent := q.Select.Items[0], q.Select.Items[1]
	for _, r := range result.Records {
		email := parent.Parent.Items[0].Field
		fmt.Println(r.Row[charge.Field.Slot], r.Parents[parent.Slot].Row[email.Slot])
	}
	// Output: ch_1 ada@example.com
}
