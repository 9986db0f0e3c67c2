package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

const (
	maxCollection = 200
	maxChunks     = 10

	upsertVersion = 46 // collections upsert exists from this version on
)

// collections serves composite/sobjects.
func (a *API) collections(q *request) reply {
	below := q.path[2:]
	switch {
	case len(below) == 0 && q.method == http.MethodPost:
		return a.saveCollection(q, org.DML{Verb: org.Insert}, nil)
	case len(below) == 0 && q.method == http.MethodPatch:
		return a.saveCollection(q, org.DML{Verb: org.Update}, nil)
	case len(below) == 0 && q.method == http.MethodDelete:
		return a.deleteCollection(q)
	case len(below) == 0:
		return notAllowed(q.method, "DELETE,GET,HEAD,PATCH,POST")
	case len(below) > 2:
		return notFound()
	}
	obj := a.cfg.Org.Schema().Object(below[0])
	if obj == nil {
		return notFound()
	}
	q.object = obj.Name
	if len(below) == 1 {
		return a.readCollection(q, obj)
	}
	key := a.field(obj, below[1])
	switch {
	case q.method != http.MethodPatch:
		return notAllowed(q.method, "PATCH")
	case q.version < upsertVersion:
		return notFound()
	case key == nil || !key.ExternalID && key.Type != schema.ID:
		return refused(http.StatusNotFound, org.CodeNotFound,
			"Provided external ID field does not exist or is not accessible: "+below[1])
	}
	return a.saveCollection(q, org.DML{Verb: org.Upsert, Key: key}, obj)
}

// saveCollection inserts, updates or upserts the records of the body. only,
// if set, is the type all of them must have.
func (a *API) saveCollection(q *request, d org.DML, only *schema.Object) reply {
	records, err := a.envelope(q, &d)
	if err == nil {
		d.Records, err = a.collected(q, d, records, only)
	}
	if err != nil {
		return err.reply()
	}
	return a.answerCollection(q, d.Verb, q.tx.Do(a.statement(q, d)))
}

// envelope reads the body around the records.
func (a *API) envelope(q *request, d *org.DML) ([]jsonin.Value, *apiError) {
	if q.body == nil || q.body.Kind != jsonin.Object {
		return nil, bad("JSON_PARSER_ERROR", "The HTTP entity body is required to be a JSON object with records.")
	}
	rd := reader{a, q.raw}
	var records *jsonin.Value
	for i := range q.body.Members {
		m := &q.body.Members[i]
		switch {
		case m.Name == "records" && m.Value.Kind == jsonin.Array:
			records = &m.Value
		case m.Name == "allOrNone" && m.Value.Kind == jsonin.Bool:
			d.AllOrNone = m.Value.Bool
		case m.Name == "records" || m.Name == "allOrNone":
			return nil, rd.parserError(&m.Value, "Cannot deserialize instance of %s from %s value %s", m.Name, m.Value.Token(), m.Value.Literal())
		default:
			return nil, rd.parserError(&m.Value, "Unrecognized field %q, not marked as ignorable", m.Name)
		}
	}
	switch {
	case records == nil:
		return nil, bad("JSON_PARSER_ERROR", "The request is missing the required field records.")
	case len(records.Items) > maxCollection:
		return nil, tooMany()
	}
	d.AllOrNone = d.AllOrNone || q.whole
	return records.Items, nil
}

func tooMany() *apiError {
	return bad("EXCEEDED_ID_LIMIT", fmt.Sprintf("record limit reached. cannot submit more than %d records into this call", maxCollection))
}

// collected reads the records of a collection.
func (a *API) collected(q *request, d org.DML, items []jsonin.Value, only *schema.Object) ([]org.Record, *apiError) {
	rd := reader{a, q.raw}
	records := make([]org.Record, len(items))
	chunks := 0
	for i := range items {
		obj, err := a.typeOf(&items[i])
		switch {
		case err != nil:
			return nil, err
		case only != nil && obj != only:
			return nil, bad("INVALID_INPUT", "The record type "+obj.Name+" does not match the type in the URI: "+only.Name)
		}
		if i == 0 || records[i-1].Object != obj {
			chunks++
		}
		records[i], err = rd.record(obj, &items[i], d.Key)
		if err != nil && !a.cfg.Unsure.MalformedRowsAlone {
			return nil, err
		}
		if err != nil {
			records[i] = org.Record{Object: obj, Bad: &org.RowError{Code: err.code, Message: err.message}}
		}
		checkID(d, &records[i])
	}
	if chunks > maxChunks {
		return nil, bad("INVALID_INPUT", fmt.Sprintf("Cannot have more than %d chunks per operation. Rearrange the input to reduce chunking.", maxChunks))
	}
	return records, nil
}

// typeOf reads the type a record says it has.
func (a *API) typeOf(v *jsonin.Value) (*schema.Object, *apiError) {
	attributes := v.Get("attributes")
	if attributes == nil || attributes.StringAt("type") == "" {
		return nil, bad("INVALID_INPUT", "The attributes of every record must have a type.")
	}
	name := attributes.StringAt("type")
	obj := a.cfg.Org.Schema().Object(name)
	if obj == nil {
		return nil, invalidType(name)
	}
	return obj, nil
}

