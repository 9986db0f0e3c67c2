package soql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

// orders is a world with four orders, a to d, in shops that have a head.
func orders(t testing.TB) *world {
	w := newWorld(t)
	head := w.insert("Shop__c", set{"Name": "Head", "Code__c": "H", "Town__c": "Köln"})
	shop := w.insert("Shop__c", set{"Name": "Shop", "Code__c": "S", "Town__c": "Bonn", "Head__c": head})
	w.insert("Order__c", set{"Name": "a", "Key__c": "k1", "Queue__c": "B00", "Sum__c": dec("1.50"), "Open__c": true,
		"Due__c": at("2026-11-30T00:00:00Z"), "At__c": at("2026-11-30T08:00:00Z"), "State__c": "New", "Shop__c": shop, "Tags__c": "A"})
	w.insert("Order__c", set{"Name": "b", "Key__c": "K1", "Queue__c": "b00", "Sum__c": dec("2"), "At__c": at("2026-11-29T23:59:59Z"), "State__c": "Paid", "Shop__c": head})
	w.insert("Order__c", set{"Name": "c", "Key__c": "it's 100%_\\", "Queue__c": "B01", "Sum__c": dec("-3"), "Due__c": at("2026-11-01T00:00:00Z"), "Text__c": "long"})
	w.insert("Order__c", set{"Name": "d"})
	return w
}

func TestWhere(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"Name = 'A'":                 "a",
		"Name = null":                "",
		"Key__c = 'k1'":              "a", // unique and case sensitive
		"Key__c = 'K1'":              "b",
		"Key__c IN ('k1','K1','zz')": "a b",
		"Queue__c = 'B00'":           "a b", // an external ID that is not unique: no case
		"Queue__c = null":            "d",
		"Queue__c = ''":              "d",
		"Queue__c != 'b00'":          "c d", // nulls are unequal
		"Queue__c <> null":           "a b c",
		"Queue__c NOT IN ('B00')":    "c d",
		"Queue__c IN ('B01', null)":  "c d",
		"Name > 'B'":                 "c d",
		"Name <= 'B'":                "a b",
		"Queue__c < 'B01'":           "a b",
		`Key__c = 'it\'s 100%_\\'`:   "c",
		`Key__c = '\u006b1'`:         "a",
		`Key__c LIKE 'it%'`:          "c",
		`Key__c LIKE '%100\%\_\\'`:   "c",
		`Key__c LIKE '%\%%'`:         "c",
		`Key__c LIKE 'k_'`:           "a",
		`Name LIKE 'A%'`:             "a",
		`Name LIKE '_'`:              "a b c d",
		`Name LIKE ''`:               "",
		`Queue__c LIKE null`:         "d",
		`Key__c LIKE '%i%t%'`:        "c",
		"Shop__r.Town__c LIKE 'KÖ%'": "b",
		"NOT Name LIKE 'A%'":         "b c d",

		"Sum__c = 1.5": "a", "Sum__c != 2": "a c d", "Sum__c > -3": "a b", "Sum__c >= -3.00": "a b c", "Sum__c < 0": "c", "Sum__c <= 2e0": "a b c",
		"Sum__c IN (2, 1.50)": "a b", "Sum__c = null": "d", "Sum__c < null": "", "Sum__c = +2": "b",
		"Open__c = true": "a", "Open__c = FALSE": "b c d", "Open__c != true": "b c d", "Open__c = null": "",
		"State__c = 'paid'": "b", "State__c IN ('New','Paid')": "a b", "Tags__c = 'A'": "a",

		"Due__c = 2026-11-30": "a", "Due__c < 2026-11-30": "c", "Due__c = TODAY": "a", "Due__c = LAST_N_DAYS:29": "a c", "Due__c = LAST_N_DAYS:28": "a",
		"Due__c = THIS_MONTH": "a c", "Due__c < TODAY": "c", "Due__c >= today": "a", "Due__c > YESTERDAY": "a", "Due__c <= TODAY": "a c", "Due__c = NEXT_N_DAYS:5": "",
		"Due__c = LAST_MONTH": "", "Due__c = THIS_YEAR": "a c", "Due__c = THIS_WEEK": "a", "Due__c = LAST_WEEK": "", "Due__c != null": "a c",
		"At__c = 2026-11-30T08:00:00Z": "a", "At__c = 2026-11-30T09:00:00+01:00": "a", "At__c = 2026-11-30T09:00:00.000+0100": "a",
		"At__c < 2026-11-30T08:00:00Z": "b", "At__c <= 2026-11-30T08:00:00Z": "a b", "At__c > 2026-11-30T00:59:59+01:00": "a", "At__c = YESTERDAY": "b",
		"At__c >= TODAY": "a", "At__c <= YESTERDAY": "b", "At__c > YESTERDAY": "a", "At__c = null": "c d", "At__c IN (2026-11-30T08:00:00Z, TODAY)": "a",

		"Shop__r.Name = 'shop'": "a", "Shop__r.Head__r.Code__c = 'h'": "a", "shop__R.HEAD__r.Name != null": "a", "Shop__r.Name = null": "c d",
		"Shop__r.Head__r.Head__r.Head__r.Head__r.Name = null": "a b c d", "Shop__r.Name != 'Shop'": "b c d",

		"Name = 'a' OR Name = 'b'": "a b", "(Name = 'a' OR Name = 'b') AND Sum__c = 2": "b", "NOT (Name = 'a' OR Name = 'b')": "c d",
		"NOT(NOT(Name = 'a'))": "a", "Name != 'a' AND Name != 'b' AND Name != 'c'": "d", "Order__c.Name = 'a'": "a",
		"Key__c = 'k1' OR Key__c = 'K1' OR Queue__c = 'B00'": "a b", "(Key__c = 'k1')": "a", "IsDeleted = false": "a b c d",
	} {
		w := orders(t)
		assert.Equal(t, want, strings.Join(w.names(t, "SELECT Id FROM Order__c WHERE "+where+" ORDER BY Name"), " "), where)
	}
}

