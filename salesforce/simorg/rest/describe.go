package rest

import (
	"encoding/json"
	"strconv"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// versions answers GET /services/data.
func versions() reply {
	var list []map[string]string
	for v := oldestVersion; v <= newestVersion; v++ {
		list = append(list, map[string]string{
			"label": release(v), "url": "/services/data/v" + itoa(v) + ".0", "version": itoa(v) + ".0"})
	}
	return ok(marshal(list))
}

// release is the label of a version: three a year, v66 was Spring '26.
func release(version int) string {
	season := []string{"Spring", "Summer", "Winter"}[version%3]
	year := 26 + (version-66)/3
	if version < 66 {
		year = 26 - (66-version+2)/3
	}
	if season == "Winter" {
		year++
	}
	return season + " '" + itoa(year)
}

// marshal writes maps and slices of plain values; nothing in them can fail.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

// resources answers GET /services/data/vNN.0.
func resources(q *request) []byte {
	base := "/services/data/v" + itoa(q.version) + ".0/"
	m := map[string]string{"identity": q.host + "/id/" + org.OrgID + "/" + org.UserID, "jobs": base + "jobs"}
	for _, name := range []string{"sobjects", "query", "queryAll", "composite", "limits"} {
		m[name] = base + name
	}
	return marshal(m)
}

// limits answers GET limits.
func (a *API) limits() reply {
	left := func(limit, remaining int) map[string]int { return map[string]int{"Max": limit, "Remaining": remaining} }
	return ok(marshal(map[string]any{
		"DailyApiRequests":              left(a.cfg.DailyLimit, a.cfg.DailyLimit-int(a.used.Load())),
		"DailyAsyncApexExecutions":      left(250000, 250000),
		"DailyBulkApiBatches":           left(15000, 15000),
		"DailyBulkV2QueryJobs":          left(10000, 10000),
		"DataStorageMB":                 left(10240, 10240),
		"FileStorageMB":                 left(10240, 10240),
		"HourlyPublishedPlatformEvents": left(250000, 250000),
	}))
}

// describeGlobal answers GET sobjects.
func (a *API) describeGlobal(version int) []byte {
	b := append([]byte(nil), `{"encoding":"UTF-8","maxBatchSize":200,"sobjects":[`...)
	for i, obj := range a.cfg.Org.Schema().Objects() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(a.appendObject(b, version, obj), '}')
	}
	return append(b, "]}"...)
}

// appendObject writes an object's properties, without the closing brace.
func (a *API) appendObject(b []byte, version int, obj *schema.Object) []byte {
	base := "/services/data/v" + itoa(version) + ".0/sobjects/" + obj.Name
	created := obj.Name != "Organization" && obj.Name != "User"
	kept := created && !obj.Event
	b = append(b, `{"name":"`+obj.Name+`","label":`...)
	b = appendString(b, obj.Label)
	b = append(b, `,"labelPlural":`...)
	b = appendString(b, obj.PluralLabel)
	b = append(b, `,"keyPrefix":"`+obj.KeyPrefix+`"`...)
	for _, p := range []struct {
		name  string
		value bool
	}{
		{"activateable", false}, {"createable", created}, {"custom", obj.Custom}, {"customSetting", false},
		{"deepCloneable", false}, {"deletable", kept}, {"deprecatedAndHidden", false}, {"feedEnabled", false},
		{"hasSubtypes", false}, {"isInterface", false}, {"isSubtype", false}, {"layoutable", true},
		{"mergeable", false}, {"mruEnabled", true}, {"queryable", !obj.Event}, {"replicateable", true},
		{"retrieveable", true}, {"searchable", true}, {"triggerable", true}, {"undeletable", false}, {"updateable", kept},
	} {
		b = append(b, `,"`+p.name+`":`...)
		b = strconv.AppendBool(b, p.value)
	}
	return append(b, `,"urls":{"sobject":"`+base+`","describe":"`+base+`/describe","rowTemplate":"`+base+`/{ID}"}`...)
}

