package apex_test

import (
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/apex"
	"sfbridge/bridge/event"
	"sfbridge/salesforce/simorg/schema"
)

func load(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Load(
		schema.Source{Name: "product", FS: apex.Product()},
		schema.Source{Name: "samples", FS: apex.Samples()})
	require.NoError(t, err)
	return s
}

// shape is the part of a field that others rely on.
type shape struct {
	Type             schema.Type
	Length           int // of numbers: digits before the point
	Scale            int
	Required, Unique bool
	CaseSensitive    bool
	ExternalID       bool
	To               string
	Values           string
}

func shapeOf(f *schema.Field) shape {
	s := shape{
		Type: f.Type, Length: f.Length, Scale: f.Scale, Required: f.Required, Unique: f.Unique,
		CaseSensitive: f.CaseSensitive, ExternalID: f.ExternalID, To: strings.Join(f.ReferenceTo, ","),
	}
	if f.Kind() == schema.KindNumber {
		s.Length = f.Precision - f.Scale
	}
	if f.Type != schema.Text && f.Type != schema.LongTextArea && f.Kind() != schema.KindNumber {
		s.Length = 0
	}
	var values []string
	for _, v := range f.Picklist {
		values = append(values, v.Value)
	}
	s.Values = strings.Join(values, " ")
	return s
}

func text(n int) shape    { return shape{Type: schema.Text, Length: n} }
func long(n int) shape    { return shape{Type: schema.LongTextArea, Length: n} }
func number(n int) shape  { return shape{Type: schema.Number, Length: n} }
func indexed(n int) shape { return shape{Type: schema.Text, Length: n, ExternalID: true} }
func money() shape        { return shape{Type: schema.Number, Length: 16, Scale: 2} }
func key() shape {
	return shape{Type: schema.Text, Length: 255, ExternalID: true, Unique: true, CaseSensitive: true}
}
func pick[T ~string](values ...T) shape {
	s := shape{Type: schema.Picklist}
	for i, v := range values {
		if i > 0 {
			s.Values += " "
		}
		s.Values += string(v)
	}
	return s
}
func to(t schema.Type, object string) shape {
	return shape{Type: t, To: object, Required: t == schema.MasterDetail}
}

var (
	moment  = shape{Type: schema.DateTime}
	eventID = func() shape { s := key(); s.Required = true; return s }()
)

var wanted = map[string]map[string]shape{
	"Inbound_Event__c": {
		event.FieldID: eventID, event.FieldSource: text(40), event.FieldType: text(255), event.FieldDeliveryID: text(255),
		event.FieldObjectID: text(255), event.FieldBusinessKey: indexed(255),
		event.FieldPayload: long(event.PayloadLimit), event.FieldEncoding: pick(event.Encodings()...),
		event.FieldHash: text(64), event.FieldContext: long(32768), event.FieldTrust: pick(event.Trusts()...),
		event.FieldSourceTime: moment, event.FieldOrder: number(18),
		event.FieldReceivedAt: moment, event.FieldProcessedAt: moment, event.FieldNextAttempt: moment,
		event.FieldRevision: number(18), event.FieldExpectedRevision: number(18),
		event.FieldStatus: pick(event.Statuses()...), event.FieldOutcome: pick(event.Outcomes()...),
		event.FieldHomeQueue: text(16), event.FieldQueue: indexed(16),
		event.FieldAttempts: number(18), event.FieldReplayCount: number(18), event.FieldDuplicateCount: number(18),
		event.FieldLastDuplicateAt: moment, event.FieldMappingVersion: text(40),
		event.FieldTargetObject: text(80), event.FieldTargetID: text(18), event.FieldErrorCode: text(80),
		event.FieldError: long(event.ErrorLimit), event.FieldHistory: long(event.HistoryLimit),
		event.FieldConflictOf: to(schema.Lookup, event.Object),
	},
	"Inbound_Event_Chunk__c": {
		event.ChunkFieldEvent: to(schema.MasterDetail, event.Object),
		event.ChunkFieldIndex: number(18), event.ChunkFieldData: long(131072),
	},
	"Outbound_Effect__c": {
		"Effect_Key__c": key(), "Event__c": to(schema.Lookup, event.Object), "Name__c": text(80),
		"Status__c": pick(event.EffectStatuses()...), "Queue__c": indexed(16),
		"Attempts__c": number(18), "Next_Attempt_At__c": moment, "Request__c": long(131072),
		"Response_Code__c": text(80), "Response__c": long(32768), "History__c": long(32768),
	},
	"Bridge_Queue__c": {
		event.QueueFieldName:    {Type: schema.Text, Length: 16, ExternalID: true, Unique: true},
		event.QueueFieldTouched: moment, event.QueueFieldHorizon: moment,
	},
	"Customer__c": {
		"Stripe_Customer_Id__c": key(), "Email__c": {Type: schema.Email},
		"Source_Order__c": number(18), "Source_Event__c": text(255), "Source_Prior__c": text(255),
	},
	"Payment__c": {
		"Stripe_Charge_Id__c": key(), "Amount__c": money(), "Currency__c": text(3),
		"Status__c":  pick("Pending", "Succeeded", "Failed", "Refunded", "Disputed"),
		"Paid_At__c": moment, "Note__c": text(255), "Origin__c": text(80), "Customer__c": to(schema.Lookup, "Customer__c"),
		"Source_Order__c": number(18), "Source_Event__c": text(255), "Source_Prior__c": text(255),
	},
	"Payment_Line__c": {
		"Line_Key__c": key(), "Payment__c": to(schema.Lookup, "Payment__c"), "Qty__c": number(18), "Amount__c": money(),
		"Source_Order__c": number(18), "Source_Event__c": text(255), "Source_Prior__c": text(255),
	},
}

