package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"sfbridge/internal/metadata"
	"sfbridge/mapping"
)

// Object is the custom metadata type, without its suffix.
const Object = "Inbound_Mapping"

// Fields of the custom metadata type.
const (
	FieldSource     = "Source__c"
	FieldVersion    = "Version__c"
	FieldDefinition = "Definition__c"
)

// Config says what is exported.
type Config struct {
	Mapping *mapping.File
	// Sends names what the provider sends instead of JSON, such as "forms"; ""
	// for JSON.
	Sends string
}

// Record is a mapping as custom metadata.
type Record struct {
	Name    string // DeveloperName
	File    string // its file below customMetadata
	Source  string
	Version string
	XML     []byte
}

// New makes the record. Its error is a *Refused that names everything that the
// Apex package can't run.
func New(cfg Config) (*Record, error) {
	f := cfg.Mapping
	if problems := refusals(cfg); len(problems) > 0 {
		return nil, &Refused{File: f.Name, Problems: problems}
	}
	name := developerName(f.Source)
	return &Record{
		Name: name, File: Object + "." + name + ".md-meta.xml", Source: f.Source, Version: f.Version(),
		XML: recordXML(f),
	}, nil
}

const (
	recordHead = `<?xml version="1.0" encoding="UTF-8"?>
<CustomMetadata xmlns="http://soap.sforce.com/2006/04/metadata" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
`
	valueHead = "    <values>\n        <field>"
	valueMid  = "</field>\n        <value xsi:type=\"xsd:string\">"
	valueTail = "</value>\n    </values>\n"
)

func recordXML(f *mapping.File) []byte {
	var b bytes.Buffer
	b.WriteString(recordHead)
	b.WriteString("    <label>" + metadata.Escape(f.Source) + "</label>\n    <protected>false</protected>\n")
	for _, v := range [][2]string{
		{FieldDefinition, string(f.Canonical())}, {FieldSource, f.Source}, {FieldVersion, f.Version()},
	} {
		b.WriteString(valueHead + v[0] + valueMid + metadata.Escape(v[1]) + valueTail)
	}
	b.WriteString("</CustomMetadata>\n")
	return b.Bytes()
}

// nameLength is the longest DeveloperName.
const nameLength = 40

// developerName makes an API name of a source's name. API names take single
// underscores only, and none at the end; sources that would need others are told
// apart by a hash.
func developerName(source string) string {
	name := strings.ReplaceAll(source, "-", "_")
	if !strings.Contains(name, "__") && !strings.HasSuffix(name, "_") {
		return name
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
	sum := sha256.Sum256([]byte(source))
	suffix := "_x" + hex.EncodeToString(sum[:])[:8]
	plain := strings.Join(parts, "_")
	return strings.TrimRight(plain[:min(len(plain), nameLength-len(suffix))], "_") + suffix
}
