package cases_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// thing is a source whose events write the fields of one object; several come
// in one delivery.
func thing(source string, fields ...string) string {
	return "source: " + source + `
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, object: $.key, split: "$[*]"}
routes:
  - name: all
    records:
      - object: Thing__c
        key: {field: Ext__c, from: $.key}
        fields:
          ` + strings.Join(fields, "\n          ") + "\n"
}

// sends stages the events of a source, each under an id and key of its own.
func (w world) sends(source string, members ...string) {
	w.Helper()
	events := make([]string, len(members))
	for i, m := range members {
		events[i] = fmt.Sprintf(`{"id":"%s%d","key":"%s%d",%s}`, source, i, source, i, m)
	}
	w.accepted(source, "["+strings.Join(events, ",")+"]")
}

// Digits beyond what a float holds survive in ids, keys, fields and payload.
func TestC01LargeIntegers(t *testing.T) {
	t.Parallel()
	w := serve(t, `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: "order:{$.order.id}:v1", type: $.type}
routes:
  - name: all
    records: [{object: Thing__c, key: {field: Ext__c, from: $.order.id}, fields: {Title__c: {from: $.order.parent, as: text}}}]
`)
	const body = `{"order":{"id":820982911946154508,"parent":9007199254740993}}`
	w.accepted("shop", body)
	row := w.settled()["shop:order:820982911946154508:v1"]
	assert.Equal(t, body, payload(t, row))
	assert.Equal(t, "9007199254740993", w.records("Thing__c", "Ext__c", "Title__c")["820982911946154508"]["Title__c"])
}