// checkID refuses an Id where the statement takes none.
func checkID(d org.DML, rec *org.Record) {
	switch {
	case rec.Bad != nil || rec.ID == "":
	case d.Verb == org.Insert:
		rec.Bad = &org.RowError{Code: "INVALID_FIELD_FOR_INSERT_UPDATE", Message: "cannot specify Id in an insert call", Fields: []string{"Id"}}
	case d.Verb == org.Upsert && d.Key.Type != schema.ID:
		rec.Bad = &org.RowError{Code: "INVALID_FIELD", Message: "cannot specify both an external ID reference " + d.Key.Name + " and a salesforce id, Id"}
	}
}

// answerCollection writes the results by position. A failed collection of an
// allOrNone composite keeps its shape, under status 400.
func (a *API) answerCollection(q *request, verb org.Verb, results []org.Result) reply {
	failures, rolledBack := 0, false
	for _, r := range results {
		if !r.OK() {
			failures++
			rolledBack = rolledBack || r.Errors[0].Code == org.CodeRolledBack
		}
	}
	if rolledBack || q.whole && failures > 0 {
		a.blur(results)
	}
	created := verb == org.Upsert && !(a.cfg.Unsure.CreatedMissing && failures > 0)
	rep := ok(appendResults(make([]byte, 0, 64+len(results)*90), results, created))
	if q.whole && failures > 0 {
		rep.status = http.StatusBadRequest
	}
	return rep
}

// blur is how the switches show the rows of a failed allOrNone collection.
func (a *API) blur(results []org.Result) {
	culprit := false
	for i := range results {
		r := &results[i]
		mate := r.Errors[0].Code == org.CodeRolledBack
		switch {
		case a.cfg.Unsure.CulpritUnnamed:
			r.Errors = []org.RowError{{Code: org.CodeRolledBack,
				Message: "Record rolled back because not all records were valid and the request was using AllOrNone header"}}
		case a.cfg.Unsure.HaltedMates && mate && culprit:
			r.ID = ""
			r.Errors = []org.RowError{{Code: org.CodeHalted,
				Message: "The transaction was rolled back since another operation in the same transaction failed."}}
		}
		culprit = culprit || !mate
	}
}

func appendResults(b []byte, results []org.Result, created bool) []byte {
	b = append(b, '[')
	for i, r := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if r.ID != "" {
			b = append(b, `"id":"`...)
			b = append(b, r.ID...)
			b = append(b, `",`...)
		}
		if r.OK() {
			b = append(b, `"success":true,"errors":[]`...)
		} else {
			b = append(b, `"success":false,"errors":`...)
			b = appendRowErrors(b, r.Errors)
		}
		if created {
			b = append(b, `,"created":`...)
			b = strconv.AppendBool(b, r.Created)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// deleteCollection deletes the rows of ?ids=.
func (a *API) deleteCollection(q *request) reply {
	list := q.query.Get("ids")
	if list == "" {
		return bad("MISSING_ARGUMENT", "The parameter ids is required").reply()
	}
	ids := strings.Split(list, ",")
	if len(ids) > maxCollection {
		return tooMany().reply()
	}
	d := org.DML{Verb: org.Delete, AllOrNone: q.whole || strings.EqualFold(q.query.Get("allOrNone"), "true")}
	for _, text := range ids {
		rec := org.Record{ID: strings.TrimSpace(text)}
		rec.Object = a.cfg.Org.Schema().ByID(rec.ID)
		if rec.Object == nil {
			rec.Object = a.cfg.Org.Schema().Objects()[0]
			rec.Bad = &org.RowError{Code: "MALFORMED_ID", Message: "malformed id " + rec.ID}
		}
		d.Records = append(d.Records, rec)
	}
	return a.answerCollection(q, org.Delete, q.tx.Do(a.statement(q, d)))
}

// readCollection answers up to 2,000 records by id; null where there is none.
func (a *API) readCollection(q *request, obj *schema.Object) reply {
	ids, names := strings.Split(q.query.Get("ids"), ","), q.query.Get("fields")
	if q.method == http.MethodPost && q.body != nil {
		ids, names = texts(q.body.Get("ids")), strings.Join(texts(q.body.Get("fields")), ",")
	} else if q.method != http.MethodGet {
		return notAllowed(q.method, "GET,HEAD,POST")
	}
	fields, err := a.named(obj, names)
	if err != nil {
		return err.reply()
	}
	b := []byte{'['}
	for i, text := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		id, _ := schema.ID18(text)
		if row := q.tx.Get(obj, id); row != nil {
			b = a.form(q).row(b, row, fields)
		} else {
			b = append(b, "null"...)
		}
	}
	return ok(append(b, ']'))
}

// texts are the strings of a JSON array.
func texts(v *jsonin.Value) []string {
	var list []string
	if v != nil {
		for _, item := range v.Items {
			list = append(list, item.Text)
		}
	}
	return list
}
