package formula_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

// thing is an object with a field of every kind.
func thing(t testing.TB) *schema.Object {
	t.Helper()
	m := fstest.MapFS{"objects/T__c/T__c.object-meta.xml": {Data: []byte(`<CustomObject><label>T</label><pluralLabel>T</pluralLabel><nameField><label>N</label><type>Text</type></nameField></CustomObject>`)}}
	values := `<valueSet><valueSetDefinition><value><fullName>New</fullName></value><value><fullName>Old</fullName></value></valueSetDefinition></valueSet>`
	for name, body := range map[string]string{
		"S__c": `<type>Text</type><length>255</length>`, "S2__c": `<type>Text</type><length>255</length>`,
		"N__c": `<type>Number</type><precision>18</precision><scale>2</scale>`, "N2__c": `<type>Number</type><precision>18</precision><scale>0</scale>`,
		"B__c": `<type>Checkbox</type>`, "D__c": `<type>Date</type>`, "DT__c": `<type>DateTime</type>`,
		"P__c": `<type>Picklist</type>` + values, "M__c": `<type>MultiselectPicklist</type>` + values,
		"L__c": `<type>LongTextArea</type><length>1000</length>`, "R__c": `<type>Lookup</type><referenceTo>Account</referenceTo>`,
	} {
		m["objects/T__c/fields/"+name+".field-meta.xml"] = &fstest.MapFile{Data: []byte(`<CustomField><fullName>` + name + `</fullName><label>x</label>` + body + `</CustomField>`)}
	}
	s, err := schema.Load(schema.Source{Name: "test", FS: m})
	require.NoError(t, err)
	return s.Object("T__c")
}

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

var now = time.Date(2026, 11, 30, 12, 34, 56, 0, time.UTC)

// row makes a row from field names and values.
func row(o *schema.Object, values map[string]any) schema.Row {
	r := o.NewRow()
	for name, v := range values {
		r[o.Field(name).Slot] = v
	}
	return r
}

type set = map[string]any