func TestFields(t *testing.T) {
	t.Parallel()
	s := load(t)
	for object, fields := range wanted {
		o := s.Object(object)
		require.NotNil(t, o, object)
		got := map[string]shape{}
		for _, f := range o.Fields {
			if f.Custom {
				got[f.Name] = shapeOf(f)
			}
			if f.Type == schema.Picklist {
				assert.True(t, f.Restricted, "%s.%s", object, f.Name)
			}
		}
		assert.Equal(t, fields, got, object)
		assert.Equal(t, schema.AutoNumber, o.Field("Name").Type, object)
	}
	for _, o := range s.Objects() {
		assert.True(t, !o.Custom || wanted[o.Name] != nil, "nobody asked for %s", o.Name)
	}
}

func TestEveryFieldOfAnEventExists(t *testing.T) {
	t.Parallel()
	o := load(t).Object(event.Object)
	for _, name := range event.AllFields() {
		assert.NotNil(t, o.Field(name), name)
	}
}

func TestDefaultsOfANewEvent(t *testing.T) {
	t.Parallel()
	o := load(t).Object(event.Object)
	assert.Equal(t, string(event.Received), o.Field(event.FieldStatus).Default)
	revision, ok := o.Field(event.FieldRevision).Default.(decimal.Decimal)
	require.True(t, ok)
	assert.Equal(t, int64(1), revision.IntPart())
	for _, f := range o.Fields {
		if f.Custom && f.Name != event.FieldStatus && f.Name != event.FieldRevision {
			assert.Nil(t, f.Default, f.Name)
		}
	}
}

func TestRulesBeginWithTheirToken(t *testing.T) {
	t.Parallel()
	s := load(t)
	for object, want := range map[string][2]string{
		event.Object:      {"Refuse_Old_Revision", event.TokenRevision},
		"Customer__c":     {"Refuse_Moved", event.TokenMoved},
		"Payment__c":      {"Refuse_Moved", event.TokenMoved},
		"Payment_Line__c": {"Refuse_Moved", event.TokenMoved},
	} {
		rules := s.Object(object).Rules
		require.Len(t, rules, 1, object)
		assert.Equal(t, want[0], rules[0].Name)
		assert.True(t, strings.HasPrefix(rules[0].Message, want[1]+":"), rules[0].Message)
		assert.Empty(t, rules[0].DisplayField, "the message belongs at the top of the page")
	}
}

// permissionSet is what a permission set grants.
type permissionSet struct {
	License string `xml:"license"`
	Fields  []struct {
		Field    string `xml:"field"`
		Editable bool   `xml:"editable"`
		Readable bool   `xml:"readable"`
	} `xml:"fieldPermissions"`
	Objects []struct {
		Object string `xml:"object"`
		Create bool   `xml:"allowCreate"`
		Read   bool   `xml:"allowRead"`
		Edit   bool   `xml:"allowEdit"`
		Delete bool   `xml:"allowDelete"`
		All    bool   `xml:"modifyAllRecords"`
	} `xml:"objectPermissions"`
	Tabs []struct {
		Tab string `xml:"tab"`
	} `xml:"tabSettings"`
}

func permissions(t *testing.T, source fs.FS, name string) permissionSet {
	t.Helper()
	data, err := fs.ReadFile(source, "permissionsets/"+name+".permissionset-meta.xml")
	require.NoError(t, err)
	var ps permissionSet
	require.NoError(t, xml.Unmarshal(data, &ps))
	return ps
}

