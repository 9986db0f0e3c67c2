package strictyaml

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// silent tells that a node needs no further word: it is left out, or it was
// refused when it was read.
func (n *Node) silent() bool { return n == nil || n.Kind == refusedKind }

// AsText is a scalar as spelled; ok is false for a nil node, and for what is no
// text, which is reported.
func (n *Node) AsText(report *Report) (text string, ok bool) {
	report.asked(n, Asked{Kind: WantText})
	return n.asText(report)
}

func (n *Node) asText(report *Report) (text string, ok bool) {
	switch {
	case n.silent():
		return "", false
	case n.isNull():
		report.At(n, "null is not accepted here", "give a value or leave the key out")
	case n.Kind == Empty:
		report.At(n, "nothing stands behind the key", "give a value or leave the key out")
	case n.Kind != Scalar:
		report.At(n, "must be text, not "+n.kindName(), n.textAdvice())
	default:
		return n.Text, true
	}
	return "", false
}

// textAdvice tells a bare template, which YAML reads as a map, from real maps.
func (n *Node) textAdvice() string {
	if n.Kind == Mapping && len(n.Entries) == 1 && n.Entries[0].Value.Kind == Empty {
		key := n.Entries[0].Key
		if strings.HasPrefix(key, "$") || strings.HasPrefix(key, "@") || strings.HasPrefix(key, "header.") {
			return fmt.Sprintf("a template needs quotes: %q", "{"+key+"}")
		}
	}
	return "write one value"
}

// AsBool is an unquoted true or false, or a filled-in one.
func (n *Node) AsBool(report *Report) (value, ok bool) {
	report.asked(n, Asked{Kind: WantBool})
	return n.asBool(report)
}

func (n *Node) asBool(report *Report) (value, ok bool) {
	if n.silent() || n.Unfilled() {
		return false, false
	}
	if n.Kind == Scalar {
		if n.Text != n.Spelled && (n.Text == "true" || n.Text == "false") {
			return n.Text == "true", true
		}
		if b, is := n.Literal().(bool); is {
			return b, true
		}
	}
	report.At(n, "must be true or false, not "+n.kindName(), "write true or false without quotes")
	return false, false
}

// AsList is the items of a list; anything else is reported.
func (n *Node) AsList(report *Report) []*Node {
	report.asked(n, Asked{Kind: WantList})
	if n.silent() {
		return nil
	}
	if n.Kind != Sequence {
		do := "write it in […]"
		if n.Kind == Scalar {
			do = "write [" + n.item() + "]"
		}
		report.At(n, "must be a list, not "+n.kindName(), do)
		return nil
	}
	return n.Items
}

// AsLiteral is a typed scalar, see Literal.
func (n *Node) AsLiteral(report *Report) (value any, ok bool) {
	report.asked(n, Asked{Kind: WantLiteral})
	switch {
	case n.silent():
		return nil, false
	case n.Kind == Empty:
		report.At(n, "nothing stands behind the key", `write null, "" or a value`)
	case n.Kind != Scalar:
		report.At(n, "must be one value, not "+n.kindName(), n.textAdvice())
	default:
		return n.Literal(), true
	}
	return nil, false
}

// example advises the fallback where it is a value that could be written.
func example[N cmp.Ordered](fallback, low, high N, text string) string {
	if fallback < low || fallback > high {
		return "write one in that range, or leave the key out"
	}
	return "write for example " + text
}

// inRange is the fallback where it is a value that could be written.
func inRange[N cmp.Ordered](fallback, low, high N) any {
	if fallback < low || fallback > high {
		return nil
	}
	return fallback
}

// Int is a whole number within bounds, fallback when it is left out or wrong.
func (m Map) Int(key string, fallback, low, high int) int {
	m.asked(key, Asked{Kind: WantInt, Low: low, High: high, Default: inRange(fallback, low, high)})
	n := m.Get(key)
	text, ok := n.asText(m.report)
	if !ok || n.Unfilled() {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || n.Quoted && n.Text == n.Spelled || value < low || value > high {
		m.report.At(n, fmt.Sprintf("%q is not a whole number from %d to %d", n.shown(), low, high), example(fallback, low, high, strconv.Itoa(fallback)))
		return fallback
	}
	return value
}

// Number is a number within bounds, fallback when it is left out or wrong.
func (m Map) Number(key string, fallback, low, high float64) float64 {
	m.asked(key, Asked{Kind: WantNumber, Low: low, High: high, Default: inRange(fallback, low, high)})
	n := m.Get(key)
	text, ok := n.asText(m.report)
	if !ok || n.Unfilled() {
		return fallback
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !isNumber(text) || math.IsNaN(value) || value < low || value > high {
		m.report.At(n, fmt.Sprintf("%q is not a number from %v to %v", n.shown(), low, high), example(fallback, low, high, fmt.Sprint(fallback)))
		return fallback
	}
	return value
}

// Duration is a time span within bounds such as 500ms, 2s, 5m, 24h or 30d.
func (m Map) Duration(key string, fallback, low, high time.Duration) time.Duration {
	m.asked(key, Asked{Kind: WantSpan, Default: SpanText(fallback)})
	n := m.Get(key)
	text, ok := n.asText(m.report)
	if !ok || n.Unfilled() {
		return fallback
	}
	value, err := parseDuration(text)
	if err != nil || value < low || value > high {
		m.report.At(n, fmt.Sprintf("%q is not a time span from %s to %s", n.shown(), SpanText(low), SpanText(high)), example(fallback, low, high, SpanText(fallback)))
		return fallback
	}
	return value
}

// parseDuration adds days to the units of Go.
func parseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	count, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	span := time.Duration(count) * 24 * time.Hour
	if rest == "" {
		return span, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("bad time span %q", text)
	}
	return span + more, nil
}

// SpanText writes a time span the way people do: 5m, not 5m0s.
func SpanText(d time.Duration) string {
	const day = 24 * time.Hour
	if d > day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Size is a number of bytes within bounds: 65536, 64KiB, 1MiB.
func (m Map) Size(key string, fallback, low, high int64) int64 {
	a := Asked{Kind: WantSize, Low: low, High: high}
	if fallback >= low {
		a.Default = sizeText(fallback)
	}
	m.asked(key, a)
	n := m.Get(key)
	text, ok := n.asText(m.report)
	if !ok || n.Unfilled() {
		return fallback
	}
	value, err := parseSize(text)
	if err != nil || value < low || value > high {
		m.report.At(n, fmt.Sprintf("%q is not a size from %s to %s", n.shown(), sizeText(low), sizeText(high)), example(fallback, low, high, sizeText(fallback)))
		return fallback
	}
	return value
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
}

func parseSize(text string) (int64, error) {
	unit := int64(1)
	for _, u := range sizeUnits {
		if rest, found := strings.CutSuffix(text, u.name); found {
			text, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, err
	}
	if count > math.MaxInt64/unit {
		return 0, strconv.ErrRange
	}
	return count * unit, nil
}

func sizeText(n int64) string {
	for _, u := range sizeUnits[:3] {
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}
