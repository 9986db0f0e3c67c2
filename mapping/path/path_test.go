package path_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := path.DecodeJSON([]byte(s))
	require.NoError(t, err)
	return v
}

func parse(t *testing.T, text string) path.Path {
	t.Helper()
	p, err := path.Parse(text)
	require.NoError(t, err)
	return p
}

// world is a scope in which each root has something to find.
func world(t *testing.T) path.Scope {
	t.Helper()
	return path.Scope{
		Event: decode(t, `{"id":"e1","n":null,"a-b":1,"a b":2,"1st":3,"größe":4,"$x":5,"it's":6,"q\"q":7,"a.b":8,
			"":9,"0":10,"big":820982911946154508,"list":[10,20,[30]],"empty":[],"o":{"id":"inner","NO":true}}`),
		Element: decode(t, `{"sku":"S1"}`),
		Outer: path.Delivery{
			Body:   decode(t, `{"account":"acct_1","gone":null}`),
			Header: map[string][]string{"X-Topic": {"orders/paid"}, "X-Many": {"a", "b"}, "X-Empty": {""}},
		},
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	num := func(s string) any { return json.Number(s) }
	for text, want := range map[string]any{
		"$.id":             "e1",
		"$['id']":          "e1",
		`$["id"]`:          "e1",
		"$.o.id":           "inner",
		"$.o.NO":           true,
		"$['a-b']":         num("1"),
		"$['a b']":         num("2"),
		"$['1st']":         num("3"),
		"$.größe":          num("4"),
		"$['$x']":          num("5"),
		`$['it\'s']`:       num("6"),
		`$['q"q']`:         num("7"),
		"$['a.b']":         num("8"),
		"$['']":            num("9"),
		"$['0']":           num("10"),
		"$.big":            num("820982911946154508"),
		"$.list[0]":        num("10"),
		"$.list[-1][0]":    num("30"),
		"$.list[-3]":       num("10"),
		"@.sku":            "S1",
		"@['sku']":         "S1",
		"$$.account":       "acct_1",
		"$$['account']":    "acct_1",
		"header.X-Topic":   "orders/paid",
		"header.x-topic":   "orders/paid",
		"Header.X-TOPIC":   "orders/paid",
		"header.X-Many":    "a, b",
		"header.X-Empty":   "",
		"$$.gone":          nil,
		"$.n":              nil,
		"$.o":              map[string]any{"id": "inner", "NO": true},
		"$.empty":          []any{},
		"$$":               map[string]any{"account": "acct_1", "gone": nil},
		"@":                map[string]any{"sku": "S1"},
		"$.list[2]":        []any{num("30")},
		"$ .o ['id']":      "inner",
		`$["\u006fther"]`:  absent{},
		"$.missing":        absent{},
		"$.n.id":           absent{},
		"$.id.x":           absent{},
		"$.ID":             absent{},
		"$.list[3]":        absent{},
		"$.list[-4]":       absent{},
		"$.list.id":        absent{},
		"$.o[0]":           absent{},
		"$.empty[0]":       absent{},
		"$.empty[-1]":      absent{},
		"@.id":             absent{},
		"$$.id":            absent{},
		"header.X-Unknown": absent{},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p := parse(t, text)
			got, present := p.Get(world(t))
			if want == (any)(absent{}) {
				assert.False(t, present)
				assert.Nil(t, got)
				return
			}
			assert.True(t, present)
			assert.Equal(t, want, got)
			assert.Equal(t, text, p.String())
		})
	}
}

type absent struct{}

func TestGet_nothing_outside_the_event(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"$$.a", "header.X-Topic", "@.a"} {
		_, present := parse(t, text).Get(path.Scope{Event: map[string]any{"a": "b"}})
		assert.False(t, present, text)
	}
	_, present := path.Path{}.Get(path.Scope{Event: "x"})
	assert.False(t, present)
	assert.True(t, path.Path{}.IsZero())
}

