package apply_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg/fault"
)

// shopRoutes are the further routes of tests, added to shop.
const shopRoutes = shop + `
  - name: gone
    when: {type: charge.deleted}
    records:
      - object: Payment__c
        action: delete
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
  - name: note
    when: {type: charge.note}
    records:
      - object: Payment__c
        action: update
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        fields: {Note__c: $.note}
  - name: order
    when: {type: order}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        fields: {Note__c: $.note}
      - object: Payment_Line__c
        each: "$.lines[*]"
        key: {field: Line_Key__c, from: "@.id"}
        order: true
        fields:
          Qty__c: {from: "@.qty", as: integer}
          Payment__r: {lookup: Payment__c, by: Stripe_Charge_Id__c, from: $.id}
`

const plain = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: charge
    when: {type: charge.updated}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        fields:
          Note__c: $.note
          Amount__c: {from: $.amount, as: number}
          Paid_At__c: {from: $.paid, as: datetime, format: unix_s}
          Origin__c: {value: Shop, on: create}
          Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.customer}
  - name: gone
    when: {type: charge.deleted}
    records:
      - object: Payment__c
        action: delete
        key: {field: Stripe_Charge_Id__c, from: $.id}
`

func deletion(id, object string, order int64) ev {
	return ev{id: id, kind: "charge.deleted", object: object, order: order, payload: fmt.Sprintf(`{"id":%q}`, object)}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_2", 5, "Pending"))
	b.apply()
	b.stage(deletion("d1", "ch_1", 2), deletion("d2", "ch_2", 4), deletion("d3", "ch_3", 4))
	b.apply()
	assert.Equal(t, "Completed Deleted", b.ended("d1"))
	assert.Equal(t, "Completed Stale", b.ended("d2"), "older than the record")
	assert.Equal(t, "Completed Deleted", b.ended("d3"), "was not there")
	assert.Len(t, b.payments(), 1)

	b.stage(charge("older", "ch_1", 1, "Pending"), charge("equal", "ch_3", 4, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Stale", b.ended("older"))
	assert.Equal(t, "Completed Stale", b.ended("equal"), "delete wins an equal order")
	assert.Contains(t, b.event("older").History, "d1, which deleted the record")

	b.stage(charge("newer", "ch_1", 3, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("newer"))
	assert.Len(t, b.payments(), 2)
}

// Create, delete and create again in one batch end as in three.
func TestDeleteAmongOthersInOneBatch(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(charge("e5", "ch_1", 5, "Pending"), deletion("d4", "ch_1", 4), charge("e3", "ch_1", 3, "Pending"),
		deletion("d8", "ch_2", 8), charge("e7", "ch_2", 7, "Pending"))
	for range 4 {
		b.apply()
	}
	assert.Equal(t, "Completed Created", b.ended("e3"))
	assert.Equal(t, "Completed Deleted", b.ended("d4"))
	assert.Equal(t, "Completed Created", b.ended("e5"))
	assert.Equal(t, "Completed Created", b.ended("e7"))
	assert.Equal(t, "Completed Deleted", b.ended("d8"))
	assert.Equal(t, []string{"ch_1"}, keys(b.payments()))
}

func keys(m map[string]salesforce.Record) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// A delete that another worker decided while the record wasn't there is refused
// when we create it first: the create moves on the row's revision.
func TestCreateMovesLaterRowsOn(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(charge("create", "ch_1", 1, "Pending"))
	batch := b.due()
	b.stage(deletion("delete", "ch_1", 2), charge("before", "ch_1", 0, "Pending"), charge("else", "ch_2", 9, "Pending"))
	before := b.event("delete").Revision
	_, err := b.applier.Apply(b.ctx, batch)
	require.NoError(t, err)
	assert.Equal(t, "Completed Created", b.ended("create"))
	later := b.event("delete")
	assert.Equal(t, event.Received, later.Status)
	assert.Greater(t, later.Revision, before)
	assert.Equal(t, int64(1), b.event("before").Revision, "earlier in its entity")
	assert.Equal(t, int64(1), b.event("else").Revision, "of another entity")
}

func TestUpdateWaitsForItsTarget(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	note := ev{id: "note", kind: "charge.note", object: "ch_1", order: 1, payload: `{"id":"ch_1","note":"hello"}`}
	b.stage(note, charge("e2", "ch_1", 0, "Pending"), ev{id: "n2", kind: "charge.note", object: "ch_2", order: 1, payload: `{"id":"ch_2"}`})
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("e2"))
	assert.Equal(t, "Completed Updated", b.ended("note"), "its target came in the same batch")
	assert.Equal(t, "hello", b.payments()["ch_1"].String("Note__c"))
	assert.Equal(t, "Retryable NO_TARGET", b.ended("n2"))
	assert.Len(t, b.payments(), 1, "an update never inserts")

	b.stage(charge("later", "ch_2", 2, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("later"), "what waits holds nothing back")
}

func TestUnorderedRecords(t *testing.T) {
	t.Parallel()
	b := newBed(t, plain)
	b.stage(ev{id: "cus", kind: "none", payload: `{}`})
	_, err := b.client.Insert(b.ctx, salesforce.Row{Object: "Customer__c", Fields: map[string]any{"Stripe_Customer_Id__c": "cus_1"}})
	require.NoError(t, err)
	full := map[string]any{"amount": 12.5, "paid": 1767587430, "customer": "cus_1"}
	b.stage(charge("e1", "ch_1", 1, "").with(full))
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("e1"))

	same := charge("e2", "ch_1", 2, "").with(full).with(map[string]any{"note": "e1"})
	b.stage(same)
	modified := b.records("Payment__c", "Stripe_Charge_Id__c", "SystemModstamp")["ch_1"].String("SystemModstamp")
	b.apply()
	assert.Equal(t, "Completed Unchanged", b.ended("e2"), "every value equals what was read")
	assert.Equal(t, modified, b.records("Payment__c", "Stripe_Charge_Id__c", "SystemModstamp")["ch_1"].String("SystemModstamp"))

	for id, change := range map[string]map[string]any{
		"amount": {"amount": 12.75}, "paid": {"paid": 1767587431}, "note": {"note": "E1"}, "customer": {"customer": nil},
	} {
		t.Run(id, func(t *testing.T) {
			e := charge("x"+id, "ch_1", 1, "").with(full).with(map[string]any{"note": "e1"}).with(change)
			b.stage(e)
			b.apply()
			assert.Equal(t, "Completed Updated", b.ended("x"+id), "also an older one: nothing tells")
			back := charge("y"+id, "ch_1", 1, "").with(full).with(map[string]any{"note": "e1"})
			b.stage(back)
			b.apply()
			assert.Equal(t, "Completed Updated", b.ended("y"+id))
		})
	}
	b.stage(deletion("d", "ch_1", 0), deletion("d2", "ch_9", 0))
	b.apply()
	assert.Equal(t, "Completed Deleted", b.ended("d"))
	assert.Equal(t, "Completed Deleted", b.ended("d2"))
	assert.Empty(t, b.payments())
}

func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_2", 1, "Pending"), charge("e3", "ch_2", 2, "Succeeded"))
	b.apply()
	replay := func(id string) {
		row := b.event(id)
		_, err := b.client.Update(b.ctx, salesforce.Row{Object: event.Object, ID: row.RowID, Fields: map[string]any{
			event.FieldStatus: string(event.Received), event.FieldQueue: row.HomeQueue,
			event.FieldExpectedRevision: row.Revision, event.FieldRevision: row.Revision + 1,
		}})
		require.NoError(t, err)
	}
	replay("e1")
	replay("e2")
	b.apply()
	assert.Equal(t, "Completed Unchanged", b.ended("e1"), "finds itself under the same mapping")
	assert.Equal(t, "Completed Stale", b.ended("e2"), "can't overwrite newer data")

	b.maps(strings.Replace(shop, "Note__c: $.note", "Note__c: {value: again}", 1))
	replay("e1")
	b.apply()
	assert.Equal(t, "Completed Updated", b.ended("e1"), "another mapping version")
	assert.Equal(t, "again", b.payments()["ch_1"].String("Note__c"))
	assert.Equal(t, b.files["shop"].Version(), b.event("e1").MappingVersion)
}

func order(id, object string, n int64, lines int, note string) ev {
	var list []string
	for i := range lines {
		list = append(list, fmt.Sprintf(`{"id":"%s/%d","qty":%d}`, object, i, n))
	}
	return ev{id: id, kind: "order", object: object, order: n,
		payload: fmt.Sprintf(`{"id":%q,"note":%q,"lines":[%s]}`, object, note, strings.Join(list, ","))}
}

func (b *bed) lines() map[string]salesforce.Record {
	b.t.Helper()
	return b.records("Payment_Line__c", "Line_Key__c", "Qty__c", "Payment__c", "Source_Event__c")
}

func TestRecordsOfElements(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	var events []ev
	for i := range 40 {
		events = append(events, order(fmt.Sprintf("o%d", i), fmt.Sprintf("ch_%d", i), 1, 8, "x"))
	}
	b.stage(events...)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 40}, b.tally())
	lines := b.lines()
	assert.Len(t, lines, 320)
	for _, l := range lines {
		assert.NotEmpty(t, l.String("Payment__c"))
	}
}

// A record with an order of its own is left out alone when it is older; the
// event's other records are written.
func TestOlderSecondaryRecordIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(order("first", "ch_1", 5, 2, "first"))
	b.apply()
	other := order("second", "ch_2", 3, 0, "second")
	other.payload = `{"id":"ch_2","note":"second","lines":[{"id":"ch_1/0","qty":99},{"id":"ch_2/0","qty":3}]}`
	b.stage(other)
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("second"))
	assert.Contains(t, b.event("second").History, "Payment_Line__c:ch_1/0 left out: older than shop:first")
	qty, _ := b.lines()["ch_1/0"].Int("Qty__c")
	assert.Equal(t, int64(5), qty)
	assert.Contains(t, b.lines(), "ch_2/0")
}

// An event that one composite can't hold goes as a graph, and one that no
// transaction can hold to Review.
func TestLargeEvents(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(order("huge", "ch_1", 1, 900, "x"), order("more", "ch_2", 1, 3, "x"), order("after", "ch_1", 2, 1, "x"))
	b.apply()
	assert.Equal(t, "Review TOO_LARGE", b.ended("huge"))
	assert.Equal(t, "Completed Created", b.ended("more"))
	assert.Equal(t, "Completed Created", b.ended("after"), "Review holds nothing back")
}

const wide = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: wide
    when: {type: wide}
    records:
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, from: $.id}
        order: true
        fields: {Email__c: $.email}
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        fields: {Note__c: $.note, Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.id}}
      - object: Payment_Line__c
        each: "$.lines[*]"
        key: {field: Line_Key__c, from: "@"}
        fields: {Payment__r: {lookup: Payment__c, by: Stripe_Charge_Id__c, from: $.id}}
      - object: W1__c
        each: "$.lines[*]"
        key: {field: Key__c, from: "@"}
        fields: {Note__c: $.note}
      - object: W2__c
        each: "$.lines[*]"
        key: {field: Key__c, from: "@"}
        fields: {Note__c: $.note}
      - object: W3__c
        each: "$.lines[*]"
        key: {field: Key__c, from: "@"}
        fields: {Note__c: $.note}
      - object: W4__c
        each: "$.lines[*]"
        key: {field: Key__c, from: "@"}
        fields: {Note__c: $.note}
`

