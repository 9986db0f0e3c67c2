package rest

import (
	"net/http"
	"regexp"

	"sfbridge/salesforce/simorg/schema"
)

// rulesQuery is the one question to the Tooling API that is simulated: the
// validation rules of an object.
var rulesQuery = regexp.MustCompile(
	`(?is)^\s*SELECT\s+[\w.\s,]+?\s+FROM\s+ValidationRule\s+WHERE\s+EntityDefinition\.QualifiedApiName\s*=\s*'(\w+)'\s*$`)

// tooling serves tooling/query.
func (a *API) tooling(q *request) reply {
	switch {
	case len(q.path) != 2 || q.path[1] != "query":
		return notFound()
	case q.method != http.MethodGet && q.method != http.MethodHead:
		return notAllowed(q.method, "HEAD,GET")
	}
	asked := rulesQuery.FindStringSubmatch(q.query.Get("q"))
	if asked == nil {
		return bad("MALFORMED_QUERY", "only SELECT … FROM ValidationRule WHERE EntityDefinition.QualifiedApiName = '…' is simulated here").reply()
	}
	records := []map[string]any{}
	if obj := a.cfg.Org.Schema().Object(asked[1]); obj != nil {
		for i, rule := range obj.Rules {
			records = append(records, validationRule(q, obj, rule, i))
		}
	}
	return ok(marshal(map[string]any{
		"size": len(records), "totalSize": len(records), "done": true, "queryLocator": nil,
		"entityTypeName": "ValidationRule", "records": records,
	}))
}

// validationRule is a rule with all its simulated columns; only active rules
// are part of a schema.
func validationRule(q *request, obj *schema.Object, rule schema.Rule, position int) map[string]any {
	id := schema.NewID("03d", uint64(position)+1)
	return map[string]any{
		"attributes": map[string]string{"type": "ValidationRule",
			"url": "/services/data/v" + itoa(q.version) + ".0/tooling/sobjects/ValidationRule/" + id},
		"Id": id, "ValidationName": rule.Name, "Active": true, "ErrorMessage": rule.Message,
		"ErrorDisplayField": rule.DisplayField, "EntityDefinitionId": obj.Name,
	}
}
