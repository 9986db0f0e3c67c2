package rest

import (
	"net/http"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// sobjects serves everything below sobjects/.
func (a *API) sobjects(q *request) reply {
	if len(q.path) == 1 {
		if q.method != http.MethodGet {
			return notAllowed(q.method, "HEAD,GET")
		}
		return ok(a.describeGlobal(q.version))
	}
	obj := a.cfg.Org.Schema().Object(q.path[1])
	if obj == nil {
		return notFound()
	}
	q.object = obj.Name
	switch {
	case len(q.path) == 2:
		return a.objectRoot(q, obj)
	case len(q.path) == 3 && q.path[2] == "describe":
		if q.method != http.MethodGet {
			return notAllowed(q.method, "HEAD,GET")
		}
		return ok(a.describe(q.version, obj))
	case len(q.path) == 3 && strings.EqualFold(q.path[2], "Id") && q.method == http.MethodPost:
		return a.createRow(q, obj)
	case len(q.path) == 3:
		return a.rowByID(q, obj, q.path[2])
	case len(q.path) == 4:
		return a.rowByKey(q, obj)
	}
	return notFound()
}

func (a *API) objectRoot(q *request, obj *schema.Object) reply {
	switch q.method {
	case http.MethodPost:
		return a.createRow(q, obj)
	case http.MethodGet, http.MethodHead:
		b := append([]byte(nil), `{"objectDescribe":`...)
		b = a.appendObject(b, q.version, obj)
		return ok(append(b, `},"recentItems":[]}`...))
	}
	return notAllowed(q.method, "HEAD,GET,POST")
}

// statement adds what faults need to a statement over the rows of a request.
func (a *API) statement(q *request, d org.DML) org.DML {
	subjects := q.subjects()
	d.Strike = func(keys [][]string) map[int]fault.Kind { return a.cfg.Faults.Rows(subjects, keys) }
	return d
}

// one runs a statement over one record.
func (a *API) one(q *request, d org.DML) org.Result {
	return q.tx.Do(a.statement(q, d))[0]
}

// rowBody reads the record in the body of a single-row request.
func (a *API) rowBody(q *request, obj *schema.Object) (org.Record, *apiError) {
	if q.body == nil {
		return org.Record{}, bad("JSON_PARSER_ERROR", "The HTTP entity body is required, but this request has no entity body.")
	}
	return reader{a, q.raw}.record(obj, q.body, nil)
}

func (a *API) createRow(q *request, obj *schema.Object) reply {
	rec, err := a.rowBody(q, obj)
	if err != nil {
		return err.reply()
	}
	if rec.ID != "" {
		return bad("INVALID_FIELD", "The Id field should not be specified in the sobject data.").reply()
	}
	res := a.one(q, org.DML{Verb: org.Insert, Records: []org.Record{rec}})
	if !res.OK() {
		return rowErrors(res.Errors)
	}
	return reply{status: http.StatusCreated, location: rowURL(q.version, obj, res.ID), body: saved(res.ID, "")}
}

// saved is the body of a row that was written.
func saved(id, created string) []byte {
	b := append([]byte(nil), `{"id":"`+id+`","success":true,"errors":[]`...)
	if created != "" {
		b = append(b, `,"created":`+created...)
	}
	return append(b, '}')
}

func (a *API) rowByID(q *request, obj *schema.Object, text string) reply {
	id, valid := schema.ID18(text)
	if !valid || a.cfg.Org.Schema().ByID(id) != obj {
		return notFound()
	}
	row := q.tx.Get(obj, id)
	if row == nil && q.tx.Deleted(obj, id) && q.method != http.MethodGet {
		return refused(http.StatusNotFound, org.CodeDeleted, "entity is deleted")
	}
	if row == nil {
		return notFound()
	}
	switch q.method {
	case http.MethodGet, http.MethodHead:
		return a.showRow(q, row, obj)
	case http.MethodPatch:
		return a.patchRow(q, obj, id)
	case http.MethodDelete:
		return a.deleteRow(q, obj, id)
	}
	return notAllowed(q.method, "HEAD,GET,PATCH,DELETE")
}

func (a *API) patchRow(q *request, obj *schema.Object, id string) reply {
	rec, err := a.rowBody(q, obj)
	if err != nil {
		return err.reply()
	}
	if rec.ID != "" {
		return bad("INVALID_FIELD", "The Id field should not be specified in the sobject data.").reply()
	}
	rec.ID = id
	if res := a.one(q, org.DML{Verb: org.Update, Records: []org.Record{rec}}); !res.OK() {
		return rowErrors(res.Errors)
	}
	return reply{status: http.StatusNoContent}
}

func (a *API) deleteRow(q *request, obj *schema.Object, id string) reply {
	res := a.one(q, org.DML{Verb: org.Delete, Records: []org.Record{{Object: obj, ID: id}}})
	if !res.OK() {
		return rowErrors(res.Errors)
	}
	return reply{status: http.StatusNoContent}
}

// showRow answers a record with the fields asked for, or all of them.
func (a *API) showRow(q *request, row schema.Row, obj *schema.Object) reply {
	fields, err := a.named(obj, q.query.Get("fields"))
	if err != nil {
		return err.reply()
	}
	return ok(a.form(q).row(nil, row, fields))
}

// named reads a list of field names; an empty one means all visible fields.
func (a *API) named(obj *schema.Object, list string) ([]*schema.Field, *apiError) {
	var fields []*schema.Field
	if list == "" {
		for _, f := range obj.Fields {
			if !a.cfg.Hidden(f) {
				fields = append(fields, f)
			}
		}
		return fields, nil
	}
	for _, name := range strings.Split(list, ",") {
		f := a.field(obj, strings.TrimSpace(name))
		if f == nil {
			return nil, noColumn(obj, name)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// rowByKey serves sobjects/Object/Ext_Id__c/value.
func (a *API) rowByKey(q *request, obj *schema.Object) reply {
	if dotted(q.path[3]) {
		return notFound()
	}
	key := a.field(obj, q.path[2])
	if key == nil || !key.ExternalID && key.Type != schema.ID {
		return refused(http.StatusNotFound, org.CodeNotFound,
			"Provided external ID field does not exist or is not accessible: "+q.path[2])
	}
	if key.Type == schema.ID {
		return a.rowByID(q, obj, q.path[3])
	}
	value, err := reader{a, nil}.value(key, &jsonin.Value{Kind: jsonin.String, Text: q.path[3]})
	if err != nil {
		return err.reply()
	}
	if q.method == http.MethodPatch || q.method == http.MethodPost {
		return a.upsertRow(q, key, value)
	}
	rows := q.tx.Find(key, value)
	switch {
	case len(rows) == 0:
		return notFound()
	case len(rows) > 1:
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.ID()
		}
		return choices(q.version, obj, ids)
	}
	switch q.method {
	case http.MethodGet, http.MethodHead:
		return a.showRow(q, rows[0], obj)
	case http.MethodDelete:
		return a.deleteRow(q, obj, rows[0].ID())
	}
	return notAllowed(q.method, "HEAD,GET,PATCH,DELETE")
}

// dotted tells keys that the edge takes for a host or file name and never
// passes on.
func dotted(key string) bool {
	at := strings.LastIndexByte(key, '.')
	return at >= 0 && strings.EqualFold(key[at:], ".inc") || key == "." || key == ".."
}

// choices answers a key that several records have.
func choices(version int, obj *schema.Object, ids []string) reply {
	urls := make([]string, len(ids))
	for i, id := range ids {
		urls[i] = rowURL(version, obj, id)
	}
	return reply{status: http.StatusMultipleChoices, body: appendStrings(nil, urls)}
}

// createdUpsertVersion is the first in which an update by external ID answers
// 200 with a body instead of 204.
const createdUpsertVersion = 46

func (a *API) upsertRow(q *request, key *schema.Field, value any) reply {
	obj := key.Object
	rec, err := reader{a, q.raw}.keyed(q.body, key, value)
	if err != nil {
		return err.reply()
	}
	res := a.one(q, org.DML{Verb: org.Upsert, Key: key, Records: []org.Record{rec},
		UpdateOnly: strings.EqualFold(q.query.Get("updateOnly"), "true")})
	switch {
	case len(res.Matches) > 1:
		return choices(q.version, obj, res.Matches)
	case !res.OK():
		return rowErrors(res.Errors)
	case res.Created:
		return reply{status: http.StatusCreated, location: rowURL(q.version, obj, res.ID), body: saved(res.ID, "true")}
	case q.version < createdUpsertVersion:
		return reply{status: http.StatusNoContent}
	}
	return ok(saved(res.ID, "false"))
}

// keyed reads the body of an upsert whose key stands in the address.
func (rd reader) keyed(body *jsonin.Value, key *schema.Field, value any) (org.Record, *apiError) {
	if body == nil {
		return org.Record{}, bad("JSON_PARSER_ERROR", "The HTTP entity body is required, but this request has no entity body.")
	}
	for i := range body.Members {
		name := body.Members[i].Name
		if f := key.Object.Field(name); f != nil && (f == key || f.Type == schema.ID) {
			return org.Record{}, bad("INVALID_FIELD", "The "+f.Name+" field should not be specified in the sobject data.")
		}
	}
	rec, err := rd.record(key.Object, body, nil)
	rec.Key = value
	return rec, err
}