func TestValues(t *testing.T) {
	t.Parallel()
	o := thing(t)
	for src, c := range map[string]struct {
		new  set
		want bool
	}{
		"TRUE": {nil, true}, "false": {nil, false}, "NOT(false)": {nil, true}, "!true": {nil, false},
		"AND(true, true)": {nil, true}, "AND(true, false)": {nil, false}, "OR(false, true)": {nil, true}, "OR(false)": {nil, false},
		"true && false || true": {nil, true}, "true || false && false": {nil, true}, "!(true && false)": {nil, true},
		"/* why */ true /* so */": {nil, true}, "B__c": {set{"B__c": true}, true}, "b__C": {set{"B__c": false}, false},

		"1 = 1.0": {nil, true}, "1 == 2": {nil, false}, "1 <> 2": {nil, true}, "1 != 1": {nil, false},
		"1 < 2": {nil, true}, "2 <= 2": {nil, true}, "3 > 3": {nil, false}, "3 >= 3": {nil, true}, "-1 < 0": {nil, true},
		"1 + 2 * 3 = 7": {nil, true}, "(1 + 2) * 3 = 9": {nil, true}, "7 / 2 = 3.5": {nil, true}, "1 - 2 - 3 = -4": {nil, true},
		"0.1 + 0.2 = 0.3": {nil, true},
		"999999999999999999 - 999999999999999998 = 1": {nil, true},
		"ABS(-2) = 2": {nil, true}, "MOD(7, 4) = 3": {nil, true}, "MAX(1, 3, 2) = 3": {nil, true}, "MIN(4, 3, 5) = 3": {nil, true},

		`"a" & "b" = "ab"`: {nil, true}, `"a" + 'b' = "ab"`: {nil, true}, `"A" = "a"`: {nil, false}, `"a\"b" = 'a"b'`: {nil, true},
		`LEN("añ😀") = 4`: {nil, true}, `LEN(S__c) = 0`: {nil, true}, `BEGINS("abc", "ab")`: {nil, true}, `CONTAINS("abc", "x")`: {nil, false},
		`LEFT("abc", 2) = "ab"`: {nil, true}, `RIGHT("abc", 5) = "abc"`: {nil, true}, `LEFT("abc", -1) = ""`: {nil, true},
		`UPPER("aé") = "AÉ"`: {nil, true}, `LOWER("AB") = "ab"`: {nil, true}, `TRIM(" a ") = "a"`: {nil, true},
		`VALUE("1.50") = 1.5`: {nil, true}, `ISBLANK(VALUE(""))`: {nil, true},
		`TEXT(1.50) = "1.5"`: {nil, true}, `TEXT(D__c) = "2026-01-05"`: {set{"D__c": time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}, true},
		`TEXT(DT__c) = "2026-11-30 12:34:56Z"`: {set{"DT__c": now}, true}, `TEXT(N__c) = ""`: {nil, true},

		"ISBLANK(S__c)": {nil, true}, "ISBLANK(N__c)": {nil, true}, `ISBLANK("")`: {nil, true}, "ISBLANK(D__c)": {set{"D__c": now}, false},
		"ISNULL(S__c)": {nil, false}, "ISNULL(N__c)": {nil, true}, "S__c = \"\"": {nil, true}, "S__c <> S2__c": {nil, false},
		"N__c = 0": {nil, false}, "N__c <> 0": {nil, true}, "N__c < 1": {nil, false}, "N__c >= 0": {nil, false}, "NOT(N__c < 1)": {nil, true},
		"N__c = N2__c": {nil, true}, "ISBLANK(N__c + 1)": {nil, true}, "N__c = null": {nil, true}, "R__c = null": {set{"R__c": "001"}, false},
		"BLANKVALUE(N__c, 3) = 3": {nil, true}, `BLANKVALUE(S__c, "x") = "x"`: {nil, true}, `NULLVALUE(S__c, "x") = ""`: {nil, true}, "NULLVALUE(N__c, 2) = 2": {nil, true},
		"BLANKVALUE(N__c, 3) = 4": {set{"N__c": dec("4.00")}, true}, "IF(ISBLANK(N__c), 1, 2) = 1": {nil, true}, "IF(true, null, 1) = 1": {nil, false},

		`ISPICKVAL(P__c, "New")`: {set{"P__c": "New"}, true}, `ISPICKVAL(P__c, "new")`: {set{"P__c": "New"}, false}, `ISPICKVAL(P__c, "")`: {nil, true},
		`TEXT(P__c) = "Old"`: {set{"P__c": "Old"}, true}, `CASE(P__c, "New", 1, "Old", 2, 0) = 2`: {set{"P__c": "Old"}, true}, `CASE(P__c, "New", 1, 0) = 0`: {nil, true},
		`CASE(N__c, 1, "a", 2, "b", "c") = "b"`: {set{"N__c": dec("2.00")}, true}, `INCLUDES(M__c, "Old")`: {set{"M__c": "New;Old"}, true}, `INCLUDES(M__c, "Ol")`: {set{"M__c": "New;Old"}, false},

		"NOW() = DT__c": {set{"DT__c": now}, true}, "NOW() - 1 < DT__c": {set{"DT__c": now}, true}, "NOW() - DT__c = 0.5": {set{"DT__c": now.Add(-12 * time.Hour)}, true},
		"TODAY() = D__c": {set{"D__c": time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, true}, "TODAY() + 1.9 > D__c + 1": {set{"D__c": time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, false},
		"DATEVALUE(DT__c) = TODAY()": {set{"DT__c": now}, true}, "1 + TODAY() = TODAY() - -1": {nil, true}, "ISBLANK(D__c + 1)": {nil, true},
	} {
		f, err := formula.Compile(src, o)
		require.NoError(t, err, src)
		got, err := f.True(formula.Env{New: row(o, c.new), IsNew: true, Now: now})
		require.NoError(t, err, src)
		assert.Equal(t, c.want, got, src)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	o := thing(t)
	for src, c := range map[string]struct {
		old, new set // old nil: a new row
		want     bool
	}{
		"ISNEW()":                            {nil, nil, true},
		"NOT(ISNEW())":                       {set{}, nil, true},
		"ISCHANGED(N__c)":                    {nil, set{"N__c": dec("1")}, false},
		"ISCHANGED(n__c)":                    {set{}, set{"N__c": dec("1")}, true},
		"ISCHANGED(N2__c)":                   {set{"N2__c": dec("1.0")}, set{"N2__c": dec("1")}, false},
		"ISCHANGED(P__c)":                    {set{"P__c": "Old"}, set{"P__c": "New"}, true},
		"ISCHANGED(S__c)":                    {set{"S__c": "a"}, set{"S__c": "A"}, true},
		"PRIORVALUE(N__c) = 5":               {nil, set{"N__c": dec("5")}, true},
		"PRIORVALUE(N__c) = 4":               {set{"N__c": dec("4")}, set{"N__c": dec("5")}, true},
		"ISBLANK(PRIORVALUE(S__c))":          {set{}, set{"S__c": "x"}, true},
		`ISPICKVAL(PRIORVALUE(P__c), "Old")`: {set{"P__c": "Old"}, set{"P__c": "New"}, true},
		`CASE(PRIORVALUE(P__c), "Old", 1, 2) = 1 && TEXT(PRIORVALUE(P__c)) = "Old"`: {set{"P__c": "Old"}, nil, true},
	} {
		f, err := formula.Compile(src, o)
		require.NoError(t, err, src)
		env := formula.Env{New: row(o, c.new), IsNew: c.old == nil, Now: now}
		if c.old != nil {
			env.Old = row(o, c.old)
		}
		got, err := f.True(env)
		require.NoError(t, err, src)
		assert.Equal(t, c.want, got, src)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	o := thing(t)
	for src, want := range map[string]string{
		"":                                 "line 1, column 1: Syntax error. Found end of formula",
		"true\n  && Nope__c = 1":           "line 2, column 6: Field Nope__c does not exist. Check spelling.",
		"FOO(1)":                           "Unknown function FOO. Check spelling.",
		"NOT(true, false)":                 "Incorrect number of parameters for function 'NOT()'. Expected 1, received 2",
		"IF(true, 1) = 1":                  "Incorrect number of parameters for function 'IF()'. Expected 3, received 2",
		"AND()":                            "Incorrect number of parameters for function 'AND()'. Expected 1, received 0",
		"CASE(N__c, 1, 2) = 1":             "Incorrect number of parameters for function 'CASE()'. Expected 4, received 3",
		"CASE(N__c, 1, 2, 3, 4) = 1":       "Incorrect number of parameters for function 'CASE()'. Expected 6, received 5",
		"ISNEW(N__c)":                      "Incorrect number of parameters for function 'ISNEW()'. Expected 0, received 1",
		"N__c":                             "Formula result is data type (Number), incompatible with expected data type (true or false).",
		`P__c = "New"`:                     "column 1: Field P__c is a picklist field. Picklist fields are only supported in certain functions.",
		`"New" <> P__c`:                    "Field P__c is a picklist field.",
		"ISBLANK(P__c)":                    "Field P__c is a picklist field.",
		"BLANKVALUE(P__c, \"x\") = \"x\"":  "Field P__c is a picklist field.",
		"IF(true, P__c, P__c) = 1":         "Field P__c is a picklist field.",
		"LEN(M__c) = 1":                    "Field M__c is a picklist field.",
		`PRIORVALUE(P__c) = "New"`:         "is a picklist field.",
		`ISPICKVAL(S__c, "a")`:             "Incorrect parameter type for function 'ISPICKVAL()'. Expected Picklist, received Text",
		"ISPICKVAL(P__c, S__c)":            "requires a text literal as its second argument",
		"INCLUDES(P__c, \"a\")":            "Expected MultiPicklist, received Picklist",
		"INCLUDES(M__c, S__c)":             "requires a text literal",
		"S__c = 1":                         "Incorrect parameter type for operator '='. Expected Text, received Number",
		"S__c < \"b\"":                     "Incorrect parameter type for operator '<'. Expected Number, Date, DateTime, received Text",
		"N__c < D__c":                      "Incorrect parameter type for operator '<'. Expected Number, received Date",
		"D__c = DT__c":                     "Expected Date, received DateTime",
		"true && 1":                        "Incorrect parameter type for operator '&&'. Expected Boolean, received Number",
		"AND(true, S__c)":                  "Incorrect parameter type for function 'AND()'. Expected Boolean, received Text",
		"S__c + 1 = 2":                     "Incorrect parameter type for operator '+'. Expected Number, Date, DateTime, received Text",
		"N__c + S__c = 2":                  "Expected Number, received Text",
		"S__c & 1 = \"\"":                  "Incorrect parameter type for operator '&'. Expected Text, received Number",
		"1 & S__c = \"\"":                  "Expected Text, received Number",
		"-S__c = 1":                        "Incorrect parameter type for operator '-'. Expected Number, received Text",
		"!N__c":                            "Incorrect parameter type for operator '!'. Expected Boolean, received Number",
		"IF(1, 2, 3) = 2":                  "Incorrect parameter type for function 'IF()'. Expected Boolean, received Number",
		"IF(true, 2, \"a\") = 2":           "Incorrect parameter type for function 'IF()'. Expected Number, received Text",
		"BLANKVALUE(N__c, \"a\") = 2":      "Expected Number, received Text",
		"CASE(B__c, true, 1, 2) = 1":       "Expected Text, Number, Date, DateTime, Picklist, received Boolean",
		"CASE(P__c, 1, 1, 2) = 1":          "Expected Text, received Number",
		"MAX(1, S__c) = 1":                 "Expected Number, received Text",
		"TEXT(S__c) = S__c":                "Incorrect parameter type for function 'TEXT()'. Expected Number, Date, DateTime, Picklist, received Text",
		"VALUE(1) = 1":                     "Incorrect parameter type for function 'VALUE()'. Expected Text, received Number",
		"DATEVALUE(S__c) = TODAY()":        "Expected DateTime, received Text",
		"ISCHANGED(1)":                     "Function ISCHANGED requires a field as its first argument",
		"PRIORVALUE(N__c + 1) = 1":         "Function PRIORVALUE requires a field as its first argument",
		"ISBLANK(L__c)":                    "You can't use the long text area field L__c in a formula.",
		"$User.Id = S__c":                  "global variables and fields of other objects are not simulated",
		"R__r.Name = S__c":                 "global variables and fields of other objects are not simulated",
		"(true":                            "Syntax error. Missing ')'",
		"AND(true":                         "Syntax error. Missing ','",
		"true)":                            "Syntax error. Extra ')'",
		"true true":                        "Syntax error. Extra 'true'",
		"1 = ":                             "Syntax error. Found end of formula",
		"1 = )":                            "Syntax error. Found ')'",
		"true /* why":                      "Syntax error. Missing '*/'",
		`S__c = "a`:                        "Syntax error. Missing closing quote",
		`S__c = "a\`:                       "Syntax error. Missing closing quote",
		`S__c = "a\q"`:                     "Syntax error. Invalid escape sequence",
		"true # false":                     "Syntax error. Unexpected character '#'",
		strings.Repeat("(", 300) + "true":  "Formula is too complex",
		strings.Repeat("!", 300) + "true":  "Formula is too complex",
		strings.Repeat(" ", 4000) + "true": "Formula is too long (4004 characters). Maximum length is 3900 characters.",
	} {
		_, err := formula.Compile(src, o)
		require.ErrorContains(t, err, want, src)
		var e *formula.Error
		assert.ErrorAs(t, err, &e, src)
	}
}

func TestNoValue(t *testing.T) {
	t.Parallel()
	o := thing(t)
	for src, want := range map[string]string{
		"1 / N__c = 1":                "division by zero",
		"MOD(1, N__c) = 1":            "division by zero",
		`VALUE("x") = 1`:              "the text is no number",
		`VALUE("1e999999999") = 1`:    "the text is no number",
		"TODAY() + 9999999999 > D__c": "a date out of range",
	} {
		f, err := formula.Compile(src, o)
		require.NoError(t, err, src)
		_, err = f.True(formula.Env{New: row(o, set{"N__c": dec("0")}), IsNew: true, Now: now})
		assert.ErrorContains(t, err, want, src)
	}
	f, err := formula.Compile("AND(false, 1 / N__c = 1)", o)
	require.NoError(t, err)
	got, err := f.True(formula.Env{New: row(o, set{"N__c": dec("0")}), IsNew: true, Now: now})
	require.NoError(t, err, "what isn't needed isn't evaluated")
	assert.False(t, got)
}

func FuzzCompile(f *testing.F) {
	o := thing(f)
	for _, src := range []string{
		`AND(NOT(ISNEW()), OR(ISCHANGED(P__c), ISCHANGED(N__c)), BLANKVALUE(N2__c, -1) <> BLANKVALUE(PRIORVALUE(N__c), 0))`,
		`CASE(P__c, "New", 1, "Old", 2, 0) = 2 && !ISPICKVAL(P__c, '') || TEXT(DT__c) & "x" = S__c`,
		`IF(NOW() - 0.5 > DT__c, VALUE(LEFT(S__c, 3)), MIN(1, N__c / 3)) >= -1 /* why */`,
		`"\n\"`, "((((", "1.2.3", "R__r.x",
	} {
		f.Add(src)
	}
	full := row(o, set{"S__c": "12", "N__c": dec("3"), "N2__c": dec("0"), "B__c": true, "D__c": now, "DT__c": now, "P__c": "New", "M__c": "New;Old", "R__c": "001"})
	f.Fuzz(func(t *testing.T, src string) {
		c, err := formula.Compile(src, o)
		if err != nil {
			return
		}
		for _, env := range []formula.Env{{New: o.NewRow(), IsNew: true, Now: now}, {New: full, Old: o.NewRow(), Now: now}, {New: full, Old: full, Now: now}} {
			first, err1 := c.True(env)
			again, err2 := c.True(env)
			if first != again || (err1 == nil) != (err2 == nil) {
				t.Fatalf("%q has two values", src)
			}
		}
	})
}
