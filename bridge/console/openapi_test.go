package console_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/operate"
)

// document is openapi.yaml, as JSON knows it.
func document(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	require.NoError(t, err)
	return tree.(map[string]any)
}

func schema(t *testing.T, doc map[string]any, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("https://example.com/openapi.json", doc))
	s, err := c.Compile("https://example.com/openapi.json#/components/schemas/" + name)
	require.NoError(t, err, name)
	return s
}

func operation(t *testing.T, doc map[string]any, method, path string) map[string]any {
	t.Helper()
	item, ok := doc["paths"].(map[string]any)[path].(map[string]any)
	require.True(t, ok, "%s is not described", path)
	op, ok := item[strings.ToLower(method)].(map[string]any)
	require.True(t, ok, "%s %s is not described", method, path)
	return op
}

// schemaName digs for the name in {content: {application/json: {schema: {$ref}}}}.
func schemaName(t *testing.T, holder any) string {
	t.Helper()
	content := holder.(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)
	ref := content["schema"].(map[string]any)["$ref"].(string)
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

func TestRoutesAndDocumentAreTheSame(t *testing.T) {
	t.Parallel()
	engine := newBench(t, nil).Handler.(*gin.Engine)
	var routes, described []string
	for _, r := range engine.Routes() {
		routes = append(routes, r.Method+" "+strings.ReplaceAll(r.Path, ":id", "{id}"))
	}
	ids := map[string]bool{}
	for path, item := range document(t)["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
			id := op.(map[string]any)["operationId"].(string)
			assert.False(t, ids[id], "%s stands twice", id)
			ids[id] = true
		}
	}
	assert.ElementsMatch(t, routes, described)
}

// TestAnswersAreAsDescribed asks every route and holds what was sent and
// answered to the document.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	doc := document(t)
	const id = "/admin/v1/events/shop:order%2F1%20+2%25"
	order := `{"filter":{"source":"shop","since":"2026-01-05T12:00:00Z"},"reason":"r","dry_run":true}`
	asked := map[string]bool{}
	for _, c := range []struct{ method, path, target, body string }{
		{"GET", "/admin/v1/events", "/admin/v1/events?limit=1", ""},
		{"GET", "/admin/v1/groups", "/admin/v1/groups", ""},
		{"GET", "/admin/v1/events/{id}", id, ""},
		{"GET", "/admin/v1/events/{id}/history", id + "/history", ""},
		{"POST", "/admin/v1/events/{id}/replay", id + "/replay", `{"force":true}`},
		{"POST", "/admin/v1/events/{id}/discard", id + "/discard", `{"reason":"r"}`},
		{"POST", "/admin/v1/events/{id}/accept", id + "/accept", `{"reason":"r"}`},
		{"POST", "/admin/v1/replay", "/admin/v1/replay", order},
		{"POST", "/admin/v1/discard", "/admin/v1/discard", order},
		{"POST", "/admin/v1/accept", "/admin/v1/accept", order},
		{"GET", "/admin/v1/effects", "/admin/v1/effects", ""},
		{"GET", "/admin/v1/stats", "/admin/v1/stats", ""},
		{"GET", "/admin/v1/drift", "/admin/v1/drift", ""},
		{"GET", "/admin/v1/sources", "/admin/v1/sources", ""},
		{"GET", "/admin/v1/spool", "/admin/v1/spool?limit=2", ""},
		{"POST", "/admin/v1/spool/retry", "/admin/v1/spool/retry", `{"ids":["B03/1"]}`},
	} {
		op := operation(t, doc, c.method, c.path)
		asked[c.method+c.path] = true
		if c.body != "" {
			fits(t, schema(t, doc, schemaName(t, op["requestBody"])), c.body)
		}
		responses := op["responses"].(map[string]any)
		r := newBench(t, nil).do(c.method, c.target, c.body)
		require.Equal(t, http.StatusOK, r.status, r.body)
		fits(t, schema(t, doc, schemaName(t, responses["200"])), r.body)

		b := newBench(t, nil)
		b.desk.story = operate.Story{}
		b.desk.report.Failed, b.desk.report.Refusals = 1, []operate.Refusal{{EventID: "shop:1", Code: "X"}}
		if r = b.do(c.method, c.target, c.body); r.status != http.StatusOK {
			fits(t, schema(t, doc, "Problem"), r.body)
			continue
		}
		fits(t, schema(t, doc, schemaName(t, responses["200"])), r.body)
	}
	assert.Len(t, asked, len(newBench(t, nil).Handler.(*gin.Engine).Routes())-1, "all but the document itself")
	r := newBench(t, nil).do("GET", "/admin/v1/openapi.yaml", "")
	text, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(text), r.body)
}

// TestEveryParameterIsTaken: the parameters of the document are those of the
// routes.
func TestEveryParameterIsTaken(t *testing.T) {
	t.Parallel()
	for path, item := range document(t)["paths"].(map[string]any) {
		get, ok := item.(map[string]any)["get"].(map[string]any)
		if !ok || path == "/admin/v1/openapi.yaml" {
			continue
		}
		target := strings.ReplaceAll(path, "{id}", "shop:order%2F1%20+2%25")
		parameters, _ := get["parameters"].([]any)
		for _, p := range parameters {
			if name, ok := p.(map[string]any)["name"].(string); ok {
				assert.NotContains(t, newBench(t, nil).do("GET", target+"?"+name+"=?", "").body, "unknown parameter", name)
			}
		}
		r := newBench(t, nil).do("GET", target+"?sorce=shop", "")
		assert.Equal(t, http.StatusBadRequest, r.status, path)
		assert.Contains(t, r.body, "unknown parameter", path)
	}
}

// TestBodiesThatAreNeededAreRequired: a body whose schema has members that must
// be there can't be left out.
func TestBodiesThatAreNeededAreRequired(t *testing.T) {
	t.Parallel()
	doc := document(t)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for path, item := range doc["paths"].(map[string]any) {
		post, ok := item.(map[string]any)["post"].(map[string]any)
		if !ok {
			continue
		}
		body := post["requestBody"].(map[string]any)
		s := schemas[schemaName(t, body)].(map[string]any)
		required, _ := body["required"].(bool)
		assert.Equal(t, s["required"] != nil || s["oneOf"] != nil, required, path)
	}
}

func fits(t *testing.T, s *jsonschema.Schema, text string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	assert.NoError(t, s.Validate(v), text)
}