// object is the SFDX source of an object with a key and a note.
func object(name string, caseSensitive bool) map[string]string {
	dir := "objects/" + name + "/"
	return map[string]string{
		dir + name + ".object-meta.xml": `<?xml version="1.0" encoding="UTF-8"?>
<CustomObject xmlns="http://soap.sforce.com/2006/04/metadata"><deploymentStatus>Deployed</deploymentStatus><label>` + name + `</label>
<pluralLabel>` + name + `</pluralLabel><nameField><displayFormat>W-{0000}</displayFormat><label>Number</label><type>AutoNumber</type></nameField>
<sharingModel>ReadWrite</sharingModel></CustomObject>`,
		dir + "fields/Key__c.field-meta.xml": fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>Key__c</fullName><caseSensitive>%t</caseSensitive>
<externalId>true</externalId><label>Key</label><length>255</length><type>Text</type><unique>true</unique></CustomField>`, caseSensitive),
		dir + "fields/Note__c.field-meta.xml": `<?xml version="1.0" encoding="UTF-8"?>
<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>Note__c</fullName><label>Note</label><length>255</length>
<type>Text</type></CustomField>`,
		dir + "fields/Number__c.field-meta.xml": `<?xml version="1.0" encoding="UTF-8"?>
<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>Number__c</fullName><externalId>true</externalId><label>Number</label>
<precision>18</precision><scale>0</scale><type>Number</type><unique>true</unique></CustomField>`,
	}
}

func metadata(objects ...map[string]string) fs.FS {
	files := fstest.MapFS{}
	for _, o := range objects {
		for name, text := range o {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return files
}

func withObjects(objects ...map[string]string) func(*bedConfig) {
	return func(c *bedConfig) { c.org.Metadata = append(c.org.Metadata, metadata(objects...)) }
}

func wideEvent(id, object string, n int64, lines int) ev {
	var list []string
	for i := range lines {
		list = append(list, fmt.Sprintf("%q", fmt.Sprint(object, "/", i)))
	}
	return ev{id: id, kind: "wide", object: object, order: n,
		payload: fmt.Sprintf(`{"id":%q,"email":"a@example.com","note":%q,"lines":[%s]}`, object, id, strings.Join(list, ","))}
}

// An event whose route needs more than five collections goes as a graph.
func TestWideEventsGoAsGraphs(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	b.stage(wideEvent("w1", "a", 1, 30), wideEvent("w2", "b", 1, 30), wideEvent("w3", "a", 2, 30), wideEvent("small", "c", 1, 1))
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 3, "Completed Updated": 1}, b.tally())
	assert.Len(t, b.records("W2__c", "Key__c"), 61)
	assert.Equal(t, "w3", b.payments()["a"].String("Note__c"))
	assert.Equal(t, b.payments()["a"].String("Customer__c"), b.event("w1").TargetID)
	assert.Positive(t, b.org.Stats().APICalls.ByOperation[string(fault.Composite)])
}

// In a graph a bad row fails its entity alone.
func TestBadRowInAGraph(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	bad := wideEvent("bad", "a", 1, 30)
	bad.payload = strings.Replace(bad.payload, "a@example.com", "no address", 1)
	b.stage(bad, wideEvent("good", "b", 1, 30), wideEvent("next", "a", 2, 30))
	b.apply()
	assert.Equal(t, "Review INVALID_EMAIL_ADDRESS", b.ended("bad"))
	assert.Equal(t, "Completed Created", b.ended("good"))
	assert.Equal(t, "Completed Created", b.ended("next"))
}

func TestGraphsAfterALostReply(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.DropBefore, fault.DropAfter, fault.Truncated} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newWideBed(t)
			b.stage(wideEvent("w1", "a", 1, 30), wideEvent("w2", "b", 1, 30), wideEvent("w3", "a", 2, 30))
			batch := b.due()
			b.plant(fault.Fault{Operation: fault.Composite, Kind: kind, After: 2})
			_, err := b.applier.Apply(b.ctx, batch)
			require.NoError(t, err)
			assert.Equal(t, map[string]int{"Completed Created": 2, "Completed Updated": 1}, b.tally())
		})
	}
}

const folded = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: w
    when: {type: w}
    records:
      - object: W1__c
        key: {field: Key__c, from: $.id}
        fields: {Note__c: $.note}
  - name: n
    when: {type: n}
    records:
      - object: W1__c
        key: {field: Number__c, from: $.id}
        fields: {Note__c: $.note}
`

// Keys are one when the field takes them for one.
func TestKeysFoldAsTheFieldCompares(t *testing.T) {
	t.Parallel()
	w := func(id, key string) ev {
		return ev{id: id, kind: "w", object: key, payload: fmt.Sprintf(`{"id":%q,"note":%q}`, key, id)}
	}
	b := newBed(t, folded, withObjects(object("W1__c", false)))
	b.stage(w("e1", "Abc"), w("e2", "aBC"), w("e3", "other"))
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 2, "Completed Updated": 1}, b.tally())
	assert.Len(t, b.records("W1__c", "Key__c"), 2)

	exact := newBed(t, folded, withObjects(object("W1__c", true)))
	exact.stage(w("e1", "Abc"), w("e2", "aBC"))
	exact.apply()
	assert.Equal(t, map[string]int{"Completed Created": 2}, exact.tally())
	assert.Len(t, exact.records("W1__c", "Key__c"), 2)
}

