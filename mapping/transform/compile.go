package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on any machine

	"sfbridge/mapping/path"
)

// kinds lists the values of As for people.
var kinds = []As{Text, Number, Integer, Boolean, Datetime, Date, MinorUnits, MultiPicklist, JSON}

// Compile checks a Spec and makes it ready. Its error is [Problems], all of
// them.
func Compile(s Spec) (*Transform, error) {
	c := compiler{Transform: Transform{spec: s}}
	c.as()
	c.text()
	c.lookup()
	c.times()
	c.money()
	c.limits()
	c.defaults()
	if c.problems != nil {
		return nil, c.problems
	}
	return &c.Transform, nil
}

type compiler struct {
	Transform
	problems Problems
}

func (c *compiler) problem(key, what, fix string) {
	c.problems = append(c.problems, Problem{Key: key, What: what, Fix: fix})
}

func (c *compiler) is(kinds ...As) bool { return slices.Contains(kinds, c.spec.As) }

func (c *compiler) as() {
	if c.spec.As == AsIs || slices.Contains(kinds, c.spec.As) {
		return
	}
	known := make([]string, len(kinds))
	for i, k := range kinds {
		known[i] = string(k)
	}
	p := Problem{Key: "as", What: fmt.Sprintf("%q isn't known", string(c.spec.As)), Fix: "write one of " + strings.Join(known, ", "), Known: known}
	if meant, ok := synonyms[strings.ToLower(string(c.spec.As))]; ok {
		p.Fix, p.Known = "write "+string(meant), nil
	}
	c.problems = append(c.problems, p)
}

// synonyms are the names that people try first.
var synonyms = map[string]As{
	"string": Text, "str": Text, "varchar": Text,
	"decimal": Number, "float": Number, "double": Number, "currency": Number,
	"int": Integer, "long": Integer, "bigint": Integer,
	"bool": Boolean, "checkbox": Boolean,
	"date-time": Datetime, "date_time": Datetime, "timestamp": Datetime, "time": Datetime,
	"cents": MinorUnits, "minor-units": MinorUnits, "minorunits": MinorUnits, "money": MinorUnits,
	"multi_picklist": MultiPicklist, "multi-picklist": MultiPicklist, "multiselect": MultiPicklist, "picklist": MultiPicklist,
	"object": JSON,
}

func (c *compiler) text() {
	if c.spec.Lower && c.spec.Upper {
		c.problem("upper", "stands beside lower", "keep one of them")
	}
	if c.is(JSON) && (c.spec.Lower || c.spec.Upper) {
		c.problem("as", "json text isn't changed by lower or upper", "leave them out")
	}
	if c.spec.KeepEmpty && !c.is(Text) {
		c.problem("keep_empty", "works with as: text only", "add as: text or leave it out")
	}
}

func (c *compiler) lookup() {
	if c.spec.Map == nil {
		if c.spec.Otherwise.Set {
			c.problem("otherwise", "stands without map", "add map, or write default for missing values")
		}
		return
	}
	if len(c.spec.Map) == 0 {
		c.problem("map", "is empty", "write at least one pair, or leave it out")
	}
	for _, key := range slices.Sorted(maps.Keys(c.spec.Map)) {
		c.scalar("map", key+" gives", c.spec.Map[key])
	}
	c.scalar("otherwise", "is", c.spec.Otherwise.Value)
	if _, ok := c.spec.Map[""]; ok {
		c.problem("map", `has the key "", which no value reaches`, `leave it out: "" clears the field`)
	}
}

func (c *compiler) scalar(key, what string, v any) {
	switch v := v.(type) {
	case nil, string, bool:
	case json.Number:
		if !path.IsNumber(string(v)) {
			c.problem(key, what+" "+string(v)+", which JSON can't write", "write a plain number or quote it")
		}
	default:
		c.problem(key, what+" a list or an object", "write text, a number, true, false or null")
	}
}

func (c *compiler) times() {
	timed := c.is(Datetime, Date)
	if c.spec.Format != "" && !timed {
		c.problem("format", "works with as: datetime and as: date only", "add one of them or leave it out")
	}
	if c.spec.Timezone != "" && !timed {
		c.problem("timezone", "works with as: datetime and as: date only", "add one of them or leave it out")
	}
	if !timed {
		return
	}
	var err error
	if c.format, err = parseFormat(c.spec.Format); err != nil {
		c.problem("format", err.Error(), "write rfc3339, unix_s, unix_ms or a layout such as 2006-01-02 15:04:05")
	}
	if c.spec.Timezone == "" {
		return
	}
	if c.zone, err = time.LoadLocation(c.spec.Timezone); err != nil || strings.EqualFold(c.spec.Timezone, "local") {
		c.problem("timezone", fmt.Sprintf("%q isn't known", c.spec.Timezone), "write an IANA name such as Europe/Berlin or UTC")
	}
}

func (c *compiler) money() {
	switch {
	case !c.is(MinorUnits) && c.spec.Currency != "":
		c.problem("currency", "works with as: minor_units only", "add it or leave currency out")
	case !c.is(MinorUnits):
	case c.spec.Currency == "":
		c.problem("currency", "is missing, and as: minor_units needs it", "write its path, such as $.currency, or a code such as EUR")
	case isCode(c.spec.Currency):
		if _, ok := c.spec.Currencies.Digits(c.spec.Currency); !ok {
			c.problem("currency", c.spec.Currency+" isn't a currency of ISO 4217",
				"write the path of the code, such as $.currency, or give its digits under currencies")
		}
	default:
		var err error
		if c.currency, err = path.Parse(c.spec.Currency); err != nil {
			var parse *path.ParseError
			errors.As(err, &parse)
			c.problem("currency", parse.Text+" "+parse.What, parse.Fix)
		}
	}
}

func (c *compiler) limits() {
	switch {
	case c.spec.Max < 0:
		c.problem("max", "must be at least 1", "write the field's length")
	case c.spec.Max > 0 && !c.is(AsIs, Text, JSON):
		c.problem("max", fmt.Sprintf("can't cut as: %s", c.spec.As), "leave it out; it cuts text")
	}
}

func (c *compiler) defaults() {
	d := c.spec.Default
	if c.spec.DefaultNull && !d.Set {
		c.problem("default_null", "stands without default", "add default")
	}
	if d.Set {
		c.scalar("default", "is", d.Value)
	}
	if d.Set && c.spec.Required && (d.Value == nil || d.Value == "") {
		c.problem("default", "is empty although the field is required", "write a value, or leave default or required out")
	}
}