func TestRoots(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		root       path.Root
		contextual bool
		header     string
		key        string
	}{
		"$.a":           {path.RootEvent, false, "", "$.a"},
		"@.a":           {path.RootElement, false, "", "@.a"},
		"$$.a":          {path.RootDelivery, true, "", "$$.a"},
		"$$['a']":       {path.RootDelivery, true, "", "$$['a']"},
		"header.X-Some": {path.RootHeader, true, "x-some", "header.x-some"},
	} {
		p := parse(t, text)
		assert.Equal(t, want.root, p.Root(), text)
		assert.Equal(t, want.contextual, p.Contextual(), text)
		assert.Equal(t, want.header, p.Header(), text)
		assert.Equal(t, want.key, p.ContextKey(), text)
	}
}

func TestParse_says_what_to_write(t *testing.T) {
	t.Parallel()
	for text, fix := range map[string]string{
		"":                          "write a path such as $.data.id",
		"id":                        "write $.id ",
		"data.id":                   "write $.data.id ",
		" $.id":                     "write $.id",
		"$['a'] ":                   "write $['a']",
		"first-name":                "write $.NAME ",
		"{$.id}":                    "write $.id;",
		"shop:{$.id}":               "write it as template",
		"$id":                       "write $.id",
		"$.a-b":                     "write $['a-b']",
		"$.data.a b.c":              "write $.data['a b'].c",
		"@.a-b":                     "write @['a-b']",
		"$$.a-b":                    "write $$['a-b']",
		"$.items.0.id":              "write $.items['0'].id; an element of an array is written [0]",
		"$.a.":                      "write one dot between two names",
		"$.items[*].id":             "for all of them use each or split",
		"$.items[0:2]":              "for all of them use each or split",
		"$.items[0,1]":              "for all of them use each or split",
		"$..id":                     "for all of them use each or split",
		"$.items[?@.a == 1].b":      "for all of them use each or split",
		"$.*":                       "for all of them use each or split",
		"$.a[":                      "write member names and indexes",
		"$.a['b]":                   "write member names and indexes",
		"$[01]":                     "write member names and indexes",
		"header.":                   "write it like header.X-Shopify-Topic",
		"header.X Topic":            "write it like header.X-Shopify-Topic",
		"header.Authorization":      "use another header",
		"header.cookie":             "use another header",
		"Header.STRIPE-SIGNATURE":   "use another header",
		"header.X-Shopify-Hmac-256": "use another header",
		"header.X-Api-Key":          "use another header",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p, err := path.Parse(text)
			var parseErr *path.ParseError
			require.ErrorAs(t, err, &parseErr)
			assert.Contains(t, parseErr.Fix, fix)
			assert.NotEmpty(t, parseErr.What)
			assert.Contains(t, err.Error(), parseErr.What)
			assert.True(t, p.IsZero())
		})
	}
}

func TestParse_headers_that_carry_signatures_are_refused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Proxy-Authorization", "Set-Cookie", "X-Hub-Signature-256", "X-Shopify-Hmac-Sha256",
		"X-Signature", "X_Signature", "webhook-signature", "Paypal-Transmission-Sig", "X-Gitlab-Token", "Plaid-Verification",
		"X-Goog-Channel-Token", "x-zm-signature"} {
		_, err := path.Parse("header." + name)
		assert.Error(t, err, name)
	}
	for _, name := range []string{"X-Shopify-Topic", "X-GitHub-Delivery", "X-GitHub-Event", "webhook-id", "Idempotency-Key", "X-Design"} {
		_, err := path.Parse("header." + name)
		assert.NoError(t, err, name)
	}
}

func TestMemberNamedTwice_last_wins(t *testing.T) {
	t.Parallel()
	v, ok := parse(t, "$.a").Get(path.Scope{Event: decode(t, `{"a":1,"b":2,"a":3}`)})
	assert.True(t, ok)
	assert.Equal(t, json.Number("3"), v)
}
