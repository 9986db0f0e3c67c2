package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// line is one line of a chart.
type line struct {
	name, class string
	of          func(Point) float64
}

func lines() []line {
	return []line{
		{"spooled", "a", func(p Point) float64 { return p.Spooled }},
		{"drain", "b", func(p Point) float64 { return p.Drain }},
		{"staged", "c", func(p Point) float64 { return p.Staged }},
		{"whole way", "d", func(p Point) float64 { return p.Business }},
	}
}

// Where things stand in a chart, in user units.
const (
	chartWidth, chartHeight = 640, 320
	left, right, top, floor = 60, 530, 50, 270
)

// chartStyle makes the chart readable on light and on dark pages.
const chartStyle = `text{font:12px system-ui,sans-serif;fill:#333}.t{font-size:14px;font-weight:600}` +
	`.g{stroke:#8884;stroke-width:1}.l{fill:none;stroke-width:2}.a{stroke:#0b6e99}.b{stroke:#b35900}.c{stroke:#2a7d2e}.d{stroke:#8a3ffc}` +
	`circle{stroke-width:2;fill:#fff}.a.k,.b.k,.c.k,.d.k{stroke:none}text.a{fill:#0b6e99}text.b{fill:#b35900}text.c{fill:#2a7d2e}text.d{fill:#8a3ffc}` +
	`@media(prefers-color-scheme:dark){text{fill:#ddd}circle{fill:#111}.a{stroke:#5cc3ee}.b{stroke:#ffab5e}.c{stroke:#7bd37f}.d{stroke:#c6a4ff}` +
	`text.a{fill:#5cc3ee}text.b{fill:#ffab5e}text.c{fill:#7bd37f}text.d{fill:#c6a4ff}}`

// SVG draws the curve: events a second over the setting, whose values stand at
// equal distances.
func (c Curve) SVG() []byte {
	var out strings.Builder
	highest, step := c.scale()
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		chartWidth, chartHeight, html.EscapeString(c.Title+": events a second"))
	fmt.Fprintf(&out, "<style>%s</style>\n", chartStyle)
	fmt.Fprintf(&out, `<text class="t" x="%d" y="24">%s</text><text x="%d" y="42">events/s</text>`+"\n", left, html.EscapeString(c.Title), left-44)
	for v := 0.0; v <= highest; v += step {
		y := c.y(v, highest)
		fmt.Fprintf(&out, `<line class="g" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, right, y, y, left-8, y+4, grouped(v))
	}
	for i, p := range c.Points {
		fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="middle">%v</text>`+"\n", c.x(i), floor+20, p.X)
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+right)/2, floor+40, html.EscapeString(c.Unit))
	labels := c.labels(highest)
	for i, l := range lines() {
		c.draw(&out, l, highest, labels[i])
	}
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// draw draws one line, its points and its name at the end.
func (c Curve) draw(out *strings.Builder, l line, highest, label float64) {
	var path, dots strings.Builder
	for i, p := range c.Points {
		x, y := c.x(i), c.y(l.of(p), highest)
		fmt.Fprintf(&path, "%.1f,%.1f ", x, y)
		fmt.Fprintf(&dots, `<circle class="%s" cx="%.1f" cy="%.1f" r="3"><title>%s: %s</title></circle>`, l.class, x, y, l.name, grouped(l.of(p)))
	}
	fmt.Fprintf(out, `<polyline class="l %s" points="%s"/>%s<text class="%s k" x="%d" y="%.1f">%s</text>`+"\n",
		l.class, strings.TrimSpace(path.String()), dots.String(), l.class, right+10, label+4, l.name)
}

// labels are the heights of the names at the ends of the lines, moved apart
// where lines end close together.
func (c Curve) labels(highest float64) []float64 {
	const apart = 15
	all := lines()
	at := make([]float64, len(all))
	order := make([]int, 0, len(all))
	for i, l := range all {
		if n := len(c.Points); n > 0 {
			at[i] = c.y(l.of(c.Points[n-1]), highest)
		}
		place := len(order)
		for place > 0 && at[order[place-1]] > at[i] {
			place--
		}
		order = append(order[:place], append([]int{i}, order[place:]...)...)
	}
	for n := len(order) - 2; n >= 0; n-- { // upwards from the lowest
		at[order[n]] = min(at[order[n]], at[order[n+1]]-apart)
	}
	return at
}

func (c Curve) x(i int) float64 {
	if len(c.Points) < 2 {
		return (left + right) / 2
	}
	return left + 20 + float64(i)*(right-left-40)/float64(len(c.Points)-1)
}

func (c Curve) y(v, highest float64) float64 { return floor - v/highest*(floor-top) }

// scale is the end of the axis and the distance of its lines, both round
// numbers.
func (c Curve) scale() (highest, step float64) {
	most := 1.0
	for _, p := range c.Points {
		for _, l := range lines() {
			most = max(most, l.of(p))
		}
	}
	step = math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		if step*factor*5 >= most {
			step *= factor
			break
		}
	}
	return math.Ceil(most/step) * step, step
}
