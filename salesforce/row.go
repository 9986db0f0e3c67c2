package salesforce

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Row is one record to write. A row for an upsert carries its external ID among
// its Fields, whichever way it is sent; the client knows that a collection
// wants it in the record and a single row wants it in the address only.
//
// Field values: string, json.Number, bool, nil (clears the field), the integer
// and float types, time.Time, and map[string]any for a lookup by external ID
// (Customer__r: {"Ext__c": "x"}).
type Row struct {
	Object string
	// ID is the record's Id, for updates.
	ID     string
	Fields map[string]any
}

// SaveResult is what happened to one row.
type SaveResult struct {
	ID      string
	Success bool
	// Created is nil where Salesforce doesn't say.
	Created *bool
	Errors  []Fault
}

// Fault gives the error that decides about a failed row: the first that isn't
// collateral, else the first. It is the zero Fault for a row that worked.
func (r SaveResult) Fault() Fault {
	if r.Success {
		return Fault{}
	}
	for _, f := range r.Errors {
		if f.Class != ClassCollateral {
			return f
		}
	}
	if len(r.Errors) > 0 {
		return r.Errors[0]
	}
	return Fault{Message: "refused without a reason", Class: ClassRetryable}
}

// Class gives the class of the row's Fault.
func (r SaveResult) Class() Class { return r.Fault().Class }

// Insert creates one record.
func (c *Client) Insert(ctx context.Context, row Row) (SaveResult, error) {
	return c.writeRow(ctx, InsertRow("row", row))
}

// Update changes the record with row.ID.
func (c *Client) Update(ctx context.Context, row Row) (SaveResult, error) {
	return c.writeRow(ctx, UpdateRow("row", row))
}

// Upsert creates or changes the record whose external ID field keyField has the
// value in row.Fields. A value that is no safe part of an address is sent in
// the body of a one-row collection instead.
func (c *Client) Upsert(ctx context.Context, keyField string, row Row) (SaveResult, error) {
	if key, ok := keyText(row.Fields[keyField]); ok && !plainSegment(key) {
		results, err := c.UpsertAll(ctx, keyField, []Row{row}, false)
		if err != nil {
			return SaveResult{}, err
		}
		if f := results[0].Fault(); !results[0].Success {
			return results[0], &Error{Op: OpUpsertAll, Status: http.StatusOK, Fault: f}
		}
		return results[0], nil
	}
	return c.writeRow(ctx, UpsertRow("row", keyField, row))
}

// Delete removes the record; one that is already deleted is no error.
func (c *Client) Delete(ctx context.Context, object, id string) (SaveResult, error) {
	result, err := c.writeRow(ctx, DeleteRow("row", object, id))
	if e, ok := AsError(err); ok && e.Code == "ENTITY_IS_DELETED" {
		return SaveResult{ID: id, Success: true}, nil
	}
	return result, err
}

// Read gives the named fields of the record with this Id.
func (c *Client) Read(ctx context.Context, object, id string, fields ...string) (Record, error) {
	return c.readRow(ctx, []string{object, id}, fields)
}

// Key names a record by an external ID.
type Key struct {
	Object, Field, Value string
}

// ReadByKey gives the named fields of the record with this external ID. A
// NOT_FOUND answer is an error and doesn't prove that the record is absent:
// Salesforce also gives it for values that end like a file name. Query proves it.
func (c *Client) ReadByKey(ctx context.Context, key Key, fields ...string) (Record, error) {
	return c.readRow(ctx, []string{key.Object, key.Field, key.Value}, fields)
}

func (c *Client) readRow(ctx context.Context, segments, fields []string) (Record, error) {
	path, err := rowPath(segments...)
	if err != nil {
		return nil, refusal(OpRead, "", "%v", err)
	}
	if len(fields) > 0 {
		path += "?fields=" + escapeQuery(strings.Join(fields, ","))
	}
	var record Record
	err = c.call(ctx, request{op: OpRead, method: http.MethodGet, path: path}, jsonInto(&record))
	return record, err
}

func (c *Client) writeRow(ctx context.Context, s Subrequest) (SaveResult, error) {
	req, err := s.request()
	if err != nil {
		return SaveResult{}, err
	}
	var result SaveResult
	err = c.call(ctx, req, func(r reply) error {
		var ok bool
		result, ok = decodeSave(r.status, r.body, s.rowID)
		if !ok {
			return r.unreadable()
		}
		return nil
	})
	if err != nil {
		return SaveResult{}, err
	}
	return result, nil
}

// keyText gives the text form of an external ID value.
func keyText(v any) (string, bool) {
	var s string
	switch v := v.(type) {
	case nil:
	case string:
		s = v
	case fmt.Stringer:
		s = v.String()
	default:
		s = fmt.Sprint(v)
	}
	return s, s != ""
}