func TestNumberKeys(t *testing.T) {
	t.Parallel()
	b := newBed(t, folded, withObjects(object("W1__c", true)))
	n := func(id string, note string) ev {
		return ev{id: id, kind: "n", object: "7", payload: fmt.Sprintf(`{"id":7,"note":%q}`, note)}
	}
	b.stage(n("e1", "a"))
	b.apply()
	b.stage(n("e2", "b"), ev{id: "text", kind: "n", payload: `{"id":"seven"}`})
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 1, "Completed Updated": 1, "Review JSON_PARSER_ERROR": 1}, b.tally())
}

// A key that several records share is a person's matter.
func TestSeveralRecordsShareTheKey(t *testing.T) {
	t.Parallel()
	shared := object("W1__c", true)
	shared["objects/W1__c/fields/Key__c.field-meta.xml"] = strings.Replace(
		shared["objects/W1__c/fields/Key__c.field-meta.xml"], "<unique>true</unique>", "<unique>false</unique>", 1)
	b := newBed(t, folded, withObjects(shared))
	for _, key := range []string{"two", "two", "Other"} {
		_, err := b.client.Insert(b.ctx, salesforce.Row{Object: "W1__c", Fields: map[string]any{"Key__c": key}})
		require.NoError(t, err)
	}
	w := func(id, key string) ev {
		return ev{id: id, kind: "w", object: key, payload: fmt.Sprintf(`{"id":%q,"note":%q}`, key, id)}
	}
	b.stage(w("e1", "two"), w("e2", "one"), w("e3", "other"))
	b.apply()
	assert.Equal(t, "Review AMBIGUOUS", b.ended("e1"))
	assert.Equal(t, "Completed Created", b.ended("e2"))
	assert.Equal(t, "Completed Created", b.ended("e3"), "searched in any case, matched exactly")
}