func TestPermissionSetsGrantWhatExists(t *testing.T) {
	t.Parallel()
	s := load(t)
	for name, source := range map[string]fs.FS{
		"Bridge_Integration": apex.Product(), "Bridge_Operator": apex.Product(), "Bridge_Samples": apex.Samples(),
	} {
		ps := permissions(t, source, name)
		assert.Empty(t, ps.License, "%s: a license would keep integration users out", name)
		granted := map[string]bool{}
		for _, f := range ps.Fields {
			object, field, _ := strings.Cut(f.Field, ".")
			require.NotNil(t, s.Object(object), f.Field)
			require.NotNil(t, s.Object(object).Field(field), "%s grants %s", name, f.Field)
			assert.False(t, s.Object(object).Field(field).Required, "%s: %s is required, a deploy would fail", name, f.Field)
			assert.True(t, f.Readable, f.Field)
			assert.False(t, granted[f.Field], "%s grants %s twice", name, f.Field)
			granted[f.Field] = true
		}
		for _, o := range ps.Objects {
			require.NotNil(t, s.Object(o.Object), o.Object)
			assert.False(t, o.All, "%s: %s", name, o.Object)
			for _, f := range s.Object(o.Object).Fields {
				assert.True(t, !f.Custom || f.Required || granted[o.Object+"."+f.Name], "%s can't see %s.%s", name, o.Object, f.Name)
			}
		}
		for _, tab := range ps.Tabs {
			_, err := fs.Stat(source, "tabs/"+tab.Tab+".tab-meta.xml")
			assert.NoError(t, err)
		}
	}
}

func TestIntegrationWritesAllOfTheStagingObjects(t *testing.T) {
	t.Parallel()
	ps := permissions(t, apex.Product(), "Bridge_Integration")
	for _, f := range ps.Fields {
		assert.True(t, f.Editable, f.Field)
	}
	require.Len(t, ps.Objects, 4)
	for _, o := range ps.Objects {
		assert.True(t, o.Create && o.Read && o.Edit, o.Object)
		assert.Equal(t, o.Object != event.QueueObject, o.Delete, o.Object)
	}
}

func TestOperatorsNeitherCreateNorDelete(t *testing.T) {
	t.Parallel()
	ps := permissions(t, apex.Product(), "Bridge_Operator")
	require.Len(t, ps.Objects, 4)
	for _, o := range ps.Objects {
		assert.True(t, o.Read && !o.Create && !o.Delete, o.Object)
	}
	for _, f := range ps.Fields {
		payload := strings.HasSuffix(f.Field, event.FieldPayload) || strings.HasSuffix(f.Field, event.ChunkFieldData)
		assert.False(t, payload && f.Editable, f.Field)
	}
}

func TestListViewsShowFieldsThatExist(t *testing.T) {
	t.Parallel()
	s := load(t)
	var found []string
	err := fs.WalkDir(apex.Product(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".listView-meta.xml") {
			return err
		}
		data, err := fs.ReadFile(apex.Product(), p)
		require.NoError(t, err)
		var view struct {
			Columns []string `xml:"columns"`
			Label   string   `xml:"label"`
			Filters []struct {
				Field string `xml:"field"`
				Value string `xml:"value"`
			} `xml:"filters"`
		}
		require.NoError(t, xml.Unmarshal(data, &view), p)
		object := s.Object(path.Base(path.Dir(path.Dir(p))))
		for _, c := range view.Columns {
			assert.True(t, c == "NAME" || object.Field(c) != nil, "%s shows %s", p, c)
		}
		for _, f := range view.Filters {
			field := object.Field(f.Field)
			require.NotNil(t, field, p)
			for v := range strings.SplitSeq(f.Value, ",") {
				_, known := field.HasValue(v)
				assert.True(t, known || field.Type != schema.Picklist, "%s filters %s", p, v)
			}
		}
		found = append(found, view.Label)
		return nil
	})
	require.NoError(t, err)
	for _, want := range []string{"Due", "Review", "Conflicts", "Effects waiting"} {
		assert.True(t, slices.Contains(found, want), want)
	}
}

func TestProjectNamesItsPackageDirectories(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("sfdx-project.json")
	require.NoError(t, err)
	var project struct {
		PackageDirectories []struct {
			Path    string `json:"path"`
			Default bool   `json:"default"`
		} `json:"packageDirectories"`
		SourceAPIVersion string `json:"sourceApiVersion"`
	}
	require.NoError(t, json.Unmarshal(data, &project))
	assert.Equal(t, "65.0", project.SourceAPIVersion)
	for i, dir := range project.PackageDirectories {
		assert.DirExists(t, dir.Path)
		assert.Equal(t, i == 0, dir.Default, dir.Path)
	}
}
