package rest

import (
	"fmt"
	"net/http"

	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

const maxTreeDepth = 5

// treeRecord is one record of a tree.
type treeRecord struct {
	ref    string
	rec    org.Record
	parent int           // position of its parent record; -1: none
	link   *schema.Field // the lookup that shall lead there
	depth  int
}

// tree inserts records with their children: all of them or none.
func (a *API) tree(q *request) reply {
	obj := a.cfg.Org.Schema().Object(q.path[2])
	if obj == nil {
		return notFound()
	}
	records := q.body.Get("records")
	if records == nil || records.Kind != jsonin.Array || len(records.Items) == 0 {
		return bad("JSON_PARSER_ERROR", "The request is missing the required field records.").reply()
	}
	t := &treeReader{reader: reader{a, q.raw}, refs: map[string]bool{}}
	if err := t.level(obj, records, treeRecord{parent: -1}); err != nil {
		return err.reply()
	}
	if len(t.list) > maxCollection {
		return tooMany().reply()
	}
	return a.insertTree(q, t.list)
}

// treeReader flattens a tree, parents before children.
type treeReader struct {
	reader
	list []treeRecord
	refs map[string]bool
}

func (t *treeReader) level(obj *schema.Object, records *jsonin.Value, under treeRecord) *apiError {
	if under.depth >= maxTreeDepth {
		return bad("INVALID_INPUT", fmt.Sprintf("A tree can be at most %d levels deep.", maxTreeDepth))
	}
	for i := range records.Items {
		v := &records.Items[i]
		kind, err := t.api.typeOf(v)
		switch {
		case err != nil:
			return err
		case kind != obj:
			return bad("INVALID_INPUT", "The record type "+kind.Name+" does not match "+obj.Name)
		}
		ref := v.Get("attributes").StringAt("referenceId")
		if ref == "" || t.refs[ref] {
			return bad("INVALID_INPUT", "The referenceId of every record must be given and unique: "+ref)
		}
		t.refs[ref] = true
		one := under
		one.ref = ref
		if err := t.record(obj, v, one); err != nil {
			return err
		}
	}
	return nil
}

// record reads one record and what hangs below it.
func (t *treeReader) record(obj *schema.Object, v *jsonin.Value, one treeRecord) *apiError {
	flat := *v
	flat.Members = nil
	below := map[int]schema.Child{}
	for i, m := range v.Members {
		if child, ok := childNamed(obj, m.Name); ok && m.Value.Kind == jsonin.Object && m.Value.Get("records") != nil {
			below[i] = child
			continue
		}
		flat.Members = append(flat.Members, m)
	}
	rec, err := t.reader.record(obj, &flat, nil)
	if err != nil {
		return err
	}
	checkID(org.DML{Verb: org.Insert}, &rec)
	one.rec = rec
	at := len(t.list)
	t.list = append(t.list, one)
	for i := range v.Members {
		child, ok := below[i]
		if !ok {
			continue
		}
		under := treeRecord{parent: at, link: child.Field, depth: one.depth + 1}
		if err := t.level(child.Object, v.Members[i].Value.Get("records"), under); err != nil {
			return err
		}
	}
	return nil
}

func childNamed(obj *schema.Object, name string) (schema.Child, bool) {
	for _, c := range obj.Children {
		if c.Name != "" && c.Name == name {
			return c, true
		}
	}
	return schema.Child{}, false
}

func (a *API) insertTree(q *request, list []treeRecord) reply {
	tx := a.cfg.Org.Begin()
	whole := *q
	whole.tx = tx
	ids := make([]string, len(list))
	var failed []byte
	for i, one := range list {
		if one.parent >= 0 {
			one.rec.Set = append(one.rec.Set, org.Assignment{Field: one.link, Value: ids[one.parent]})
		}
		res := a.one(&whole, org.DML{Verb: org.Insert, Records: []org.Record{one.rec}})
		if res.OK() {
			ids[i] = res.ID
			continue
		}
		if one.parent >= 0 && ids[one.parent] == "" {
			continue // its parent tells why
		}
		if failed != nil {
			failed = append(failed, ',')
		}
		failed = append(failed, `{"referenceId":`...)
		failed = appendString(failed, one.ref)
		failed = append(failed, `,"errors":`...)
		failed = append(appendRowErrors(failed, res.Errors), '}')
	}
	if failed != nil {
		tx.Rollback()
		b := append([]byte(`{"hasErrors":true,"results":[`), failed...)
		return reply{status: http.StatusBadRequest, body: append(b, "]}"...)}
	}
	a.pause(a.cfg.Latency / 2)
	tx.Commit()
	b := []byte(`{"hasErrors":false,"results":[`)
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"referenceId":`...)
		b = appendString(b, one.ref)
		b = append(b, `,"id":"`+ids[i]+`"}`...)
	}
	return reply{status: http.StatusCreated, body: append(b, "]}"...)}
}
