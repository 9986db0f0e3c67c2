package apexgates_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const metadata = "force-app/main/default/"

// drawing is a picture under way.
type drawing struct {
	body   strings.Builder
	width  int
	height int
}

func (d *drawing) box(x, y, w, h int, fill string) {
	fmt.Fprintf(&d.body, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#c9c9c9\"/>\n", x, y, w, h, fill)
	d.width, d.height = max(d.width, x+w), max(d.height, y+h)
}

func (d *drawing) text(x, y int, class, text string) {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a strings.Builder never fails
	fmt.Fprintf(&d.body, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, escaped.String())
}

func (d *drawing) svg(title string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n"+
		"<style>text{font:12px sans-serif;fill:#181818}.h{font-weight:bold}.l{fill:#5c5c5c;font-size:11px}.b{fill:#0176d3}</style>\n%s</svg>\n",
		d.width+8, d.height+8, title, d.body.String())
}

func readXML(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project(t), metadata, file))
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(data, into))
}

// labelOf is what people see of a field.
func labelOf(t *testing.T, object, field string) string {
	t.Helper()
	if field == "NAME" || field == "Name" {
		return "Number"
	}
	var f struct {
		Label string `xml:"label"`
	}
	readXML(t, "objects/"+object+"/fields/"+field+".field-meta.xml", &f)
	return f.Label
}

func buttons(t *testing.T, d *drawing, right int) {
	t.Helper()
	for i, name := range []string{"Discard", "Replay"} {
		d.box(right-(i+1)*84, 14, 76, 24, "#ffffff")
		d.text(right-(i+1)*84+14, 30, "b", name)
	}
}

func listPicture(t *testing.T, view string) string {
	t.Helper()
	var list struct {
		Label   string   `xml:"label"`
		Columns []string `xml:"columns"`
	}
	readXML(t, "objects/Inbound_Event__c/listViews/"+view+".listView-meta.xml", &list)
	const column = 120
	width := 40 + column*len(list.Columns)
	var d drawing
	d.box(4, 4, width, 44, "#f3f3f3")
	d.text(16, 30, "h", "Inbound Events: "+list.Label)
	buttons(t, &d, width)
	for row := range 4 {
		y := 52 + row*28
		d.box(4, y, width, 28, []string{"#fafaf9", "#ffffff"}[min(row, 1)])
		d.box(14, y+8, 12, 12, "#ffffff")
		for i, c := range list.Columns {
			if row == 0 {
				d.text(40+i*column, y+19, "h", labelOf(t, "Inbound_Event__c", c))
			}
		}
	}
	return d.svg("The list view " + list.Label)
}

func recordPicture(t *testing.T) string {
	t.Helper()
	var layout struct {
		Sections []struct {
			Label   string `xml:"label"`
			Columns []struct {
				Items []struct {
					Field string `xml:"field"`
				} `xml:"layoutItems"`
			} `xml:"layoutColumns"`
		} `xml:"layoutSections"`
	}
	readXML(t, "layouts/Inbound_Event__c-Inbound Event Layout.layout-meta.xml", &layout)
	const width = 760
	var d drawing
	d.box(4, 4, width, 44, "#f3f3f3")
	d.text(16, 30, "h", "Inbound Event IE-0000000042")
	buttons(t, &d, width)
	y := 60
	for _, s := range layout.Sections {
		d.box(4, y, width, 24, "#f3f3f3")
		d.text(16, y+17, "h", s.Label)
		y += 32
		bottom := y
		for c, column := range s.Columns {
			for i, item := range column.Items {
				x, at, w := 16+c*width/2, y+i*24, width/len(s.Columns)-24
				d.text(x, at+14, "l", labelOf(t, "Inbound_Event__c", item.Field))
				d.box(x+140, at, w-140, 20, "#ffffff")
				bottom = max(bottom, at+28)
			}
		}
		y = bottom + 6
	}
	return d.svg("The page of an inbound event")
}

// The admin guide's pictures are drawn from the metadata, so that they show
// what people will see.
func TestPicturesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"review-list": listPicture(t, "Review"), "event-page": recordPicture(t)} {
		file := filepath.Join(project(t), "docs", name+".svg")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, want == string(got), "%s.svg is old; draw it anew: go test ./test/apex -run Pictures -update", name)
	}
}
