package apply_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
)

// Which lock rows a commit touches shows in the org: they are made by it.
func TestLockRows(t *testing.T) {
	t.Parallel()
	const mapping = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: charge
    when: {type: charge.updated}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        fields: {Note__c: $.note}
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, from: $.customer}
        %ORDER%
        fields: {Email__c: $.email}
      - object: Payment_Line__c
        each: "$.lines[*]"
        key: {field: Line_Key__c, template: "{$.id}/{@.n}"}
        order: true
        fields: {Qty__c: "@.n"}
`
	home := event.HomeQueue(event.ByBridge, "shop:ch_1")
	shared := event.LockQueue("Customer__c", "cus_7")
	tests := []struct {
		name, order string
		want        []string
	}{
		{"a record that other entities write as well", "order: true", []string{home, shared}},
		{"none decides on what it showed", "", []string{home}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, strings.ReplaceAll(mapping, "%ORDER%", tt.order))
			b.stage(charge("e1", "ch_1", 5, "Pending").with(map[string]any{
				"customer": "cus_7", "email": "a@example.com", "lines": []any{map[string]any{"n": 1}, map[string]any{"n": 2}},
			}))
			b.apply()
			assert.Equal(t, "Completed Created", b.ended("e1"))
			var names []string
			for _, row := range b.org.Rows(event.QueueObject) {
				names = append(names, row[event.QueueFieldName].(string))
			}
			assert.ElementsMatch(t, tt.want, names)
		})
	}
}
