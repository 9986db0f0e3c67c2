package metadata

import (
	"encoding/xml"
	"strings"
)

// Group is a child with members, of which there are many in a document, such as
// one fieldPermissions for each field.
type Group struct {
	Name    string
	Key     string // the member that tells one from another
	Members []Member
}

// Member is one element of a group.
type Member struct {
	Name string
	Text string
}

// Get is the text of a member, "" without one.
func (g Group) Get(name string) string {
	for _, m := range g.Members {
		if m.Name == name {
			return m.Text
		}
	}
	return ""
}

// Find gives the group whose key has that text, in any letter case.
func (d *Document) Find(name, key, text string) (Group, bool) {
	for _, c := range d.children {
		if c.name != name {
			continue
		}
		if g := c.group(key); strings.EqualFold(g.Get(key), text) {
			return g, true
		}
	}
	return Group{}, false
}

// Put adds a group, or replaces the one with the same key.
func (d *Document) Put(g Group) {
	d.put(child{name: g.Name, raw: g.raw()}, func(c child) int {
		if c.name != g.Name {
			return strings.Compare(c.name, g.Name)
		}
		return strings.Compare(strings.ToLower(c.group(g.Key).Get(g.Key)), strings.ToLower(g.Get(g.Key)))
	})
}

func (g Group) raw() string {
	var b strings.Builder
	b.WriteString("<" + g.Name + ">")
	for _, m := range g.Members {
		b.WriteString("\n" + indent + indent + "<" + m.Name + ">" + Escape(m.Text) + "</" + m.Name + ">")
	}
	b.WriteString("\n" + indent + "</" + g.Name + ">")
	return b.String()
}

func (c child) group(key string) Group {
	var v struct {
		Members []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	_ = xml.Unmarshal([]byte(c.raw), &v) // it was read once before
	g := Group{Name: c.name, Key: key}
	for _, m := range v.Members {
		g.Members = append(g.Members, Member{Name: m.XMLName.Local, Text: m.Text})
	}
	return g
}

// Set gives a member a text; it is added at the end where there is none.
func (g *Group) Set(name, text string) {
	for i := range g.Members {
		if g.Members[i].Name == name {
			g.Members[i].Text = text
			return
		}
	}
	g.Members = append(g.Members, Member{name, text})
}
