package salesforce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

func graph(id string, ok bool, subs ...string) string {
	return fmt.Sprintf(`{"graphId":%q,"graphResponse":%s,"isSuccessful":%t}`, id, composite(subs...), ok)
}

func TestGraph(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `{"graphs":[`+strings.Join([]string{
		graph("g1", true, sub("a", 201, goodRow), sub("b", 204, "null")),
		graph("g2", false, sub("a", 400, halted), sub("b", 400, `[{"errorCode":"UNABLE_TO_LOCK_ROW","message":"m"}]`)),
		graph("g3", false, sub("a", 400, halted), sub("b", 400, halted)),
		graph("g4", true, sub("a", 201, goodRow), sub("b", 400, halted)),
		graph("g5", false, sub("a", 400, `[{"errorCode":"INVALID_INPUT","message":"too many nodes"}]`)),
	}, ",")+`]}`))
	var graphs []salesforce.Graph
	for i := range 5 {
		graphs = append(graphs, salesforce.Graph{ID: fmt.Sprintf("g%d", i+1), Requests: []salesforce.Subrequest{
			salesforce.InsertRow("a", payment("ch", "1")),
			salesforce.UpdateRow("b", salesforce.Row{Object: "Inbound_Event__c", ID: "a02000000000001AAA"}),
		}})
	}
	results, err := newClient(t, o).Graph(t.Context(), graphs)
	require.NoError(t, err)
	require.Len(t, results, 5)
	assert.True(t, results[0].OK)
	assert.False(t, results[0].Halted())
	assert.False(t, results[1].OK)
	assert.False(t, results[1].Halted())
	assert.True(t, salesforce.Culprits(results[1].Responses)[0].Fault.Lock())
	assert.True(t, results[2].Halted())
	assert.False(t, results[3].OK, "a bad status outweighs isSuccessful")
	assert.False(t, results[4].OK)
	assert.Equal(t, "INVALID_INPUT", results[4].Responses[0].Fault().Code)

	got := o.requests()[0]
	assert.Equal(t, "POST /services/data/v65.0/composite/graph", got.Method+" "+got.URI)
	first := got.json(t)["graphs"].([]any)[0].(map[string]any)
	assert.Equal(t, "g1", first["graphId"])
	assert.Len(t, first["compositeRequest"], 2)
}

func TestGraphAnswersThatTellNothing(t *testing.T) {
	t.Parallel()
	one := []salesforce.Graph{{ID: "g1", Requests: []salesforce.Subrequest{salesforce.InsertRow("a", payment("ch", "1"))}}}
	for name, body := range map[string]string{
		"none":            `{"graphs":[]}`,
		"another":         `{"graphs":[` + graph("g2", true, sub("a", 201, goodRow)) + `]}`,
		"success, no row": `{"graphs":[` + graph("g1", true) + `]}`,
		"list":            `[]`,
	} {
		o := newOrg(t, says(200, body))
		_, err := newClient(t, o).Graph(t.Context(), one)
		assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class, name)
	}
}

func TestGraphMistakesAreToldWithoutACall(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, "{}"))
	c := newClient(t, o)
	graphs := func(n, rows int) []salesforce.Graph {
		var list []salesforce.Graph
		for i := range n {
			g := salesforce.Graph{ID: fmt.Sprintf("g%d", i)}
			for j := range rows {
				g.Requests = append(g.Requests, salesforce.InsertRow(fmt.Sprintf("r%d", j), payment("x", "1")))
			}
			list = append(list, g)
		}
		return list
	}
	for name, list := range map[string][]salesforce.Graph{
		"76 graphs":        graphs(76, 1),
		"501 rows":         graphs(3, 167),
		"id twice":         {{ID: "g"}, {ID: "g"}},
		"no id":            {{ID: ""}},
		"collection":       {{ID: "g", Requests: []salesforce.Subrequest{salesforce.InsertRows("a", oneRow(), true)}}},
		"query":            {{ID: "g", Requests: []salesforce.Subrequest{salesforce.QueryRows("a", selectID)}}},
		"mistake in a row": {{ID: "g", Requests: []salesforce.Subrequest{salesforce.DeleteRow("a", "X__c", "x")}}},
	} {
		_, err := c.Graph(t.Context(), list)
		assert.Equal(t, salesforce.ClassData, asError(t, err).Class, name)
	}
	results, err := c.Graph(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, results)
	assert.Empty(t, o.requests())
}
