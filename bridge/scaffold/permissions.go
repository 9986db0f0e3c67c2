package scaffold

import (
	"strconv"
	"strings"

	"sfbridge/internal/metadata"
)

// noObjectPermissions are objects that permission sets say nothing about.
var noObjectPermissions = map[string]string{
	"task":  "the user permission Edit Tasks",
	"event": "the user permission Edit Events",
	"user":  "the user permission Manage Users",
}

// permissions plans the permission set of all objects.
func (p *Plan) permissions(name string, list []*need) error {
	file := p.folder.permissionSet(name)
	d, err := p.folder.read(file, "PermissionSet")
	if err != nil {
		return err
	}
	exists := d != nil
	if !exists {
		d = metadata.New("PermissionSet")
		d.Set("description", "What the integration user of the bridge needs on the objects that mappings write.")
		d.Set("hasActivationRequired", "false")
		d.Set("label", strings.ReplaceAll(name, "_", " "))
	}
	g := &grants{plan: p, doc: d}
	for _, n := range list {
		g.object(n)
		if err := g.fields(n); err != nil {
			return err
		}
	}
	p.add(file, exists, d, g.lacked)
	return nil
}

// grants adds permissions and keeps what lacked before.
type grants struct {
	plan   *Plan
	doc    *metadata.Document
	lacked []string
}

func (g *grants) object(n *need) {
	if by, special := noObjectPermissions[strings.ToLower(n.object)]; special {
		g.plan.note("%s: give the integration user %s", n.object, by)
		return
	}
	g.grant(n.object, metadata.Group{Name: "objectPermissions", Key: "object", Members: []metadata.Member{
		member("allowCreate", n.create), member("allowDelete", n.remove), member("allowEdit", n.edit), member("allowRead", true),
		member("modifyAllRecords", false), {Name: "object", Text: n.object}, member("viewAllFields", false), member("viewAllRecords", false),
	}})
}

// fields grants custom fields. A permission set can't name one that is always
// required, nor one of a platform event; standard fields differ in that, object
// by object.
func (g *grants) fields(n *need) error {
	if strings.HasSuffix(strings.ToLower(n.object), "__e") {
		return nil
	}
	var standard []string
	for _, c := range ordered(n.columns) {
		if !strings.HasSuffix(strings.ToLower(c.name), "__c") {
			standard = append(standard, c.name)
			continue
		}
		always, err := g.plan.folder.alwaysThere(n.object, c.name)
		if err != nil {
			return err
		}
		if always {
			continue
		}
		g.grant(n.object+"."+c.name, metadata.Group{Name: "fieldPermissions", Key: "field", Members: []metadata.Member{
			member("editable", c.edit), {Name: "field", Text: n.object + "." + c.name}, member("readable", true),
		}})
	}
	if len(standard) > 0 {
		g.plan.note("%s: see that the integration user may edit the standard fields %s", n.object, strings.Join(standard, ", "))
	}
	return nil
}

func member(name string, on bool) metadata.Member {
	return metadata.Member{Name: name, Text: strconv.FormatBool(on)}
}

// grant adds what a group gives. An existing one keeps what it gives besides.
func (g *grants) grant(what string, wanted metadata.Group) {
	existing, found := g.doc.Find(wanted.Name, wanted.Key, wanted.Get(wanted.Key))
	if !found {
		g.doc.Put(wanted)
		g.lacked = append(g.lacked, what+" is not granted")
		return
	}
	lacks := false
	for _, m := range wanted.Members {
		if m.Text == "true" && strings.TrimSpace(existing.Get(m.Name)) != "true" {
			existing.Set(m.Name, m.Text)
			lacks = true
		}
	}
	if lacks {
		g.doc.Put(existing)
		g.lacked = append(g.lacked, what+" is granted in part")
	}
}

// alwaysThere tells of a field that everybody may edit because it can't be
// empty, as far as the folder shows it.
func (f *folder) alwaysThere(object, field string) (bool, error) {
	d, err := f.read(f.part(object, "fields/"+field+fieldSuffix), "CustomField")
	if err != nil || d == nil {
		return false, err
	}
	return strings.TrimSpace(d.Text("required")) == "true" || strings.TrimSpace(d.Text("type")) == "MasterDetail", nil
}
