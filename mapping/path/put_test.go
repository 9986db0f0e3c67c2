package path_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

func TestPut(t *testing.T) {
	t.Parallel()
	const tree = `{"data":{"object":{"id":"ch_1"},"list":[1,2]},"none":null}`
	for name, c := range map[string]struct{ path, want string }{
		"the whole event":    {`$`, `"new"`},
		"a member":           {`$.data.object`, `{"data":{"list":[1,2],"object":"new"},"none":null}`},
		"a new member":       {`$.data.more`, `{"data":{"list":[1,2],"more":"new","object":{"id":"ch_1"}},"none":null}`},
		"objects on the way": {`$.a.b`, `{"a":{"b":"new"},"data":{"list":[1,2],"object":{"id":"ch_1"}},"none":null}`},
		"null on the way":    {`$.none.b`, `{"data":{"list":[1,2],"object":{"id":"ch_1"}},"none":{"b":"new"}}`},
		"an element":         {`$.data.list[1]`, `{"data":{"list":[1,"new"],"object":{"id":"ch_1"}},"none":null}`},
		"the last element":   {`$.data.list[-1]`, `{"data":{"list":[1,"new"],"object":{"id":"ch_1"}},"none":null}`},
		"no such element":    {`$.data.list[2]`, ``},
		"through text":       {`$.data.object.id.x`, ``},
		"an element of none": {`$.none[0]`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := path.DecodeJSON([]byte(tree))
			require.NoError(t, err)
			p, err := path.Parse(c.path)
			require.NoError(t, err)
			got, ok := p.Put(before, "new")
			kept, err := path.AppendJSON(nil, before)
			require.NoError(t, err)
			want, err := path.DecodeJSON([]byte(tree))
			require.NoError(t, err)
			assert.Equal(t, want, before, "the tree was changed: %s", kept)
			require.Equal(t, c.want != "", ok)
			if ok {
				text, err := path.AppendJSON(nil, got)
				require.NoError(t, err)
				assert.Equal(t, c.want, string(text))
			}
		})
	}
}
