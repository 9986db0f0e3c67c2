package mapping_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping"
)

const reconciled = `source: stripe
provider: stripe
secrets: ["${S}"]
reconcile:
  list: https://api.example.com/v1/charges?limit=100
  auth: "Bearer ${KEY}"
  items: "$.data[*]"
  next: "https://api.example.com/v1/charges?limit=100&starting_after={$.data[-1].id}"
  type: charge.reconciled
  into: $.data.object
  order: {first: ["@.updated", $.data.object.created], as: unix_s}
  every: 15m
  repair: true
  complete: true
routes:
  - name: charge
    when: {type: charge.*, $.data.object.livemode: true}
    records: [{object: Payment__c, key: {field: Stripe_Charge_Id__c, from: $.data.object.id}, fields: {Amount__c: $.data.object.amount}}]
  - name: refund
    when: {type: refund.*}
    records: [{object: Payment__c, key: {field: Stripe_Charge_Id__c, from: $.data.object.id}, fields: {Amount__c: $.data.object.amount}}]
    reconcile: {list: https://api.example.com/v1/refunds, items: "$[*]", next: header.Link, type: refund.listed, into: $.data.object}
`

func TestReconcile(t *testing.T) {
	t.Parallel()
	f, err := mapping.Parse("stripe.yaml", []byte(reconciled))
	require.NoError(t, err)
	list := f.Reconciles()
	require.Len(t, list, 2)
	r := list[0]
	assert.Equal(t, "https://api.example.com/v1/charges?limit=100", r.List)
	assert.Equal(t, "Bearer ${KEY}", r.Auth, "the reference stays")
	assert.Equal(t, "$.data[*]", r.Items.String())
	assert.True(t, r.NextPath.IsZero())
	assert.Equal(t, 15*time.Minute, r.Every)
	assert.True(t, r.Repair)
	assert.True(t, r.Complete)
	assert.Equal(t, "unix_s", r.Order.As)
	assert.Len(t, r.Order.Paths, 2)
	r = list[1]
	assert.Equal(t, "header.Link", r.NextPath.String())
	assert.Equal(t, time.Hour, r.Every)
	assert.False(t, r.Repair)
	assert.Nil(t, r.Order)
	assert.Empty(t, f.ContextPaths(), "what pages hold is not kept from deliveries")
	var compiled struct{ Reconcile []json.RawMessage }
	require.NoError(t, json.Unmarshal(f.Canonical(), &compiled))
	require.Len(t, compiled.Reconcile, 2)
	assert.JSONEq(t, `{"list":"https://api.example.com/v1/charges?limit=100","auth":"Bearer ${KEY}","items":"$.data[*]",
		"next":"https://api.example.com/v1/charges?limit=100&starting_after={$.data[-1].id}","type":"charge.reconciled",
		"into":"$.data.object","order":{"as":"unix_s","first":["@.updated","$.data.object.created"]},"every":"15m","repair":true,"complete":true}`,
		string(compiled.Reconcile[0]))
}
