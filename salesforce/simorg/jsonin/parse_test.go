package jsonin_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/jsonin"
)

func plain(v jsonin.Value) any {
	switch v.Kind {
	case jsonin.Bool:
		return v.Bool
	case jsonin.Number:
		return json.Number(v.Text)
	case jsonin.String:
		return v.Text
	case jsonin.Array:
		list := []any{}
		for _, item := range v.Items {
			list = append(list, plain(item))
		}
		return list
	case jsonin.Object:
		m := map[string]any{}
		for _, member := range v.Members {
			m[member.Name] = plain(member.Value)
		}
		return m
	}
	return nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	v, err := jsonin.Parse([]byte(" {\"a\":[1,-2.50,1e3],\n \"b\":{\"c\":null,\"d\":true,\"e\":false},\"f\":\"x\\n\\\"\\/\\u00e9\\ud83e\\udd47\",\"f\":\"last\"}"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"a": []any{json.Number("1"), json.Number("-2.50"), json.Number("1e3")},
		"b": map[string]any{"c": nil, "d": true, "e": false},
		"f": "last",
	}, plain(v))
	assert.Equal(t, "x\n\"/é🥇", v.Members[2].Value.Text)
	assert.Equal(t, "last", v.StringAt("f"))
	line, column := jsonin.Position([]byte(" {\n \"b\":1"), 7)
	assert.Equal(t, []int{2, 5}, []int{line, column})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, ` `, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `01`, `1.`, `-`, `1e`, `+1`, `tru`, `nul`,
		`"a`, "\"a\nb\"", `"\x"`, `"\u12"`, `"\ud83d"`, `"\ud83dx"`, "\"\xe9\"", `{"a":1}{"b":2}`, `{"a":1} x`, `'a'`,
		"\"\\n\xe9\"",
	} {
		_, err := jsonin.Parse([]byte(bad))
		var syntax *jsonin.SyntaxError
		require.ErrorAs(t, err, &syntax, bad)
		assert.Contains(t, err.Error(), "at [line:", bad)
	}
	deep := make([]byte, 5000)
	for i := range deep {
		deep[i] = '['
	}
	_, err := jsonin.Parse(deep)
	require.ErrorContains(t, err, "nesting depth")
}

// Whatever the parser takes, encoding/json takes with the same meaning.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"allOrNone":false,"records":[{"attributes":{"type":"Payment__c"},"Stripe_Charge_Id__c":"ch_1","Amount__c":12.50,"Customer__r":{"Stripe_Customer_Id__c":"cus_9"}}]}`,
		`{"compositeRequest":[{"method":"PATCH","url":"/services/data/v65.0/sobjects/X/1","referenceId":"a","body":{"N":"caf\u00e9 \ud83e\udd47"}}]}`,
		`[1,2.5,-0,1E+2,"\\\"",true,false,null]`, `{"a":{"a":{}},"a":[]}`, ` "x" `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonin.Parse(data)
		if err != nil {
			var syntax *jsonin.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		require.True(t, json.Valid(data))
		got, err := json.Marshal(plain(v))
		require.NoError(t, err)
		var want any
		require.NoError(t, json.Unmarshal(got, &want))
	})
}
