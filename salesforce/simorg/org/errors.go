package org

import (
	"fmt"
	"strings"

	"sfbridge/salesforce/simorg/schema"
)

// RowError is why one row was refused.
type RowError struct {
	Code    string
	Message string
	Fields  []string
}

func (e RowError) Error() string { return e.Code + ": " + e.Message }

func refuse(code string, fields []string, format string, args ...any) *RowError {
	return &RowError{Code: code, Message: fmt.Sprintf(format, args...), Fields: fields}
}

// Codes that callers treat in a way of their own.
const (
	CodeDeleted     = "ENTITY_IS_DELETED"
	CodeRolledBack  = "ALL_OR_NONE_OPERATION_ROLLED_BACK"
	CodeHalted      = "PROCESSING_HALTED"
	CodeDuplicateID = "DUPLICATE_EXTERNAL_ID"
	CodeNotFound    = "NOT_FOUND"
)

func malformedID(label, id string, fields ...string) *RowError {
	return refuse("MALFORMED_ID", fields, "%s ID: id value of incorrect type: %s", label, id)
}

func badReference() *RowError {
	return refuse("INVALID_CROSS_REFERENCE_KEY", nil, "invalid cross reference id")
}

func isDeleted() *RowError { return refuse(CodeDeleted, nil, "entity is deleted") }

func rowLocked(ids ...string) *RowError {
	if len(ids) == 0 {
		return refuse("UNABLE_TO_LOCK_ROW", nil, "unable to obtain exclusive access to this record")
	}
	return refuse("UNABLE_TO_LOCK_ROW", nil, "unable to obtain exclusive access to this record or %d records: %s",
		len(ids), strings.Join(ids, ","))
}

func notWritable(fields ...*schema.Field) *RowError {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return refuse("INVALID_FIELD_FOR_INSERT_UPDATE", names,
		"Unable to create/update fields: %s. Please check the security settings of this field and verify that it is read/write for your profile or permission set.",
		strings.Join(names, ", "))
}

func missing(fields []string) *RowError {
	return refuse("REQUIRED_FIELD_MISSING", fields, "Required fields are missing: [%s]", strings.Join(fields, ", "))
}

func (o *Org) duplicateValue(f *schema.Field, id string) *RowError {
	e := refuse("DUPLICATE_VALUE", nil, "duplicate value found: %s duplicates value on record with id: %s", f.Name, id[:15])
	if o.cfg.DuplicateUnknown {
		e.Message = "duplicate value found: <unknown> duplicates value on record with id: <unknown>"
	}
	if o.cfg.DuplicateFields {
		e.Fields = []string{f.Name}
	}
	return e
}
