package fault_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/fault"
)

func TestFirstMatchWins(t *testing.T) {
	t.Parallel()
	var s fault.Set
	s.Add(
		fault.Fault{Operation: fault.Query, Object: "A__c", Kind: fault.Limit, Times: 1},
		fault.Fault{Operation: fault.Any, Kind: fault.Unavailable, After: 1, Times: 2},
	)
	var got []fault.Kind
	for _, subject := range []fault.Subject{
		{Operation: fault.Query, Object: "B__c"}, // passes the second once
		{Operation: fault.Query, Object: "a__C"}, // the first
		{Operation: fault.Query, Object: "A__c"}, // the first is spent: the second
		{Operation: fault.Row},                   // the second
		{Operation: fault.Row},                   // all spent
	} {
		f, _ := s.Call(subject)
		got = append(got, f.Kind)
	}
	assert.Equal(t, []fault.Kind{"", fault.Limit, fault.Unavailable, fault.Unavailable, ""}, got)
}

func TestRowsByKeyAndByPlace(t *testing.T) {
	t.Parallel()
	subject := []fault.Subject{{Operation: fault.CollectionsUpsert, Object: "A__c"}}
	keys := [][]string{{"a"}, {"b", "b2"}, {"c"}}
	var s fault.Set
	s.Add(
		fault.Fault{Operation: fault.Any, Key: "b2", Kind: fault.LockRow, Times: 2},
		fault.Fault{Operation: fault.Any, Kind: fault.Validation, Times: 1},
		fault.Fault{Operation: fault.Any, Kind: fault.StorageFull, Times: 1},
		fault.Fault{Operation: fault.Query, Key: "c", Kind: fault.LockRow},
	)
	assert.Equal(t, map[int]fault.Kind{1: fault.LockRow, 0: fault.Validation, 2: fault.StorageFull}, s.Rows(subject, keys))
	assert.Equal(t, map[int]fault.Kind{1: fault.LockRow}, s.Rows(subject, keys))
	assert.Empty(t, s.Rows(subject, keys))
	s.Add(fault.Fault{Operation: fault.Any, Kind: fault.Validation})
	for range 3 {
		assert.Equal(t, map[int]fault.Kind{0: fault.Validation}, s.Rows(subject, keys), "0 times is for ever")
	}
	s.Clear()
	assert.Empty(t, s.Rows(subject, keys))
}

func TestWireForm(t *testing.T) {
	t.Parallel()
	list, err := fault.Parse([]byte(`[{"operation":"collections_upsert","object":"A__c","key":"k","fault":"lock_row","after":2,"times":0,"delay":"1s"},{"fault":"limit"}]`))
	require.NoError(t, err)
	assert.Equal(t, fault.Fault{Operation: fault.Any, Kind: fault.Limit, Times: 1}, list[1])
	data, err := json.Marshal(list)
	require.NoError(t, err)
	again, err := fault.Parse(data)
	require.NoError(t, err)
	assert.Equal(t, list, again)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"operation":"query","object":"","key":"","fault":"slow","after":0,"times":1,"delay":"250ms"}]`))
	f.Add([]byte(`[{"fault":"lock_row","key":"ch_1","times":0}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := fault.Parse(data)
		if err != nil {
			return
		}
		for _, one := range list {
			require.NoError(t, one.Validate())
		}
	})
}