// A missing member leaves a field alone, null and "" clear it, zero is a value.
func TestC02NullMissingEmpty(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", `
routes:
  - name: all
    records:
      - object: Thing__c
        key: {field: Ext__c, from: $.key}
        fields: {Short__c: $.phone, Qty__c: {from: $.score, as: number}}
`))
	for i, c := range []struct {
		members string
		outcome string
		phone   any
		score   any
	}{
		{`"phone":"1","score":7`, "Created", "1", 7.0},
		{`"x":1`, "Unchanged", "1", 7.0},
		{`"phone":null,"score":null`, "Updated", nil, nil},
		{`"phone":"2","score":0`, "Updated", "2", 0.0},
		{`"phone":"","score":""`, "Updated", nil, nil},
	} {
		w.accepted("shop", fmt.Sprintf(`{"id":"e%d","key":"k",%s}`, i, c.members))
		w.completed(w.settled()[fmt.Sprintf("shop:e%d", i)], c.outcome)
		r := w.records("Thing__c", "Ext__c", "Short__c", "Qty__c")["k"]
		assert.Equal(t, c.phone, r["Short__c"], c.members)
		if c.score == nil {
			assert.Nil(t, r["Qty__c"], c.members)
			continue
		}
		assert.InDelta(t, c.score, number(t, r["Qty__c"]), 0, c.members)
	}
}

// Every spelling of a time is the same instant; what is no time is told by
// field and value.
func TestC04Datetimes(t *testing.T) {
	t.Parallel()
	w := serve(t, thing("zoned", `At__c: {from: $.at, as: datetime}`),
		thing("berlin", `At__c: {from: $.at, as: datetime, format: "2006-01-02 15:04:05", timezone: Europe/Berlin}`))
	zoned := []string{"2026-07-01T12:00:00+0000", "2026-01-05T10:15:30.123456789+05:45", "2024-06-15T14:30:00+05:00"}
	wrong := []string{"2026-07-01 12:00:00", "2026-02-30T00:00:00Z", "0000-00-00 00:00:00", "2017-14-31"}
	members := func(texts []string) []string {
		list := make([]string, len(texts))
		for i, text := range texts {
			list[i] = fmt.Sprintf(`"at":%q`, text)
		}
		return list
	}
	w.sends("zoned", members(append(zoned, wrong...))...)
	w.sends("berlin", members([]string{"2026-07-01 12:00:00", "2026-03-29 02:30:00"})...)
	rows := w.settled()
	found := w.records("Thing__c", "Ext__c", "At__c")
	for i, want := range []string{"2026-07-01T12:00:00.000+0000", "2026-01-05T04:30:30.000+0000", "2024-06-15T09:30:00.000+0000"} {
		assert.Equal(t, want[:19], fmt.Sprint(found[fmt.Sprintf("zoned%d", i)]["At__c"])[:19])
	}
	assert.Equal(t, "2026-07-01T10:00:00", fmt.Sprint(found["berlin0"]["At__c"])[:19])
	for i, text := range wrong {
		w.review(rows[fmt.Sprintf("zoned:zoned%d", i+len(zoned))], "FIELD", "At__c", text)
	}
	w.review(rows["berlin:berlin1"], "FIELD", "At__c", "2026-03-29 02:30:00")
}

// The currency says how many digits an amount has; an unknown one says none.
func TestC06MinorUnits(t *testing.T) {
	t.Parallel()
	w := serve(t, "currencies: {ISK: 2}\n"+thing("shop", `Qty__c: {from: $.amount, as: minor_units, currency: $.currency}`))
	w.sends("shop", `"amount":5000,"currency":"jpy"`, `"amount":5000,"currency":"USD"`, `"amount":5000,"currency":"kwd"`,
		`"amount":5000,"currency":"isk"`, `"amount":5000,"currency":"zzz"`, `"amount":5000`)
	rows := w.settled()
	w.review(rows["shop:shop4"], "FIELD", "zzz")
	w.review(rows["shop:shop5"], "FIELD", "currency")
	found := w.records("Thing__c", "Ext__c", "Qty__c")
	for i, want := range []float64{5000, 50, 5, 50} {
		assert.InDelta(t, want, number(t, found[fmt.Sprintf("shop%d", i)]["Qty__c"]), 0)
	}
}

// One value that no field takes costs its own event and no neighbour's.
func TestC09OneBadValue(t *testing.T) {
	t.Parallel()
	w := serve(t, thing("shop", `Qty__c: {from: $.qty, as: number}`, `Vip__c: {from: $.vip, as: boolean}`), thing("raw", `Qty__c: $.qty`))
	members := []string{`"qty":"1","vip":"true"`, `"qty":"N0100","vip":"false"`, `"qty":2,"vip":"maybe"`}
	falses := []string{`"False"`, `"0"`, `0`, `""`, `null`, `"false"`, `false`}
	for _, v := range falses {
		members = append(members, `"qty":3,"vip":`+v)
	}
	w.sends("shop", members...)
	w.sends("raw", `"qty":1`, `"qty":"N0100"`, `"qty":3`)
	rows := w.settled()
	w.review(rows["shop:shop1"], "FIELD", "Qty__c", "N0100")
	w.review(rows["shop:shop2"], "FIELD", "Vip__c", "maybe")
	found := w.records("Thing__c", "Ext__c", "Vip__c")
	assert.Equal(t, true, found["shop0"]["Vip__c"])
	for i := range falses {
		assert.Equal(t, false, found[fmt.Sprintf("shop%d", i+3)]["Vip__c"], falses[i])
	}
	w.completed(rows["raw:raw0"], "Created")
	assert.Equal(t, "Review", rows["raw:raw1"]["Status__c"], "the org's refusal of a whole call, found by halving it")
	w.completed(rows["raw:raw2"], "Created")
}

// Text is cut by the units that Salesforce counts, never inside a letter; what
// is not to be cut and does not fit is told with field and limit.
func TestC10LongText(t *testing.T) {
	t.Parallel()
	w := serve(t, thing("cut", `Title__c: {from: $.a, max: 255}`, `Short__c: {from: $.b, max: 80}`, `Tiny__c: {from: $.c, max: 3}`), thing("whole", `Title__c: $.a`))
	w.sends("cut", fmt.Sprintf(`"a":%q,"b":%q,"c":"été"`, repeat("x", 254)+"🚀", repeat("A", 78)+"👩‍🚀🚀"))
	w.sends("whole", fmt.Sprintf(`"a":%q`, repeat("x", 255)), fmt.Sprintf(`"a":%q`, repeat("x", 256)))
	rows := w.settled()
	r := w.records("Thing__c", "Ext__c", "Title__c", "Short__c", "Tiny__c")["cut0"]
	assert.Equal(t, repeat("x", 254), r["Title__c"])
	assert.Contains(t, []any{repeat("A", 78), repeat("A", 78) + "👩"}, r["Short__c"])
	assert.Equal(t, "été", r["Tiny__c"])
	w.completed(rows["whole:whole0"], "Created")
	w.review(rows["whole:whole1"], "STRING_TOO_LONG", "Title__c", "255")
}

// Several values of one field are joined, without repeats.
func TestC12MultiPicklists(t *testing.T) {
	t.Parallel()
	w := serve(t, thing("shop", `Tags__c: {from: $.tags, as: multipicklist}`), thing("plain", `Title__c: $.tags`))
	w.sends("shop", `"tags":["red","blue"]`, `"tags":[]`, `"tags":["red","red"]`, `"tags":["a;b"]`, `"tags":"red"`)
	w.sends("plain", `"tags":["red","blue"]`)
	rows := w.settled()
	found := w.records("Thing__c", "Ext__c", "Tags__c")
	assert.ElementsMatch(t, []string{"red", "blue"}, strings.Split(fmt.Sprint(found["shop0"]["Tags__c"]), ";"))
	assert.Nil(t, found["shop1"]["Tags__c"])
	assert.Equal(t, "red", found["shop2"]["Tags__c"])
	w.review(rows["shop:shop3"], "FIELD", "Tags__c")
	assert.Equal(t, "red", found["shop4"]["Tags__c"])
	w.review(rows["plain:plain0"], "FIELD", "Title__c")
}

// One of ten orders comes before its customer: it waits without an attempt, the
// nine are written, and the customer's event ends the wait.
func TestC13ParentArrivesLater(t *testing.T) {
	t.Parallel()
	w := serve(t, `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, object: $.key, split: "$[*]"}
