package apply

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWholeNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"17": 17, "17.0": 17, "1.7E1": 17, "-3": -3, "9007199254740992": 1 << 53} {
		got := wholeNumber(json.Number(in))
		if assert.NotNil(t, got, in) {
			assert.Equal(t, want, *got, in)
		}
	}
	for _, in := range []any{nil, "17", json.Number("1.5"), true} {
		assert.Nil(t, wholeNumber(in))
	}
}