// A queue's row that another transaction holds costs nothing and is tried again.
func TestQueueRowHeld(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charges(3)...)
	b.plant(fault.Fault{Operation: fault.Row, Object: event.QueueObject, Kind: fault.LockRow, Times: 2},
		fault.Fault{Operation: fault.Composite, Object: event.QueueObject, Kind: fault.LockRow, Times: 2})
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 3}, b.tally())
	queues := b.records(event.QueueObject, event.QueueFieldName, event.QueueFieldTouched)
	assert.NotEmpty(t, queues)
}

// A race for a new key ends as an update of what the other has made.
func TestRaceForANewKey(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charges(3)...)
	b.plant(fault.Fault{Operation: fault.CollectionsUpsert, Object: "Payment__c", Key: "ch_001", Kind: fault.DuplicateRace})
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 3}, b.tally())
}

func TestManyTransactionsOfOneCall(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	var events []ev
	for i := range apply.MaxBatch {
		events = append(events, charge(fmt.Sprintf("e%03d", i), fmt.Sprintf("ch_%d", i%5), int64(i+1), "Pending"))
	}
	b.stage(events...)
	for range 10 {
		b.now = b.now.Add(time.Second)
		b.apply()
	}
	assert.Equal(t, map[string]int{"Completed Created": 5, "Completed Updated": 195}, b.tally())
	for i := range 5 {
		assert.Equal(t, fmt.Sprintf("shop:e%03d", 195+i), b.payments()[fmt.Sprintf("ch_%d", i)].String("Source_Event__c"))
	}
}
