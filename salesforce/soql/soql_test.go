package soql_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/salesforce/soql"
)

var at = time.Date(2026, 11, 30, 9, 9, 10, 123456789, time.FixedZone("", 3600))

func where(t *testing.T, c soql.Cond) string {
	t.Helper()
	text, err := soql.Select("Id").From("X__c").Where(c).Build()
	require.NoError(t, err)
	return strings.TrimPrefix(text, "SELECT Id FROM X__c WHERE ")
}

func ExampleSelect() {
	q := soql.Select("Id", "Customer__r.Email__c").
		From("Inbound_Event__c").
		Where(
			soql.In("Queue__c", []string{"B00", "B01"}),
			soql.Or(soql.Null("Next_Attempt_At__c"), soql.AtMost("Next_Attempt_At__c", at)),
		).
		OrderBy("Source_Timestamp__c", "Id DESC NULLS LAST").
		Limit(200)
	text, err := q.Build()
	fmt.Println(text, err)
	// Output: SELECT Id, Customer__r.Email__c FROM Inbound_Event__c WHERE Queue__c IN ('B00','B01') AND (Next_Attempt_At__c = null OR Next_Attempt_At__c <= 2026-11-30T08:09:10.123Z) ORDER BY Source_Timestamp__c, Id DESC NULLS LAST LIMIT 200 <nil>
}

func TestConditions(t *testing.T) {
	t.Parallel()
	a, b, c := soql.Eq("A", 1), soql.Eq("B", 2), soql.Eq("C", 3)
	for want, cond := range map[string]soql.Cond{
		`A = 'x'`:                               soql.Eq("A", "x"),
		`A = '\\\' OR Name != \''`:              soql.Eq("A", `\' OR Name != '`),
		`A = 'a\nb\rc\td\be\ff'`:                soql.Eq("A", "a\nb\rc\td\be\ff"),
		`A = '名前 🥇 "q" %_'`:                     soql.Eq("A", `名前 🥇 "q" %_`),
		`A = null`:                              soql.Null("A"),
		`A != null`:                             soql.NotNull("A"),
		`A = true`:                              soql.Eq("A", true),
		`A != -5`:                               soql.NotEq("A", int64(-5)),
		`A < 1.10`:                              soql.Less("A", json.Number("1.10")),
		`A > 2026-11-30T08:09:10.123Z`:          soql.Greater("A", at),
		`A >= 2026-11-30`:                       soql.AtLeast("A", soql.Date("2026-11-30")),
		`A LIKE 'a\%b\_c\\d\'%'`:                soql.Prefix("A", `a%b_c\d'`),
		`A.B__r.C__c IN ('x','y\'')`:            soql.In("A.B__r.C__c", []string{"x", "y'"}),
		`A NOT IN ('x')`:                        soql.NotIn("A", []string{"x"}),
		`(NOT (A = 1))`:                         soql.Not(a),
		`(NOT (A = 1 OR B = 2))`:                soql.Not(soql.Or(a, b)),
		`(NOT (NOT (A = 1)))`:                   soql.Not(soql.Not(a)),
		`A = 1 AND (B = 2 OR C = 3)`:            soql.And(a, soql.Or(b, c)),
		`(A = 1 AND B = 2) OR C = 3`:            soql.Or(soql.And(a, b), c),
		`A = 1`:                                 soql.And(soql.Or(a)),
		`B = 2 OR C = 3`:                        soql.And(soql.Cond{}, soql.Or(b, c)),
		`(A = 1 OR B = 2) AND (A = 1 OR C = 3)`: soql.And(soql.Or(a, b), soql.Or(a, c)),
	} {
		assert.Equal(t, want, where(t, cond))
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]*soql.Query{
		"SELECT count() FROM X__c":                                   soql.Select("count()").From("X__c"),
		"SELECT Status__c, COUNT(Id) n FROM X__c":                    soql.Select("Status__c", "COUNT(Id) n").From("X__c"),
		"SELECT Id FROM X__c WHERE A = 1 AND B = 2":                  soql.Select("Id").From("X__c").Where(soql.Eq("A", 1)).Where(soql.Eq("B", 2)),
		"SELECT A, COUNT(Id) n FROM X__c GROUP BY A, B LIMIT 5":      soql.Select("A", "COUNT(Id) n").From("X__c").GroupBy("A", "B").Limit(5),
		"SELECT Id FROM X__c ORDER BY A, B.C DESC LIMIT 5 OFFSET 10": soql.Select("Id").From("X__c").OrderBy("A", "B.C DESC").Limit(5).Offset(10),
	} {
		got, err := q.Build()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	t.Parallel()
	q := func(c soql.Cond) *soql.Query { return soql.Select("Id").From("X__c").Where(c) }
	for name, query := range map[string]*soql.Query{
		"no fields":            soql.Select().From("X__c"),
		"no object":            soql.Select("Id"),
		"field with a blank":   soql.Select("Id FROM Y__c").From("X__c"),
		"field with a comma":   soql.Select("Id,Name").From("X__c"),
		"field with a quote":   soql.Select("Id'").From("X__c"),
		"object with a clause": soql.Select("Id").From("X__c WHERE A = 1"),
		"group by":             soql.Select("Id").From("X__c").GroupBy("A; DROP"),
		"sort field":           soql.Select("Id").From("X__c").OrderBy("A; DROP"),
		"negative limit":       soql.Select("Id").From("X__c").Limit(-1),
		"far offset":           soql.Select("Id").From("X__c").Offset(2001),
		"condition's field":    q(soql.Eq("A = 1 OR B", "x")),
		"list's field":         q(soql.In("A'", []string{"x"})),
		"prefix's field":       q(soql.Prefix("", "x")),
		"empty list":           q(soql.In("A", nil)),
		"empty not-in":         q(soql.NotIn("A", nil)),
		"negated nothing":      q(soql.Not(soql.Cond{})),
		"no UTF-8":             q(soql.Eq("A", "Jos\xe9")),
		"no UTF-8 in a list":   q(soql.In("A", []string{"Jos\xe9"})),
		"NUL":                  q(soql.Eq("A", "a\x00")),
		"number with exponent": q(soql.Eq("A", json.Number("1e5"))),
		"no number":            q(soql.Eq("A", json.Number("1 OR 1"))),
		"empty number":         q(soql.Eq("A", json.Number(""))),
		"no date":              q(soql.Eq("A", soql.Date("2026-13-01"))),
		"far year":             q(soql.Eq("A", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))),
		"float":                q(soql.Eq("A", 1.5)),
		"error in a group":     q(soql.Or(soql.Eq("A", 1), soql.And(soql.Eq("B'", 1)))),
		"error in a negation":  q(soql.Not(soql.Eq("B'", 1))),
	} {
		text, err := query.Build()
		require.Error(t, err, name)
		assert.Empty(t, text)
	}
}

