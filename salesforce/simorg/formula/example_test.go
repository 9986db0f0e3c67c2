package formula_test

import (
	"fmt"

	"sfbridge/apex"
	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

func Example() {
	s, err := schema.Load(schema.Source{Name: "samples", FS: apex.Samples()})
	if err != nil {
		fmt.Println(err)
		return
	}
	payment := s.Object("Payment__c")
	f, err := formula.Compile(`AND(NOT(ISNEW()), ISPICKVAL(PRIORVALUE(Status__c), "Refunded"), ISCHANGED(Status__c))`, payment)
	if err != nil {
		fmt.Println(err)
		return
	}
	refused, err := f.True(formula.Env{
		Old: row(payment, set{"Status__c": "Refunded"}),
		New: row(payment, set{"Status__c": "Pending"}),
		Now: now,
	})
	fmt.Println(refused, err)
	// Output: true <nil>
}
