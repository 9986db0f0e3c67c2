package metadata_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/internal/metadata"
)

const field = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ours -->
<CustomField xmlns="http://soap.sforce.com/2006/04/metadata">
  <fullName>A__c</fullName>

  <!-- why -->
  <label>A &amp; B</label>
  <type>Text</type>
</CustomField>
`

func TestWhatIsNotChangedKeepsEveryByte(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../apex/*/main/default/*/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		d, err := metadata.Parse(data)
		require.NoError(t, err, name)
		assert.Equal(t, string(data), string(d.Bytes()), name)
	}
	d, err := metadata.Parse([]byte(field))
	require.NoError(t, err)
	assert.Equal(t, field, string(d.Bytes()))
	assert.Equal(t, "CustomField", d.Root())
	assert.Equal(t, "A & B", d.Text("label"))
	assert.Empty(t, d.Text("length"))
}

func TestSetChangesOrAdds(t *testing.T) {
	t.Parallel()
	d, err := metadata.Parse([]byte(field))
	require.NoError(t, err)
	d.Set("label", "1 < 2")
	d.Set("length", "255")
	d.Set("unique", "true")
	d.Set("caseSensitive", "true")
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<!-- ours -->
<CustomField xmlns="http://soap.sforce.com/2006/04/metadata">
  <fullName>A__c</fullName>
    <caseSensitive>true</caseSensitive>

  <!-- why -->
  <label>1 &lt; 2</label>
    <length>255</length>
  <type>Text</type>
    <unique>true</unique>
</CustomField>
`, string(d.Bytes()))
}

func TestGroupsAreKeptInOrder(t *testing.T) {
	t.Parallel()
	grant := func(field, editable string) metadata.Group {
		return metadata.Group{Name: "fieldPermissions", Key: "field", Members: []metadata.Member{
			{Name: "editable", Text: editable}, {Name: "field", Text: field},
		}}
	}
	d := metadata.New("PermissionSet")
	d.Set("label", "P")
	d.Put(grant("B__c.B__c", "false"))
	d.Put(grant("C__c.B__c", "true"))
	d.Put(grant("A__c.B__c", "true"))
	d.Put(grant("b__c.B__c", "true"))
	g, found := d.Find("fieldPermissions", "field", "B__C.b__c")
	require.True(t, found)
	assert.Equal(t, "true", g.Get("editable"))
	_, found = d.Find("fieldPermissions", "field", "D__c.B__c")
	assert.False(t, found)
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<PermissionSet xmlns="http://soap.sforce.com/2006/04/metadata">
    <fieldPermissions>
        <editable>true</editable>
        <field>A__c.B__c</field>
    </fieldPermissions>
    <fieldPermissions>
        <editable>true</editable>
        <field>b__c.B__c</field>
    </fieldPermissions>
    <fieldPermissions>
        <editable>true</editable>
        <field>C__c.B__c</field>
    </fieldPermissions>
    <label>P</label>
</PermissionSet>
`, string(d.Bytes()))
}

func TestWhatIsNoMetadataIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "text", "<a><b></a>", "<a", "<a/>", "<a></a><b></b>"} {
		_, err := metadata.Parse([]byte(text))
		assert.ErrorContains(t, err, "is no readable metadata", text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(field))
	f.Add([]byte("<a><b/><b>x</b></a>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := metadata.Parse(data)
		if err == nil {
			assert.Equal(t, string(data), string(d.Bytes()))
		}
	})
}