// unquote reads one literal by the rules of the language: after the opening
// quote a backslash takes the next character with it, and the first other quote
// ends the literal.
func unquote(t require.TestingT, literal string) (value, rest string) {
	require.True(t, strings.HasPrefix(literal, "'"))
	var b strings.Builder
	for i := 1; i < len(literal); i++ {
		switch c := literal[i]; c {
		case '\'':
			return b.String(), literal[i+1:]
		case '\\':
			i++
			letters := map[byte]string{'n': "\n", 'r': "\r", 't': "\t", 'b': "\b", 'f': "\f", '\'': "'", '\\': `\`, '"': `"`}
			plain, known := letters[literal[i]]
			require.True(t, known, "escape %q", literal[i])
			b.WriteString(plain)
		default:
			b.WriteByte(c)
		}
	}
	require.Fail(t, "the literal does not end")
	return "", ""
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `\' OR Name != '`, `\`, `'`, `\\'`, "a\nb", "名🥇", `\u0027`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, rest := unquote(t, soql.Quote(value))
		assert.Equal(t, value, got)
		assert.Empty(t, rest, "nothing stands outside of the quotes")
	})
}

func TestChunks(t *testing.T) {
	t.Parallel()
	assert.Empty(t, soql.Chunks(nil, 100, 10))
	assert.Equal(t, [][]string{{"a", "b"}, {"c"}}, soql.Chunks([]string{"a", "b", "c"}, 1000, 2))
	long := strings.Repeat("名", 100)
	assert.Equal(t, [][]string{{"a"}, {long}, {"b"}}, soql.Chunks([]string{"a", long, "b"}, 100, 10), "a long value stands alone")

	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.String()).Draw(t, "values")
		budget := rapid.IntRange(1, 500).Draw(t, "budget")
		most := rapid.IntRange(1, 10).Draw(t, "most")
		var joined []string
		for _, part := range soql.Chunks(values, budget, most) {
			require.NotEmpty(t, part)
			require.LessOrEqual(t, len(part), most)
			size := 0
			for _, v := range part {
				size += len(url.QueryEscape(soql.Quote(v) + ","))
			}
			require.True(t, len(part) == 1 || size <= budget)
			joined = append(joined, part...)
		}
		require.Len(t, joined, len(values))
		for i := range values {
			require.Equal(t, values[i], joined[i])
		}
	})
}

func TestEncodedSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.String().Draw(t, "value")
		require.Equal(t, len(url.QueryEscape(soql.Quote(v)+",")), soql.EncodedSize(v))
	})
}
