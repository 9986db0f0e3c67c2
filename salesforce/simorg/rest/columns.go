package rest

import (
	"strconv"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

// columnMetadata answers query?columns=true: the columns, no rows.
func columnMetadata(q *soql.Query) []byte {
	b := append([]byte(nil), `{"columnMetadata":`...)
	selected := false
	if q.Select != nil {
		b = appendColumns(b, q.Select)
		for _, item := range q.Select.Items {
			selected = selected || item.Name == "Id"
		}
	} else {
		b = append(b, '[')
		for i, column := range q.Columns {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendColumn(b, column.Name, column.Field, true)
			b = append(b, `,"joinColumns":[]}`...)
		}
		b = append(b, ']')
	}
	b = append(b, `,"entityName":"`+q.Object.Name+`","groupBy":`...)
	b = strconv.AppendBool(b, q.Columns != nil)
	b = append(b, `,"idSelected":`...)
	b = strconv.AppendBool(b, selected)
	return append(b, `,"keyPrefix":"`+q.Object.KeyPrefix+`"}`...)
}

func appendColumns(b []byte, sel *soql.Selection) []byte {
	b = append(b, '[')
	for i, item := range sel.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendColumn(b, item.Name, item.Field, false)
		b = append(b, `,"joinColumns":`...)
		if item.Parent != nil {
			b = appendColumns(b, item.Parent)
		} else {
			b = append(b, "[]"...)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendColumn writes a column but for its joinColumns and closing brace.
func appendColumn(b []byte, name string, f *schema.Field, aggregate bool) []byte {
	kind := schema.KindNumber
	label, custom := name, false
	if f != nil {
		kind, label, custom = f.Kind(), f.Name, f.Custom
	}
	flag := func(key string, v bool) {
		b = append(b, `,"`+key+`":`...)
		b = strconv.AppendBool(b, v)
	}
	b = append(b, '{')
	b = append(b, `"columnName":`...)
	b = appendString(b, name)
	b = append(b, `,"displayName":`...)
	b = appendString(b, label)
	b = append(b, `,"apexType":"`+apexType(f)+`","foreignKeyName":null`...)
	flag("aggregate", aggregate)
	flag("custom", custom)
	flag("booleanType", kind == schema.KindBool)
	flag("numberType", kind == schema.KindNumber)
	flag("textType", kind == schema.KindText || kind == schema.KindPicklist || kind == schema.KindID)
	flag("insertable", f != nil && f.Createable)
	flag("updatable", f != nil && f.Updateable)
	return b
}

func apexType(f *schema.Field) string {
	if f == nil {
		return "Integer"
	}
	switch f.Kind() {
	case schema.KindNumber:
		return "Double"
	case schema.KindBool:
		return "Boolean"
	case schema.KindDate:
		return "Date"
	case schema.KindDateTime:
		return "Datetime"
	case schema.KindID:
		return "Id"
	}
	return "String"
}