func TestIDsOfBothLengths(t *testing.T) {
	t.Parallel()
	w := orders(t)
	id := w.run(t, "SELECT Id FROM Order__c WHERE Name = 'b'").Records[0].Row.ID()
	for _, given := range []string{id, id[:15]} {
		assert.Equal(t, []string{"b"}, w.names(t, "SELECT Id FROM Order__c WHERE Id = '"+given+"'"))
	}
	assert.Equal(t, []string{"c", "d"}, w.names(t, "SELECT Id FROM Order__c WHERE Id > '"+id[:15]+"'"))
	shop := w.run(t, "SELECT Id FROM Shop__c WHERE Name = 'Shop'").Records[0].Row.ID()
	assert.Equal(t, []string{"a"}, w.names(t, "SELECT Id FROM Order__c WHERE Shop__c = '"+shop[:15]+"'"))
	assert.Equal(t, []string{"b", "c", "d"}, w.names(t, "SELECT Id FROM Order__c WHERE Shop__c != '"+shop+"'"))
}

func TestOrderLimitOffset(t *testing.T) {
	t.Parallel()
	for tail, want := range map[string]string{
		"ORDER BY Name DESC":                     "d c b a",
		"ORDER BY Sum__c":                        "d c a b", // nulls first
		"ORDER BY Sum__c ASC NULLS LAST":         "c a b d",
		"ORDER BY Sum__c DESC":                   "b a c d", // nulls last
		"ORDER BY Sum__c DESC NULLS FIRST":       "d b a c",
		"ORDER BY Queue__c, Sum__c DESC":         "d b a c", // without regard to case
		"ORDER BY Open__c DESC, Name":            "a b c d",
		"ORDER BY At__c DESC NULLS LAST, Name":   "a b c d",
		"ORDER BY Shop__r.Name NULLS LAST, Name": "b a c d",
		"ORDER BY Key__c":                        "d b c a", // by bytes: the field is case sensitive
		"ORDER BY Name LIMIT 2":                  "a b",
		"ORDER BY Name DESC LIMIT 2":             "d c",
		"ORDER BY Name LIMIT 2 OFFSET 1":         "b c",
		"ORDER BY Name LIMIT 0":                  "",
		"ORDER BY Name LIMIT 10 OFFSET 3":        "d",
		"ORDER BY Name OFFSET 9":                 "",
		"LIMIT 3":                                "a b c",
		"LIMIT 2 OFFSET 1":                       "b c",
		"order by Name asc nulls last limit 1":   "a",
	} {
		w := orders(t)
		got := w.names(t, "SELECT Id FROM Order__c "+tail)
		assert.Equal(t, want, strings.Join(got, " "), tail)
	}
}

func TestReadingStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	w := orders(t)
	w.run(t, "SELECT Id FROM Order__c LIMIT 1")
	assert.Equal(t, 1, w.read)
}

func TestTotals(t *testing.T) {
	t.Parallel()
	w := orders(t)
	for query, want := range map[string]int{
		"SELECT COUNT() FROM Order__c":                            4,
		"select count() from order__c where Sum__c > 0":           2,
		"SELECT COUNT() FROM Order__c WHERE Name = 'x'":           0,
		"SELECT COUNT() FROM Order__c LIMIT 3":                    3,
		"SELECT Id FROM Order__c LIMIT 3":                         3,
		"SELECT Id FROM Order__c WHERE Queue__c = 'B00' OFFSET 1": 1,
	} {
		assert.Equal(t, want, w.run(t, query).Total, query)
	}
	r := w.run(t, "SELECT COUNT() FROM Order__c")
	assert.Empty(t, r.Records)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	w := orders(t)
	q, err := w.compile("SELECT o.key__C, Shop__r.Name, Id, shop__r.Head__r.Town__c, Owner.Username FROM Order__c o ORDER BY Name")
	require.NoError(t, err)
	var show func(*soql.Selection) string
	show = func(s *soql.Selection) string {
		var parts []string
		for _, item := range s.Items {
			if item.Parent != nil {
				parts = append(parts, item.Name+"{"+show(item.Parent)+"}")
				continue
			}
			parts = append(parts, item.Name)
		}
		return strings.Join(parts, " ")
	}
	assert.Equal(t, "Key__c Shop__r{Name Head__r{Town__c}} Id Owner{Username}", show(q.Select))

	r, err := q.Run(context.Background(), w)
	require.NoError(t, err)
	shop := r.Records[0].Parents[q.Select.Items[1].Slot]
	assert.Equal(t, "Shop__c", shop.Object.Name)
	assert.Equal(t, "Shop", shop.Row[2])
	assert.Equal(t, "Köln", shop.Parents[0].Row[shop.Object.Field("Town__c").Slot])
	assert.Nil(t, r.Records[3].Parents[0].Row, "no shop")
	assert.Nil(t, r.Records[1].Parents[0].Parents[0].Row, "the shop has no head")
}

func TestFieldsFunction(t *testing.T) {
	t.Parallel()
	w := orders(t)
	all, err := w.compile("SELECT FIELDS(ALL) FROM Order__c LIMIT 200")
	require.NoError(t, err)
	assert.Len(t, all.Select.Items, len(w.schema.Object("Order__c").Fields))
	standard, err := w.compile("SELECT FIELDS(STANDARD) FROM Order__c")
	require.NoError(t, err)
	custom, err := w.compile("SELECT Id, FIELDS(CUSTOM) FROM Order__c LIMIT 5")
	require.NoError(t, err)
	assert.Equal(t, len(all.Select.Items), len(standard.Select.Items)+len(custom.Select.Items)-1)
}