routes:
  - name: customer
    when: {type: customer}
    records: [{object: Customer__c, key: {field: Stripe_Customer_Id__c, from: $.key}, fields: {Email__c: $.email}}]
  - name: order
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.key}
        fields:
          Note__c: $.note
          Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.customer}
`)
	w.accepted("shop", `[{"id":"c1","type":"customer","key":"C-1","email":"a@example.test"}]`)
	w.settled()
	var batch []string
	for i := range 10 {
		customer := "C-1"
		if i == 4 {
			customer = "C-9"
		}
		batch = append(batch, fmt.Sprintf(`{"id":"o%d","key":"p%d","customer":%q}`, i, i, customer))
	}
	w.accepted("shop", "["+strings.Join(batch, ",")+"]")
	w.org.Eventually(t, "the orphan has not been tried", func(context.Context) (bool, error) {
		return w.events()["shop:o4"]["Status__c"] == "Retryable", nil
	})
	w.org.Eventually(t, "nine must be written", func(context.Context) (bool, error) {
		return w.org.Count(t, "SELECT COUNT() FROM Payment__c WHERE Customer__c != null") == 9, nil
	})
	orphan := w.events()["shop:o4"]
	assert.Zero(t, attempts(t, orphan))
	assert.Contains(t, orphan["Error__c"], "C-9")
	w.accepted("shop", `[{"id":"c9","type":"customer","key":"C-9"}]`)
	w.completed(w.settled()["shop:o4"], "Created")

	w.accepted("shop", `[{"id":"n1","key":"p1","note":"kept"},{"id":"n2","key":"p2","customer":null},{"id":"n3","key":"p3","customer":""}]`)
	rows := w.settled()
	for _, id := range []string{"n1", "n2", "n3"} {
		w.completed(rows["shop:"+id], "Updated")
	}
	payments := w.records("Payment__c", "Stripe_Charge_Id__c", "Customer__c")
	assert.NotNil(t, payments["p1"]["Customer__c"], "a missing member leaves the lookup alone")
	assert.Nil(t, payments["p2"]["Customer__c"])
	assert.Nil(t, payments["p3"]["Customer__c"])
}

// A payload longer than the field is kept whole in parts; one that no event can
// hold is refused for good.
func TestC16LongPayloads(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", "limits: {max_body: 8MiB}"+strings.Replace(things, "Title__c: $.title", "Tiny__c: $.end", 1)))
	body := func(id string, size int, fill string) string {
		const frame = `{"id":"","x":"","end":"end"}`
		return fmt.Sprintf(`{"id":%q,"x":%q,"end":"end"}`, id, repeat(fill, (size-len(frame)-len(id))/len(fill)))
	}
	exact, over := body("exact", 131072, "x"), body("over", 131073, "x")
	require.Len(t, exact, 131072)
	require.Len(t, over, 131073)
	w.accepted("shop", exact, over, body("wide", 200_000, "é"), body("chunks", 1<<20, "x"))
	answer := w.send("shop", body("huge", 4<<20, "x"))
	w.status(answer, 413, "too_large")
	rows := w.settled()
	require.Len(t, rows, 4)
	for _, id := range []string{"exact", "over", "wide", "chunks"} {
		w.completed(rows["shop:"+id], "Created")
		assert.Equal(t, "end", w.records("Thing__c", "Ext__c", "Tiny__c")[id]["Tiny__c"], "the end of the payload was read")
	}
	assert.Equal(t, exact, payload(t, rows["shop:exact"]))
	assert.Equal(t, "Plain", rows["shop:wide"]["Payload_Encoding__c"], "characters count, not bytes")
	assert.Equal(t, "Chunked", rows["shop:over"]["Payload_Encoding__c"])
}

// A field that can't be changed after the creation sends its event to a person
// and no neighbour; `on: create` keeps it out of updates.
func TestC18WritableOnCreateOnly(t *testing.T) {
	t.Parallel()
	part := func(source, on string) string {
		return "source: " + source + `
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, split: "$[*]"}
routes:
  - name: thing
    when: {type: thing}
    records: [{object: Thing__c, key: {field: Ext__c, from: $.key}, fields: {Title__c: $.type}}]
  - name: part
    records:
      - object: Part__c
        key: {field: Ext__c, from: $.key}
        fields:
          Note__c: $.note
          Thing__r: {lookup: Thing__c, by: Ext__c, from: $.thing` + on + "}\n"
	}
	w := serve(t, part("always", ""), part("once", ", on: create"))
	w.accepted("always", `[{"id":"t1","type":"thing","key":"T1"},{"id":"t2","type":"thing","key":"T2"}]`)
	w.settled()
	w.accepted("always", `[{"id":"p1","key":"P1","thing":"T1","note":"first"}]`)
	w.accepted("once", `[{"id":"p2","key":"P2","thing":"T1","note":"first"}]`)
	w.settled()
	w.accepted("always", `[{"id":"p1b","key":"P1","thing":"T2","note":"second"},{"id":"p3","key":"P3","thing":"T2","note":"mate"}]`)
	w.accepted("once", `[{"id":"p2b","key":"P2","thing":"T2","note":"second"}]`)
	rows := w.settled()
	w.review(rows["always:p1b"], "INVALID_FIELD_FOR_INSERT_UPDATE", "Thing__")
	assert.Zero(t, attempts(t, rows["always:p1b"]))
	w.completed(rows["always:p3"], "Created")
	w.completed(rows["once:p2b"], "Updated")
	found := w.records("Part__c", "Ext__c", "Note__c")
	assert.Equal(t, "first", found["P1"]["Note__c"])
	assert.Equal(t, "second", found["P2"]["Note__c"])
}

// Markup is text like any other.
func TestC19Markup(t *testing.T) {
	t.Parallel()
	const note = "<b>Tom & Jo</b> &amp; co"
	w := serve(t, thing("shop", `Title__c: $.note`, `Long__c: $.note`))
	w.sends("shop", `"note":"`+note+`"`)
	w.settled()
	r := w.records("Thing__c", "Ext__c", "Title__c", "Long__c")["shop0"]
	assert.Equal(t, note, r["Title__c"])
	assert.Equal(t, note, r["Long__c"])
}
