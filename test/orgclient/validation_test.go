package orgclient

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

func TestValidationRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	rules, err := s.client.ValidationRules(t.Context(), "Payment__c")
	require.NoError(t, err)
	require.Len(t, rules, 1)
	assert.Equal(t, "Refuse_Moved", rules[0].Name)
	assert.True(t, rules[0].Active)
	assert.Contains(t, rules[0].Message, salesforce.TokenMoved)

	rules, err = s.client.ValidationRules(t.Context(), "Nothing__c")
	require.NoError(t, err)
	assert.Empty(t, rules, "the org names no rules of an object that it doesn't have")
}

func TestHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		class  salesforce.Class
		hidden bool
	}{
		{http.StatusBadRequest, salesforce.ClassConfiguration, true},
		{http.StatusForbidden, salesforce.ClassConfiguration, true},
		{http.StatusNotFound, salesforce.ClassConfiguration, true},
		{http.StatusForbidden, salesforce.ClassLimit, false},
		{http.StatusUnauthorized, salesforce.ClassAuth, false},
		{http.StatusBadRequest, salesforce.ClassAuth, false}, // a login that was refused
		{http.StatusServiceUnavailable, salesforce.ClassRetryable, false},
	} {
		err := &salesforce.Error{Status: c.status, Fault: salesforce.Fault{Class: c.class}}
		assert.Equal(t, c.hidden, salesforce.Hidden(err), "%d %s", c.status, c.class)
	}
	assert.False(t, salesforce.Hidden(assert.AnError))
}
