package salesforce

import (
	"context"
	"net/http"

	"sfbridge/salesforce/soql"
)

// ValidationRule is a validation rule of an object. Its formula can be asked
// for by the Metadata API only.
type ValidationRule struct {
	Name    string `json:"ValidationName"`
	Active  bool   `json:"Active"`
	Message string `json:"ErrorMessage"`
}

// ValidationRules asks the Tooling API for the validation rules of an object.
// Salesforce shows them only to users who may view the setup; all others get
// an error that Hidden tells from real failures.
func (c *Client) ValidationRules(ctx context.Context, object string) ([]ValidationRule, error) {
	query := "SELECT Id, ValidationName, Active, ErrorMessage FROM ValidationRule WHERE EntityDefinition.QualifiedApiName = " +
		soql.Quote(object)
	var answer struct {
		Records []ValidationRule `json:"records"`
	}
	req := request{op: OpQuery, object: object, method: http.MethodGet, path: "tooling/query?q=" + escapeQuery(query)}
	if err := c.call(ctx, req, jsonInto(&answer)); err != nil {
		return nil, err
	}
	return answer.Records, nil
}

// Hidden reports whether an error says that the user may not see what was asked
// for, or that the org doesn't have it.
func Hidden(err error) bool {
	e, ok := AsError(err)
	if !ok || e.Class == ClassLimit || e.Class == ClassRetryable || e.Class == ClassAuth {
		return false
	}
	return e.Status == http.StatusBadRequest || e.Status == http.StatusForbidden || e.Status == http.StatusNotFound
}
