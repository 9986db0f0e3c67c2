package salesforce

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Subrequest is one part of a composite or graph call, made by the functions
// below. Ref names it, unique in its call: letters, digits and '_', beginning
// with a letter. A mistake in it (an empty key, two objects in one upsert) is
// told by the call that sends it.
type Subrequest struct {
	Ref string

	op       string
	object   string
	method   string
	path     string // below /services/data/vNN.N/, escaped
	body     func(*encoder)
	keyField string
	kind     subrequestKind
	rows     int    // results expected of a collection
	size     int    // of the body, estimated
	rowID    string // Id of the record, where the answer may be empty
	err      error
}

type subrequestKind int

const (
	kindRow subrequestKind = iota
	kindRows
	kindQuery
)

// InsertRow creates one record. Its new Id is "@{ref.id}" for later subrequests.
func InsertRow(ref string, row Row) Subrequest {
	path, err := rowPath(row.Object)
	return Subrequest{Ref: ref, op: OpInsert, object: row.Object, method: http.MethodPost, path: path, err: err,
		body: func(e *encoder) { e.fields(row.Fields, "") }}
}

// UpdateRow changes the record with row.ID; "@{ref.id}" may stand for it.
func UpdateRow(ref string, row Row) Subrequest {
	path, err := idPath(row.Object, row.ID)
	return Subrequest{Ref: ref, op: OpUpdate, object: row.Object, method: http.MethodPatch, path: path, err: err, rowID: row.ID,
		body: func(e *encoder) { e.fields(row.Fields, "") }}
}

// UpsertRow creates or changes the record whose external ID field keyField has
// the value in row.Fields. The value goes into the address: Salesforce answers
// 404 for values that end like a file name (kim@example.inc), so prefer
// UpsertRows for values that come from outside.
func UpsertRow(ref, keyField string, row Row) Subrequest {
	key, ok := keyText(row.Fields[keyField])
	path, err := rowPath(row.Object, keyField, key)
	if !ok {
		err = fmt.Errorf("%s.%s: the external ID of an upsert is empty", row.Object, keyField)
	}
	return Subrequest{Ref: ref, op: OpUpsert, object: row.Object, method: http.MethodPatch, path: path, err: err, keyField: keyField,
		body: func(e *encoder) { e.fields(row.Fields, keyField) }}
}

// DeleteRow removes one record.
func DeleteRow(ref, object, id string) Subrequest {
	path, err := idPath(object, id)
	return Subrequest{Ref: ref, op: OpDelete, object: object, method: http.MethodDelete, path: path, err: err, rowID: id}
}

// InsertRows creates up to MaxRows records.
func InsertRows(ref string, rows []Row, allOrNone bool) Subrequest {
	s := collection(ref, OpInsertAll, rows, allOrNone)
	s.method = http.MethodPost
	return s
}

// UpdateRows changes up to MaxRows records by their IDs.
func UpdateRows(ref string, rows []Row, allOrNone bool) Subrequest {
	s := collection(ref, OpUpdateAll, rows, allOrNone)
	for _, r := range rows {
		if r.ID == "" && s.err == nil {
			s.err = fmt.Errorf("%s: a row of an update has no Id", r.Object)
		}
	}
	return s
}

// UpsertRows creates or changes up to MaxRows records of one object by the
// external ID field keyField, which every row carries.
func UpsertRows(ref, keyField string, rows []Row, allOrNone bool) Subrequest {
	s := collection(ref, OpUpsertAll, rows, allOrNone)
	if s.err != nil {
		return s
	}
	object, err := segment(rows[0].Object)
	field, fieldErr := segment(keyField)
	s.err = errors.Join(err, fieldErr, checkUpsert(keyField, rows))
	s.path += "/" + object + "/" + field
	s.keyField, s.object = keyField, rows[0].Object
	return s
}

// DeleteRows removes up to MaxRows records.
func DeleteRows(ref string, ids []string, allOrNone bool) Subrequest {
	s := Subrequest{Ref: ref, op: OpDeleteAll, method: http.MethodDelete, kind: kindRows, rows: len(ids)}
	s.err = checkCount(len(ids))
	for _, id := range ids {
		if !recordID.MatchString(id) {
			s.err = fmt.Errorf("a row to delete has no Id")
		}
	}
	s.path = fmt.Sprintf("composite/sobjects?ids=%s&allOrNone=%t", strings.Join(ids, ","), allOrNone)
	return s
}

// QueryRows reads the first page of a query, whatever its length.
func QueryRows(ref, soql string) Subrequest {
	return Subrequest{Ref: ref, op: OpQuery, method: http.MethodGet, kind: kindQuery, path: "query?q=" + escapeQuery(soql)}
}

// request makes a call of its own of a writing subrequest.
func (s Subrequest) request() (request, error) {
	if s.err != nil {
		return request{}, refusal(s.op, "", "%v", s.err)
	}
	r := request{op: s.op, object: s.object, method: s.method, path: s.path, write: true, keyField: s.keyField}
	if s.body == nil {
		return r, nil
	}
	e := newEncoder(encodeHint + s.size)
	s.body(e)
	if e.err != nil {
		return request{}, refusal(s.op, "", "%v", e.err)
	}
	r.body = e.bytes()
	return r, nil
}

func collection(ref, op string, rows []Row, allOrNone bool) Subrequest {
	return Subrequest{Ref: ref, op: op, method: http.MethodPatch, path: "composite/sobjects",
		kind: kindRows, rows: len(rows), size: sizeOf(rows), err: checkCount(len(rows)),
		body: func(e *encoder) { e.collection(rows, allOrNone) }}
}

func checkCount(n int) error {
	if n == 0 || n > MaxRows {
		return fmt.Errorf("%d rows in a collection: want 1 to %d", n, MaxRows)
	}
	return nil
}

func checkUpsert(keyField string, rows []Row) error {
	for _, r := range rows {
		if r.Object != rows[0].Object {
			return fmt.Errorf("an upsert of %s holds a row of %s", rows[0].Object, r.Object)
		}
		if r.ID != "" {
			return fmt.Errorf("%s: a row of an upsert has an Id", r.Object)
		}
		if _, ok := keyText(r.Fields[keyField]); !ok {
			return fmt.Errorf("%s.%s: the external ID of an upsert is empty", r.Object, keyField)
		}
	}
	return nil
}

// idPath is the address of a record by Id or by a reference to an earlier
// subrequest's Id, which must not be escaped.
func idPath(object, id string) (string, error) {
	path, err := rowPath(object)
	if err != nil {
		return "", err
	}
	if !recordID.MatchString(id) && !isReference(id) {
		return "", fmt.Errorf("%s: %q is no record Id", object, id)
	}
	return path + "/" + id, nil
}

func isReference(id string) bool {
	name, found := strings.CutPrefix(id, "@{")
	name, ended := strings.CutSuffix(name, ".id}")
	return found && ended && refPattern.MatchString(name)
}