func TestAggregates(t *testing.T) {
	t.Parallel()
	w := orders(t)
	for query, want := range map[string]string{
		"SELECT COUNT(Id) FROM Order__c": "expr0 | 4",
		"SELECT COUNT(Sum__c) n, SUM(Sum__c), AVG(Sum__c) a, MIN(Sum__c), MAX(At__c) FROM Order__c":       "n expr0 a expr1 expr2 | 3 0.5 0.166666666666666667 -3 2026-11-30 08:00:00 +0000 UTC",
		"SELECT COUNT(Id) c, SUM(Sum__c) s FROM Order__c WHERE Name = 'x'":                                "c s | 0 <nil>",
		"SELECT Queue__c, COUNT(Id) n FROM Order__c GROUP BY Queue__c ORDER BY Queue__c":                  "Queue__c n | <nil> 1 | B00 2 | B01 1",
		"SELECT Queue__c q, COUNT() n FROM Order__c GROUP BY Queue__c ORDER BY COUNT() DESC LIMIT 1":      "",
		"SELECT Queue__c, COUNT(Id) n FROM Order__c GROUP BY Queue__c ORDER BY COUNT(Id) DESC LIMIT 1":    "Queue__c n | B00 2",
		"SELECT Queue__c, COUNT(Id) n FROM Order__c GROUP BY Queue__c ORDER BY n DESC, Queue__c OFFSET 1": "Queue__c n | <nil> 1 | B01 1",
		"SELECT COUNT_DISTINCT(Queue__c) FROM Order__c":                                                   "expr0 | 2",
		"SELECT COUNT_DISTINCT(Key__c) FROM Order__c":                                                     "expr0 | 3",
		"SELECT Shop__r.Name, COUNT(Id) FROM Order__c GROUP BY Shop__r.Name ORDER BY Shop__r.Name DESC":   "Name expr0 | Shop 1 | Head 1 | <nil> 2",
		"SELECT Open__c, State__c FROM Order__c GROUP BY Open__c, State__c ORDER BY Open__c, State__c":    "Open__c State__c | false <nil> | false Paid | true New",
		"SELECT MAX(Name) FROM Order__c GROUP BY Open__c ORDER BY MAX(Name)":                              "expr0 | a | d",
	} {
		if want == "" {
			_, err := w.compile(query)
			assert.Error(t, err, "an alias is for functions alone")
			continue
		}
		q, err := w.compile(query)
		require.NoError(t, err, query)
		r, err := q.Run(context.Background(), w)
		require.NoError(t, err)
		var head []string
		for _, c := range q.Columns {
			head = append(head, c.Name)
		}
		got := []string{strings.Join(head, " ")}
		for _, row := range r.Aggregates {
			got = append(got, strings.Trim(fmt.Sprint(row), "[]"))
		}
		assert.Equal(t, want, strings.Join(got, " | "), query)
		assert.Equal(t, len(r.Aggregates), r.Total)
	}
}

func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	id := schema.NewID("a00", 1)
	for where, want := range map[string][2]int{ // lookups, rows read at most
		"Id = '" + id + "'":                                    {1, 1},
		"Key__c IN ('k1', 'K1', 'k1')":                         {1, 2},
		"Queue__c IN ('B00','B02') AND Sum__c > 0":             {1, 2},
		"Queue__c = 'B00' AND Key__c IN ('k1','x','y')":        {1, 1}, // the unique field wins
		"Queue__c IN ('B00','B01') AND Shop__c = '" + id + "'": {1, 0}, // the fewer values win
		"Key__c = 'k1' OR Queue__c = 'B00'":                    {2, 3},
		"Sum__c > 0 AND (Key__c = 'k1' OR Queue__c = 'B01')":   {2, 2},
		"Queue__c = 'b00' AND (Sum__c = 1 OR Name = 'a')":      {1, 2},
		"Sum__c = 1":                     {0, 4},
		"Queue__c != 'B00'":              {0, 4},
		"Queue__c NOT IN ('B00')":        {0, 4},
		"NOT (Queue__c = 'B00')":         {0, 4},
		"Queue__c = null":                {0, 4},
		"Queue__c IN ('B00', null)":      {0, 4},
		"Queue__c = 'B00' OR Sum__c = 1": {0, 4},
		"Shop__r.Code__c = 'S'":          {0, 4},
		"Queue__c LIKE 'B%'":             {0, 4},
	} {
		w := orders(t)
		w.run(t, "SELECT Id FROM Order__c WHERE "+where)
		assert.Equal(t, want[0], w.lookups, where)
		assert.Equal(t, want[0] == 0, w.scans == 1, where)
		assert.LessOrEqual(t, w.read, want[1], where)
	}
}

func TestARowThatTwoIndexesFindIsOneRow(t *testing.T) {
	t.Parallel()
	w := orders(t)
	assert.Equal(t, []string{"a", "b"}, w.names(t, "SELECT Id FROM Order__c WHERE Key__c = 'k1' OR Queue__c = 'B00' ORDER BY Name"))
	assert.Equal(t, []string{"a"}, w.names(t, "SELECT Id FROM Order__c WHERE Key__c = 'k1' OR Queue__c = 'B00' LIMIT 1"))
	assert.Equal(t, 1, w.read-3, "the second index isn't read once the limit is reached")
}

func TestRunHeedsTheContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 10_000 {
		w.insert("Order__c", nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	q, err := w.compile("SELECT Id FROM Order__c")
	require.NoError(t, err)
	_, err = q.Run(ctx, w)
	require.NoError(t, err)
	cancel()
	w.read = 0
	_, err = q.Run(ctx, w)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, w.read)
}
