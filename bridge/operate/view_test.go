package operate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/operate"
)

func TestStoredBytesForPeople(t *testing.T) {
	t.Parallel()
	assert.Nil(t, operate.JSON(nil))
	assert.Equal(t, json.RawMessage(`{"a":1.10}`), operate.JSON([]byte(`{"a":1.10}`)))
	assert.Equal(t, "a=1", operate.JSON([]byte("a=1")))
	assert.Equal(t, "a\uFFFDb", operate.JSON([]byte("a\xffb")))
	assert.Equal(t, "\"\uFFFD\"", operate.JSON([]byte("\"\xff\"")), "JSON is valid UTF-8")
	assert.Equal(t, []string{}, operate.Lines(""))
	assert.Equal(t, []string{"a", "b"}, operate.Lines("a\nb"))
}
