// Package soql builds queries in which values can't be mistaken for syntax.
//
//	q := soql.Select("Id", "Status__c").
//		From("Inbound_Event__c").
//		Where(soql.In("Queue__c", queues), soql.Or(soql.Null("Next_Attempt_At__c"), soql.AtMost("Next_Attempt_At__c", now))).
//		OrderBy("Source_Timestamp__c", "Id").
//		Limit(200)
//	text, err := q.Build()
//
// Names of fields and objects are checked, not quoted; values are always
// quoted or formatted by their type. Chunks cuts long IN lists.
package soql

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Query is a query under construction. Its methods return it, so that they chain.
type Query struct {
	fields []string
	object string
	where  []Cond
	group  []string
	order  []string
	limit  int
	offset int
	err    error
}

var (
	namePattern  = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*$`)
	fieldPattern = regexp.MustCompile(`^(?:[A-Za-z]\w*(?:\.[A-Za-z]\w*)*|(?i:count)\(\)|(?i:count|min|max|sum|avg|count_distinct)\([A-Za-z]\w*(?:\.[A-Za-z]\w*)*\)(?: [A-Za-z]\w*)?)$`)
	orderPattern = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*( (?i:ASC|DESC))?( (?i:NULLS (FIRST|LAST)))?$`)
)

// Select begins a query for fields (relationship fields with dots) or
// aggregates such as "count()".
func Select(fields ...string) *Query {
	q := &Query{fields: fields}
	if len(fields) == 0 {
		q.fail("a query without fields")
	}
	for _, f := range fields {
		if !fieldPattern.MatchString(f) {
			q.fail("%q is no field name", f)
		}
	}
	return q
}

// From names the object.
func (q *Query) From(object string) *Query {
	if !namePattern.MatchString(object) {
		q.fail("%q is no object name", object)
	}
	q.object = object
	return q
}

// Where adds conditions, all of which must hold.
func (q *Query) Where(conds ...Cond) *Query {
	q.where = append(q.where, conds...)
	return q
}

// GroupBy adds fields by which aggregates are grouped.
func (q *Query) GroupBy(fields ...string) *Query {
	for _, f := range fields {
		if !namePattern.MatchString(f) {
			q.fail("%q is no field to group by", f)
		}
	}
	q.group = append(q.group, fields...)
	return q
}

// OrderBy adds sort fields, each with an optional " DESC" and " NULLS LAST".
func (q *Query) OrderBy(fields ...string) *Query {
	for _, f := range fields {
		if !orderPattern.MatchString(f) {
			q.fail("%q is no sort field", f)
		}
	}
	q.order = append(q.order, fields...)
	return q
}

// Limit bounds the number of records; 0 means no bound.
func (q *Query) Limit(n int) *Query {
	if n < 0 {
		q.fail("a limit of %d", n)
	}
	q.limit = n
	return q
}

// Offset skips records; Salesforce takes at most 2,000.
func (q *Query) Offset(n int) *Query {
	if n < 0 || n > 2000 {
		q.fail("an offset of %d: Salesforce takes 0 to 2000", n)
	}
	q.offset = n
	return q
}

// Build gives the text of the query.
func (q *Query) Build() (string, error) {
	if q.object == "" {
		q.fail("a query without an object")
	}
	where := And(q.where...)
	if err := errors.Join(q.err, where.err); err != nil {
		return "", fmt.Errorf("building query: %w", err)
	}
	var b strings.Builder
	b.WriteString("SELECT " + strings.Join(q.fields, ", ") + " FROM " + q.object)
	if where.text != "" {
		b.WriteString(" WHERE " + where.text)
	}
	if len(q.group) > 0 {
		b.WriteString(" GROUP BY " + strings.Join(q.group, ", "))
	}
	if len(q.order) > 0 {
		b.WriteString(" ORDER BY " + strings.Join(q.order, ", "))
	}
	if q.limit > 0 {
		b.WriteString(" LIMIT " + strconv.Itoa(q.limit))
	}
	if q.offset > 0 {
		b.WriteString(" OFFSET " + strconv.Itoa(q.offset))
	}
	return b.String(), nil
}

func (q *Query) fail(format string, args ...any) {
	q.err = errors.Join(q.err, fmt.Errorf(format, args...))
}
