package simorg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type graphAnswer struct {
	Graphs []struct {
		GraphID       string
		IsSuccessful  bool
		GraphResponse struct{ CompositeResponse []sub }
	}
}

func (s *sim) graph(graphs ...string) graphAnswer {
	s.t.Helper()
	a := s.do("POST", "composite/graph", `{"graphs":[`+strings.Join(graphs, ",")+`]}`)
	require.Equal(s.t, 200, a.StatusCode, a.body)
	var out graphAnswer
	a.into(s.t, &out)
	return out
}

func graphOf(id string, steps ...string) string {
	return fmt.Sprintf(`{"graphId":%q,"compositeRequest":[%s]}`, id, strings.Join(steps, ","))
}

func TestGraph(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.graph(
		graphOf("g1", step("POST", "sobjects/Customer__c", "c", `{}`), step("POST", "sobjects/Payment__c", "p", `{"Customer__c":"@{c.id}"}`)),
		graphOf("g2", step("POST", "sobjects/Customer__c", "c", `{}`), step("POST", "sobjects/Payment__c", "p", `{"Status__c":"Odd"}`)))
	assert.True(t, got.Graphs[0].IsSuccessful)
	assert.Equal(t, 201, got.Graphs[0].GraphResponse.CompositeResponse[1].HTTPStatusCode)
	assert.False(t, got.Graphs[1].IsSuccessful)
	assert.Equal(t, "PROCESSING_HALTED", got.Graphs[1].GraphResponse.CompositeResponse[0].errorCode(t))
	assert.Equal(t, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", got.Graphs[1].GraphResponse.CompositeResponse[1].errorCode(t))
	assert.Equal(t, map[string]int{"Customer__c": 1, "Payment__c": 1}, s.Stats().Rows)
	assert.Equal(t, 1, s.Stats().APICalls.Total)
}

func TestGraphsHaltAfterFourteenFailures(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var graphs []string
	for i := range 15 {
		graphs = append(graphs, graphOf(fmt.Sprint("bad", i), step("POST", "sobjects/Payment__c", "p", `{"Status__c":"Odd"}`)))
	}
	graphs = append(graphs, graphOf("good", step("POST", "sobjects/Payment__c", "p", `{}`)))
	got := s.graph(graphs...)
	assert.Equal(t, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", got.Graphs[13].GraphResponse.CompositeResponse[0].errorCode(t))
	assert.Equal(t, "PROCESSING_HALTED", got.Graphs[14].GraphResponse.CompositeResponse[0].errorCode(t))
	assert.Equal(t, "PROCESSING_HALTED", got.Graphs[15].GraphResponse.CompositeResponse[0].errorCode(t))
	assert.Empty(t, s.Stats().Rows)
}

func TestGraphEnvelope(t *testing.T) {
	t.Parallel()
	s := setup(t)
	one := step("POST", "sobjects/Payment__c", "p", `{}`)
	chain := func(n int) string {
		steps := []string{step("POST", "sobjects/Account", "r0", `{"Name":"a"}`)}
		for i := 1; i < n; i++ {
			steps = append(steps, step("POST", "sobjects/Account", fmt.Sprint("r", i), fmt.Sprintf(`{"Name":"a","ParentId":"@{r%d.id}"}`, i-1)))
		}
		return graphOf("g", steps...)
	}
	var many []string
	for i := range 76 {
		many = append(many, graphOf(fmt.Sprint("g", i), one))
	}
	var nodes []string
	for i := range 501 {
		nodes = append(nodes, step("POST", "sobjects/Payment__c", fmt.Sprint("p", i), `{}`))
	}
	for _, c := range []struct {
		name, graphs string
		status       int
	}{
		{"75 graphs", strings.Join(many[:75], ","), 200},
		{"76 graphs", strings.Join(many, ","), 400},
		{"500 nodes", graphOf("g", nodes[:500]...), 200},
		{"501 nodes", graphOf("g", nodes...), 400},
		{"15 levels", chain(15), 200},
		{"16 levels", chain(16), 400},
		{"a query", graphOf("g", step("GET", "query?q=SELECT+Id+FROM+Account", "q", "")), 400},
		{"a collection", graphOf("g", step("PATCH", upsertPayments, "c", records("Payment__c", false, charge("a")))), 400},
		{"same id", graphOf("g", one) + "," + graphOf("g", one), 400},
		{"no nodes", graphOf("g"), 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.do("POST", "composite/graph", `{"graphs":[`+c.graphs+`]}`)
			assert.Equal(t, c.status, a.StatusCode, a.body)
		})
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	good := `{"method":"POST","url":"v65.0/sobjects/Payment__c","richInput":{"Note__c":"x"}}`
	bad := `{"method":"POST","url":"v65.0/sobjects/Payment__c","richInput":{"Status__c":"Odd"}}`
	a := s.do("POST", "composite/batch", `{"haltOnError":true,"batchRequests":[`+good+`,`+bad+`,`+good+`]}`)
	require.Equal(t, 200, a.StatusCode, a.body)
	var out struct {
		HasErrors bool
		Results   []struct{ StatusCode int }
	}
	a.into(t, &out)
	assert.True(t, out.HasErrors)
	assert.Equal(t, 201, out.Results[0].StatusCode)
	assert.Equal(t, 400, out.Results[1].StatusCode)
	assert.Equal(t, 412, out.Results[2].StatusCode)
	assert.Contains(t, a.body, "BATCH_PROCESSING_HALTED")
	assert.Equal(t, 2, s.Stats().APICalls.Total, "every subrequest that runs counts")
	assert.Len(t, s.Rows("Payment__c"), 1)
}
