package mapping_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping"
	"sfbridge/mapping/path"
)

const effectMapping = `
source: shop
provider: stripe
authority: {get: "https://api.example.com/charges/{$.id}", auth: "Bearer ${KEY}", into: $.object}
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Key__c, from: $.id}
        fields:
          Status__c: {from: $.status, map: {paid: Paid, open: Open}}
          Amount__c: {from: $.amount, as: number}
      - object: Payment_Line__c
        each: "$.lines[*]"
        key: {field: Line_Key__c, template: "{$.id}/{@.id}"}
        fields: {Qty__c: {from: "@.qty", as: integer}}
    effects:
      - name: receipt
        when: {object: payment__c, field: status__c, from: [Open, null], to: [Paid]}
        post: {url: "${URL}", secret: "${SECRET}", body: {charge: $.id, text: fixed, more: [$.none, true, 1.10], who: header.X-Who, none: $.none}}
      - name: task
        when: {object: Payment_Line__c, field: Qty__c, to: 2}
        salesforce: {object: Task__c, key: {field: Ext__c, template: "{$.id}:{$.status}"}, fields: {Amount__c: {from: $.amount, as: number}, Payment__r: {lookup: Payment__c, by: Key__c, from: $.id}}}
      - name: note
        when: {object: Payment__c, field: Amount__c, from: [1]}
        platform_event: {object: Note__e, fields: {Note__c: {from: $.note, required: true}}}
  - name: other
    authority: {get: "https://api.example.com/others/{$.id}", into: $, when: unsigned}
    records:
      - {object: Other__c, key: {field: Key__c, from: $.id}, fields: {A__c: $.a}}
`

func effectsOf(t *testing.T, payload string) ([]mapping.Effect, []mapping.FieldError) {
	t.Helper()
	f, err := mapping.Parse("shop.yaml", []byte(effectMapping))
	require.NoError(t, err)
	tree, err := path.DecodeJSON([]byte(payload))
	require.NoError(t, err)
	outer, err := path.ParseContext([]byte(`{"header.x-who":"me"}`))
	require.NoError(t, err)
	in := mapping.Input{EventID: "shop:1", Type: "charge.paid", Scope: path.Scope{Event: tree, Outer: outer}}
	route, ok := f.Route(in)
	require.True(t, ok)
	records, problems := route.Records(in)
	require.Empty(t, problems)
	return route.Effects(in, records)
}

func TestEffectsOfAnEvent(t *testing.T) {
	t.Parallel()
	effects, problems := effectsOf(t, `{"id":"ch_1","status":"paid","amount":5.0,"note":"n","lines":[{"id":1,"qty":2},{"id":2,"qty":3},{"id":3,"qty":2}]}`)
	require.Empty(t, problems)
	task := `{"salesforce":{"fields":{"Amount__c":5.0,"Payment__r":{"Key__c":"ch_1"}},"key":{"field":"Ext__c","value":"ch_1:paid"},"object":"Task__c"}}`
	assert.Equal(t, []mapping.Effect{
		{Name: "receipt", Record: 0, Field: "Status__c", From: []string{"Open", ""},
			Request: `{"post":{"body":{"charge":"ch_1","more":[null,true,1.10],"text":"fixed","who":"me"}}}`},
		{Name: "task", Record: 1, Field: "Qty__c", AnyFrom: true, Request: task},
		{Name: "task", Record: 3, Field: "Qty__c", AnyFrom: true, Request: task},
		{Name: "note", Record: 0, Field: "Amount__c", From: []string{"1"},
			Request: `{"platform_event":{"fields":{"Note__c":"n"},"object":"Note__e"}}`},
	}, effects)
}

// An effect that the value can't cause is not filled in, and one that can must
// have what it sends.
func TestEffectsOfOtherValues(t *testing.T) {
	t.Parallel()
	effects, problems := effectsOf(t, `{"id":"ch_1","status":"open"}`)
	assert.Empty(t, effects)
	assert.Empty(t, problems)
	_, problems = effectsOf(t, `{"id":"ch_1","status":"open","amount":1}`)
	require.Len(t, problems, 1)
	assert.Equal(t, "Note__e.Note__c from $.note: is required and missing", problems[0].Error())
}

func TestEffectTargetsKeepReferences(t *testing.T) {
	t.Parallel()
	f, err := mapping.Parse("shop.yaml", []byte(effectMapping))
	require.NoError(t, err)
	targets := f.Effects()
	require.Len(t, targets, 3)
	assert.Equal(t, "${URL}", targets[0].URL)
	assert.Equal(t, "${SECRET}", targets[0].Secret)
	assert.Equal(t, [2]string{"Payment__c", "Status__c"}, [2]string{targets[0].On, targets[0].Field}, "spelled as the record spells them")
	assert.Equal(t, mapping.EffectPublished, targets[2].Kind)
	authorities := f.Authorities()
	require.Len(t, authorities, 2)
	assert.Equal(t, mapping.AuthorityUnsigned, f.Routes[1].Authority().When, "a route's own goes before the file's")

	var compiled struct {
		Routes []struct {
			Authority json.RawMessage
			Effects   []json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(f.Canonical(), &compiled))
	assert.JSONEq(t, `{"get":"https://api.example.com/charges/{$.id}","auth":"Bearer ${KEY}","into":"$.object","when":"always"}`, string(compiled.Routes[0].Authority))
	assert.JSONEq(t, `{"name":"receipt","when":{"object":"Payment__c","field":"Status__c","from":["Open",null],"to":["Paid"]},
		"post":{"url":"${URL}","secret":"${SECRET}","body":{"charge":"$.id","text":"fixed","more":["$.none",true,1.10],"who":"header.X-Who","none":"$.none"}}}`,
		string(compiled.Routes[0].Effects[0]))
	assert.JSONEq(t, `{"name":"task","when":{"object":"Payment_Line__c","field":"Qty__c","to":[2]},"salesforce":{"object":"Task__c",
		"key":{"field":"Ext__c","template":"{$.id}:{$.status}"},
		"fields":{"Amount__c":{"first":["$.amount"],"as":"number"},"Payment__r":{"first":["$.id"],"as":"text","lookup":"Payment__c","by":"Key__c","column":"Payment__c"}}}}`,
		string(compiled.Routes[0].Effects[1]))
}

// A value that the mapping never gives is told, not refused.
func TestEffectsThatNeverFire(t *testing.T) {
	t.Parallel()
	f, err := mapping.Parse("shop.yaml", []byte(`
source: shop
provider: stripe
routes:
  - name: charge
    records:
      - object: Payment__c
        key: {field: Key__c, from: $.id}
        fields: {Status__c: {from: $.status, map: {paid: Paid}}}
    effects:
      - {name: receipt, when: {object: Payment__c, field: Status__c, to: [Payd]}, post: {url: "${URL}"}}
`))
	require.NoError(t, err)
	require.Len(t, f.Warnings(), 1)
	assert.Contains(t, f.Warnings()[0].String(), `never gives Status__c the value "Payd"`)
}
