package apply_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

const withCustomer = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: set
    when: {type: pay.set}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        fields: {Note__c: $.note, Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.customer}}
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, from: $.customer}
        fields: {Email__c: $.email}
  - name: gone
    when: {type: pay.gone}
    records:
      - {object: Payment__c, action: delete, key: {field: Stripe_Charge_Id__c, from: $.id}}
      - {object: Customer__c, action: delete, key: {field: Stripe_Customer_Id__c, from: $.customer}}
`

// An event whose customer is as it was still points to it: where a later event
// of the batch deletes both, the customer goes after the payment is written.
func TestParentIsDeletedBehindWhatPointsToIt(t *testing.T) {
	t.Parallel()
	pay := func(id, object, kind string, order int64) ev {
		return ev{id: id, kind: kind, object: object, order: order,
			payload: fmt.Sprintf(`{"id":%q,"note":%q,"customer":"cus","email":"a@example.com"}`, object, id)}
	}
	for _, last := range []string{"ch_1", "ch_2"} {
		b := newBed(t, withCustomer)
		b.stage(pay("first", "ch_1", "pay.set", 1))
		b.apply()
		b.stage(pay("second", "ch_1", "pay.set", 2), pay("gone", last, "pay.gone", 3))
		b.apply()
		assert.Equal(t, "Completed Updated", b.ended("second"), last)
		assert.Equal(t, "Completed Deleted", b.ended("gone"), last)
		assert.Empty(t, b.records("Customer__c", "Stripe_Customer_Id__c"), last)
	}
}
