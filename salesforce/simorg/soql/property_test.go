package soql_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

// condition is a WHERE clause with an own notion of which rows it means.
type condition struct {
	text  string
	means func(values set) bool
}

func inFold(v any, words []string) bool {
	s, ok := v.(string)
	for _, w := range words {
		if ok && strings.EqualFold(s, w) {
			return true
		}
	}
	return false
}

func quoted(words []string) string { return "'" + strings.Join(words, "','") + "'" }

// drawCondition makes a condition up to a depth.
func drawCondition(t *rapid.T, depth int) condition {
	kinds := 5
	if depth > 0 {
		kinds = 8
	}
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"q0", "Q0", "q1", "q2"}), 1, 3).Draw(t, "words")
	n := rapid.IntRange(-2, 2).Draw(t, "n")
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return condition{"Queue__c IN (" + quoted(words) + ")", func(v set) bool { return inFold(v["Queue__c"], words) }}
	case 1:
		return condition{"Queue__c != '" + words[0] + "'", func(v set) bool { return !inFold(v["Queue__c"], words[:1]) }}
	case 2:
		return condition{"Key__c IN (" + quoted(words) + ")", func(v set) bool {
			for _, w := range words {
				if v["Key__c"] == w {
					return true
				}
			}
			return false
		}}
	case 3:
		return condition{fmt.Sprintf("Sum__c >= %d", n), func(v set) bool {
			d, ok := v["Sum__c"].(decimal.Decimal)
			return ok && d.IntPart() >= int64(n)
		}}
	case 4:
		return condition{"Sum__c = null", func(v set) bool { return v["Sum__c"] == nil }}
	case 5:
		c := drawCondition(t, depth-1)
		return condition{"(NOT " + c.text + ")", func(v set) bool { return !c.means(v) }}
	}
	and := rapid.Bool().Draw(t, "and")
	a, b := drawCondition(t, depth-1), drawCondition(t, depth-1)
	if and {
		return condition{"(" + a.text + " AND " + b.text + ")", func(v set) bool { return a.means(v) && b.means(v) }}
	}
	return condition{"(" + a.text + " OR " + b.text + ")", func(v set) bool { return a.means(v) || b.means(v) }}
}

// Whatever the plan, a query gives the rows its text means, in its order, and
// a limited one the first of them.
func TestPlansDontChangeAnswers(t *testing.T) {
	t.Parallel()
	s := testSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &world{schema: s, rows: map[*schema.Object][]schema.Row{}}
		var all []set
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			v := set{"Name": fmt.Sprintf("n%02d", i)}
			if q := rapid.SampledFrom([]string{"", "q0", "Q0", "q1", "Q2"}).Draw(t, "queue"); q != "" {
				v["Queue__c"] = q
			}
			if k := rapid.SampledFrom([]string{"", "q0", "Q0", "q1"}).Draw(t, "key"); k != "" {
				v["Key__c"] = k
			}
			if rapid.Bool().Draw(t, "has sum") {
				v["Sum__c"] = decimal.NewFromInt(int64(rapid.IntRange(-2, 2).Draw(t, "sum")))
			}
			w.insert("Order__c", v)
			all = append(all, v)
		}
		c := drawCondition(t, 3)
		limit := rapid.IntRange(0, 13).Draw(t, "limit")
		var want []string
		sort.SliceStable(all, func(i, j int) bool {
			a, okA := all[i]["Sum__c"].(decimal.Decimal)
			b, okB := all[j]["Sum__c"].(decimal.Decimal)
			return okA && (!okB || a.GreaterThan(b)) // descending, nulls last
		})
		for _, v := range all {
			if c.means(v) {
				want = append(want, v["Name"].(string))
			}
		}
		query := "SELECT Id FROM Order__c WHERE " + c.text + " ORDER BY Sum__c DESC, Name"
		for _, cut := range []int{len(all), limit} {
			q, err := w.compile(fmt.Sprintf("%s LIMIT %d", query, cut))
			require.NoError(t, err)
			r, err := q.Run(context.Background(), w)
			require.NoError(t, err)
			var got []string
			for _, record := range r.Records {
				got = append(got, record.Row[2].(string))
			}
			assert.Equal(t, strings.Join(want[:min(cut, len(want))], " "), strings.Join(got, " "), query)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, q := range []string{
		"SELECT Id, Shop__r.Head__r.Name FROM Order__c WHERE (Key__c IN ('a','b\\'') OR NOT Sum__c >= -1.5e3) AND At__c < 2026-11-30T09:00:00+01:00 ORDER BY Name DESC NULLS LAST, Id LIMIT 10 OFFSET 3",
		"select count() from Order__c where Name like '\\%a_%' and Due__c = LAST_N_DAYS:3",
		"SELECT Queue__c, COUNT(Id) n, MAX(At__c) FROM Order__c o GROUP BY Queue__c ORDER BY COUNT(Id) DESC",
		"SELECT FIELDS(ALL) FROM Order__c LIMIT 200 FOR UPDATE",
		"SELECT Id FROM Order__c WHERE Name = '\\u00e4\\q",
		"SELECT Id FROM Order__c WHERE ((((Id = 'a00000000000001'",
	} {
		f.Add(q)
	}
	w := orders(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := w.compile(text)
		if err != nil {
			var e *soql.Error
			if !assert.ErrorAs(t, err, &e) || e.Code == "" || e.Message == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		r, err := q.Run(context.Background(), orders(t))
		if err != nil {
			t.Fatal(err)
		}
		if r.Total > 4 {
			t.Fatalf("%q finds %d rows of 4", text, r.Total)
		}
	})
}