// describe answers GET sobjects/Object/describe.
func (a *API) describe(version int, obj *schema.Object) []byte {
	b := a.appendObject(nil, version, obj)
	b = append(b, `,"fields":[`...)
	first := true
	for _, f := range obj.Fields {
		if a.cfg.Hidden(f) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, marshal(describeField(f))...)
	}
	b = append(b, `],"childRelationships":`...)
	children := []map[string]any{}
	for _, c := range obj.Children {
		if a.cfg.Hidden(c.Field) {
			continue
		}
		child := map[string]any{"childSObject": c.Object.Name, "field": c.Field.Name, "relationshipName": c.Name,
			"cascadeDelete": c.Field.OnDelete == schema.Cascade, "restrictedDelete": c.Field.OnDelete == schema.Restrict,
			"deprecatedAndHidden": false, "junctionIdListNames": []string{}, "junctionReferenceTo": []string{}}
		if c.Name == "" {
			child["relationshipName"] = nil
		}
		children = append(children, child)
	}
	b = append(b, marshal(children)...)
	return append(b, `,"recordTypeInfos":[],"namedLayoutInfos":[],"actionOverrides":[],"supportedScopes":[{"label":"All","name":"everything"}]}`...)
}

// describeField is the properties of a field.
func describeField(f *schema.Field) map[string]any {
	text := f.Kind() == schema.KindText || f.Kind() == schema.KindPicklist || f.Kind() == schema.KindID
	length := 0
	if text {
		length = f.Length
	}
	m := map[string]any{
		"name": f.Name, "label": f.Label, "type": f.Type.SOAP(), "soapType": soapType(f),
		"length": length, "byteLength": length * 3, "precision": f.Precision, "scale": f.Scale, "digits": 0,
		"custom": f.Custom, "nillable": nillable(f), "createable": f.Createable, "updateable": f.Updateable,
		"unique": f.Unique, "caseSensitive": f.Unique && f.CaseSensitive, "externalId": f.ExternalID,
		"idLookup": f.ExternalID || f.Type == schema.ID, "autoNumber": f.Type == schema.AutoNumber,
		"defaultedOnCreate": !f.Createable && f.Required || f.Type == schema.Checkbox || f.Default != nil || f.Name == "OwnerId",
		"defaultValue":      nil, "defaultValueFormula": nil, "calculated": false, "calculatedFormula": nil,
		"restrictedPicklist": f.Restricted, "picklistValues": picklistValues(f), "dependentPicklist": false,
		"referenceTo": []string{}, "relationshipName": nil, "relationshipOrder": nil, "polymorphicForeignKey": len(f.ReferenceTo) > 1,
		"cascadeDelete": f.OnDelete == schema.Cascade && f.IsReference(), "restrictedDelete": f.OnDelete == schema.Restrict && f.IsReference(),
		"filterable": f.Filterable(), "sortable": f.Filterable() && f.Type != schema.MultiPicklist, "groupable": f.Filterable() && f.Kind() != schema.KindNumber && f.Kind() != schema.KindDateTime,
		"aggregatable": f.Filterable(), "nameField": f.Name == "Name", "namePointing": false, "htmlFormatted": f.Type == schema.HTML,
		"permissionable": f.Custom && !f.Required && f.Type != schema.MasterDetail, "deprecatedAndHidden": false, "encrypted": false,
		"queryByDistance": false, "writeRequiresMasterRead": false, "extraTypeInfo": nil, "inlineHelpText": nil, "mask": nil, "maskType": nil,
		"compoundFieldName": nil, "controllerName": nil, "highScaleNumber": false, "displayLocationInDecimal": false,
		"searchPrefilterable": false, "aiPredictionField": false, "formulaTreatNullNumberAsZero": false,
	}
	if f.Default != nil && f.Type == schema.Checkbox {
		m["defaultValue"] = f.Default
	}
	if f.IsReference() {
		m["referenceTo"] = f.ReferenceTo
		if f.Parent != "" {
			m["relationshipName"] = f.Parent
		}
	}
	if f.Type == schema.MasterDetail {
		m["relationshipOrder"] = 0
	}
	return m
}

// nillable says whether null can be stored.
func nillable(f *schema.Field) bool {
	return !f.Required && f.Type != schema.Checkbox && f.Type != schema.ID
}

func picklistValues(f *schema.Field) []map[string]any {
	values := []map[string]any{}
	for _, v := range f.Picklist {
		values = append(values, map[string]any{"value": v.Value, "label": v.Label, "active": v.Active,
			"defaultValue": v.Default, "validFor": nil})
	}
	return values
}

func soapType(f *schema.Field) string {
	switch f.Kind() {
	case schema.KindID:
		return "tns:ID"
	case schema.KindNumber:
		return "xsd:double"
	case schema.KindBool:
		return "xsd:boolean"
	case schema.KindDate:
		return "xsd:date"
	case schema.KindDateTime:
		return "xsd:dateTime"
	}
	return "xsd:string"
}
