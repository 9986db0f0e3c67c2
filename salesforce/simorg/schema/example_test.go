package schema_test

import (
	"fmt"

	"sfbridge/apex"
	"sfbridge/salesforce/simorg/schema"
)

func Example() {
	s, err := schema.Load(schema.Source{Name: "samples", FS: apex.Samples()})
	if err != nil {
		fmt.Println(err)
		return
	}
	payment := s.Object("Payment__c")
	amount := payment.Field("Amount__c")
	fmt.Println(amount.Type, amount.Precision, amount.Scale, payment.Relationship("Customer__r").ReferenceTo)
	// Output: Number 18 2 [Customer__c]
}