// bigWorld has rows of which few are due, as a staging object has.
func bigWorld(b *testing.B, rows, due int) *indexed {
	w := &indexed{world: newWorld(b), queues: map[string][]schema.Row{}}
	o := w.schema.Object("Order__c")
	for i := range rows {
		v := set{"Name": fmt.Sprintf("n%d", i), "Key__c": fmt.Sprintf("stripe:evt_%d", i), "Sum__c": decimal.NewFromInt(int64(i * 7919 % 1000))}
		if i < due {
			v["Queue__c"] = fmt.Sprintf("B%02d", i%16)
		}
		w.insert("Order__c", v)
	}
	slot := o.Field("Queue__c").Slot
	for _, row := range w.rows[o] {
		if q, ok := row[slot].(string); ok {
			w.queues[strings.ToLower(q)] = append(w.queues[strings.ToLower(q)], row)
		}
	}
	return w
}

// indexed is a world with a real index on Queue__c.
type indexed struct {
	*world
	queues map[string][]schema.Row
}

func (w *indexed) Lookup(_ *schema.Field, values []any, visit func(schema.Row) bool) {
	for _, v := range values {
		for _, row := range w.queues[v.(string)] {
			if !visit(row) {
				return
			}
		}
	}
}

func benchmarkQuery(b *testing.B, w *indexed, text string) {
	q, err := w.compile(text)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := q.Run(context.Background(), w); err != nil {
			b.Fatal(err)
		}
	}
}

const dueQuery = "SELECT Id, Key__c FROM Order__c WHERE Queue__c IN ('B00','B01','B02','B03','B04','B05','B06','B07') AND (At__c = null OR At__c <= 2026-11-30T08:00:00Z) ORDER BY Sum__c, Id LIMIT 200"

func BenchmarkDueQuery(b *testing.B)   { benchmarkQuery(b, bigWorld(b, 200_000, 2_000), dueQuery) }
func BenchmarkDueBacklog(b *testing.B) { benchmarkQuery(b, bigWorld(b, 200_000, 200_000), dueQuery) }
func BenchmarkScan(b *testing.B) {
	benchmarkQuery(b, bigWorld(b, 200_000, 0), "SELECT COUNT() FROM Order__c WHERE Name = 'N17'")
}
func BenchmarkCompile(b *testing.B) {
	w := newWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.compile(dueQuery); err != nil {
			b.Fatal(err)
		}
	}
}
