package view_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
	"sfbridge/mapping/view"
)

func TestWhatMappingsSee(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payload string
		kind    view.Kind
		want    string
	}{
		"JSON":              {`{"a":[1]}`, view.JSON, `{"a":[1]}`},
		"form":              {"From=%2B4930&Body=Hi+you&Empty=&Tag=a&Tag=b&Tag=c&", view.Form, `{"From":"+4930","Body":"Hi you","Empty":"","Tag":["a","b","c"]}`},
		"form, odd names":   {"a%5Bb%5D=1&c", view.Form, `{"a[b]":"1","c":""}`},
		"text":              {"<a> x &amp; y </a>", view.XML, `{"a":" x & y "}`},
		"empty":             {"<a><b/><c></c></a>", view.XML, `{"a":{"b":"","c":""}}`},
		"null":              {`<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><b xsi:nil="true"/><c nil="true">x</c></a>`, view.XML, `{"a":{"b":null,"c":null}}`},
		"repeated":          {"<a><b>1</b><c/><b>2</b><b>3</b></a>", view.XML, `{"a":{"b":["1","2","3"],"c":""}}`},
		"array of one":      {`<a><b type="array"><c>1</c></b><d type="array"/></a>`, view.XML, `{"a":{"b":["1"],"d":[]}}`},
		"arrays repeated":   {`<a><b type="array"><c>1</c></b><b type="array"/></a>`, view.XML, `{"a":{"b":[["1"],[]]}}`},
		"attributes":        {`<a id="7"><b no="1">x </b></a>`, view.XML, `{"a":{"@id":"7","b":{"@no":"1","#text":"x "}}}`},
		"text and elements": {`<a> x <b>1</b> y</a>`, view.XML, `{"a":{"b":"1","#text":"x  y"}}`},
		"hints":             {`<a><at type="datetime">2026-01-05T04:30:30Z</at></a>`, view.XML, `{"a":{"at":"2026-01-05T04:30:30Z"}}`},
		"names":             {`<s:a xmlns:s="urn:x"><s:b xsi:type="s:Contact"><s:Id>1</s:Id></s:b></s:a>`, view.XML, `{"a":{"b":{"@type":"Contact","Id":"1"}}}`},
		"prolog":            {"\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c --><a>1</a>\n", view.XML, `{"a":"1"}`},
		"marked text":       {"<a><![CDATA[<b>]]></a>", view.XML, `{"a":"<b>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.kind, view.KindOf([]byte(c.payload)))
			tree, err := view.Decode([]byte(c.payload))
			require.NoError(t, err)
			got, err := json.Marshal(tree)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(got))
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200)
	for payload, want := range map[string]error{
		"":         path.ErrEmpty,
		"a=%zz":    view.ErrForm,
		"a=%E9":    path.ErrNotUTF8,
		"<a>":      view.ErrXML,
		"<a></b>":  view.ErrXML,
		"<a/><b/>": view.ErrXML,
		"<a/>x":    view.ErrXML,
		`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`: view.ErrXML,
		"<a>&x;</a>": view.ErrXML,
		`<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`: view.ErrXML,
		deep: view.ErrTooMany,
		"<a>" + strings.Repeat("<b/>", 30000) + "</a>": view.ErrTooMany,
		strings.Repeat("a=1&", 6000):                   view.ErrTooMany,
	} {
		_, err := view.Decode([]byte(payload))
		assert.ErrorIs(t, err, want, "%.60s", payload)
	}
	_, err := view.Decode([]byte("no form"))
	assert.Error(t, err)
}

func TestCut(t *testing.T) {
	t.Parallel()
	cut := func(doc string, names ...string) []string {
		parts, err := view.Cut([]byte(doc), names)
		require.NoError(t, err)
		var list []string
		for _, p := range parts {
			list = append(list, string(p))
		}
		return list
	}
	doc := "<e><h><n>no</n></h><b>\n<n a='1'>one</n> <n/><s:n xmlns:s='x'><n>two</n></s:n><m/></b></e>"
	assert.Equal(t, []string{"<n a='1'>one</n>", "<n/>", "<s:n xmlns:s='x'><n>two</n></s:n>"}, cut(doc, "e", "b", "n"))
	assert.Empty(t, cut(doc, "e", "n"))
	assert.Empty(t, cut(doc, "e", "b", "m", "x"))
	assert.Equal(t, []string{"<n>no</n>"}, cut(doc, "e", "h", "n"))
	for _, broken := range []string{"<e><b><n>", "<e><b><n></b></e>", "<!DOCTYPE e><e/>"} {
		_, err := view.Cut([]byte(broken), []string{"e", "b", "n"})
		assert.ErrorIs(t, err, view.ErrXML, broken)
	}
}

// FuzzDecode: nothing panics, the same bytes give the same tree, what is cut
// stands in the document and is a document itself.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "a=1&a=2&b=%E9", "<a b='1'><c>x</c><c xsi:nil='true'/></a>", "<?xml version='1.0'?><e><b><n/></b></e>", "<a", "%=%"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := view.Decode(data)
		again, errAgain := view.Decode(data)
		assert.Equal(t, first, again)
		assert.Equal(t, err == nil, errAgain == nil)
		parts, err := view.Cut(data, []string{"e", "b", "n"})
		for _, p := range parts {
			assert.Contains(t, string(data), string(p))
			if err == nil {
				_, partErr := view.DecodeXML(p)
				assert.NoError(t, partErr, "%q", p)
			}
		}
	})
}

// TestNoPayloadCostsMoreThanASmallMultipleOfItsSize measures what a hostile
// payload makes decoding allocate.
func TestNoPayloadCostsMoreThanASmallMultipleOfItsSize(t *testing.T) {
	const size = 256 << 10
	for name, payload := range map[string]string{
		"elements":   "<a>" + strings.Repeat("<b/>", size/4) + "</a>",
		"depth":      strings.Repeat("<a>", size/3),
		"attributes": "<a " + strings.Repeat(`b="" `, size/5) + "/>",
		"text":       "<a>" + strings.Repeat("&lt;", size/4) + "</a>",
		"fields":     strings.Repeat("a=&", size/3),
		"field":      "a=" + strings.Repeat("%41", size/3),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = view.Decode([]byte(payload))
		runtime.ReadMemStats(&after)
		assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64*len(payload)), name)
	}
}

// BenchmarkXML is one notification of 64 KiB.
func BenchmarkXML(b *testing.B) {
	doc := []byte("<n>" + strings.Repeat("<f><name>Amount__c</name><value>12.50</value></f>", 64<<10/49) + "</n>")
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := view.Decode(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForm is a form of 64 KiB.
func BenchmarkForm(b *testing.B) {
	doc := []byte(strings.Repeat("Field=%2B49+30+1234&", 64<<10/20))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := view.Decode(doc); err != nil {
			b.Fatal(err)
		}
	}
}
