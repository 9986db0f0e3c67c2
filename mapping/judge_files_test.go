package mapping

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJudgeFiles(t *testing.T) {
	t.Parallel()
	source := func(name, object, order string) *File {
		record := fmt.Sprintf("{object: %s, key: {field: %s_Id__c, from: $.id}, order: %s, fields: {X__c: $.a}}", object, name, order)
		f, err := Parse(name+".yaml", []byte(fmt.Sprintf("source: %s\nprovider: generic\nsecrets: [\"${S}\"]\nevent: {id: $.id, type: $.type}\nroutes:\n"+
			"  - {name: a, when: {type: a}, records: [%s]}\n  - {name: b, when: {type: b}, records: [%s]}\n", name, record, record)))
		require.NoError(t, err)
		return f
	}
	crm, shop := source("crm", "Contact", "true"), source("shop", "contact", "true")
	own := source("own", "Contact", "{field: Own_Order__c, event: Own_Event__c, prior: Own_Prior__c}")
	elsewhere, none := source("elsewhere", "Lead", "true"), source("none", "Contact", "false")

	assert.Empty(t, JudgeFiles([]*File{crm, own, elsewhere, none}))
	got := JudgeFiles([]*File{crm, shop, own})
	require.Len(t, got, 1, "once a source")
	assert.Equal(t, "shop.yaml:6:42: routes[0].records[0]: contact.Source_Order__c keeps the order of source crm too (crm.yaml): "+
		"on a record that both write, events of one make those of the other stale: give one of them fields of its own: order: {field: …, event: …, prior: …}", got[0].String())
	assert.Empty(t, JudgeFiles(nil))
}
