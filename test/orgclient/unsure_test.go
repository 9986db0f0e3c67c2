package orgclient

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg"
)

// Where nobody is sure what Salesforce answers, the client reads either way.
func TestUnsureAnswers(t *testing.T) {
	t.Parallel()
	with := func(name string) func(*simorg.Config) {
		return func(c *simorg.Config) { c.Unsure = []string{name} }
	}
	badBatch := []salesforce.Row{charge("a"), charge("b", "Status__c", "Nonsense"), charge("c")}

	t.Run("culprit-unnamed", func(t *testing.T) {
		t.Parallel()
		s := start(t, with("culprit-unnamed"))
		subs, err := s.client.Composite(t.Context(), []salesforce.Subrequest{salesforce.UpsertRows("rows", key, badBatch, true)}, true)
		require.NoError(t, err)
		assert.False(t, salesforce.Committed(subs))
		assert.Empty(t, salesforce.Culprits(subs))
		assert.Empty(t, s.org.Rows("Payment__c"))
	})
	t.Run("halted-mates", func(t *testing.T) {
		t.Parallel()
		s := start(t, with("halted-mates"))
		results, err := s.client.UpsertAll(t.Context(), key, badBatch, true)
		require.NoError(t, err)
		assert.Equal(t, salesforce.ClassCollateral, results[0].Class())
		assert.Equal(t, salesforce.ClassData, results[1].Class())
		assert.Equal(t, salesforce.ClassCollateral, results[2].Class())
	})
	t.Run("created-missing", func(t *testing.T) {
		t.Parallel()
		s := start(t, with("created-missing"))
		results, err := s.client.UpsertAll(t.Context(), key, badBatch, false)
		require.NoError(t, err)
		assert.True(t, results[0].Success)
		assert.Nil(t, results[0].Created)
	})
	for _, name := range []string{"duplicate-unknown-id", "duplicate-fields-filled"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, with(name))
			_, err := s.client.InsertAll(t.Context(), charges(1, "ch"), false)
			require.NoError(t, err)
			results, err := s.client.InsertAll(t.Context(), charges(1, "ch"), false)
			require.NoError(t, err)
			assert.Equal(t, salesforce.ClassDuplicate, results[0].Class())
			_, named := results[0].Fault().Duplicate()
			assert.True(t, named)
		})
	}
}
