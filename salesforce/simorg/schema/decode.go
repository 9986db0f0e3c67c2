package schema

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// maxFile bounds one metadata file; the largest real ones are picklists of a
// few hundred kilobytes.
const maxFile = 1 << 20

// Error says what is wrong with a metadata file.
type Error struct {
	File    string // source and path
	Element string // the element it is about; may be empty
	Problem string
}

func (e *Error) Error() string {
	if e.Element == "" {
		return e.File + ": " + e.Problem
	}
	return e.File + ": " + e.Element + ": " + e.Problem
}

type xmlObject struct {
	XMLName     xml.Name  `xml:"CustomObject"`
	Label       string    `xml:"label"`
	PluralLabel string    `xml:"pluralLabel"`
	NameField   *xmlField `xml:"nameField"`
	SettingType string    `xml:"customSettingsType"`
}

type xmlField struct {
	FullName         string       `xml:"fullName"`
	Label            string       `xml:"label"`
	Type             string       `xml:"type"`
	Length           *int         `xml:"length"`
	Precision        *int         `xml:"precision"`
	Scale            *int         `xml:"scale"`
	Required         bool         `xml:"required"`
	Unique           bool         `xml:"unique"`
	CaseSensitive    bool         `xml:"caseSensitive"`
	ExternalID       bool         `xml:"externalId"`
	Default          string       `xml:"defaultValue"`
	DisplayFormat    string       `xml:"displayFormat"`
	Formula          *string      `xml:"formula"`
	ReferenceTo      []string     `xml:"referenceTo"`
	RelationshipName string       `xml:"relationshipName"`
	DeleteConstraint string       `xml:"deleteConstraint"`
	Reparentable     bool         `xml:"reparentableMasterDetail"`
	LookupFilter     *struct{}    `xml:"lookupFilter"`
	ValueSet         *xmlValueSet `xml:"valueSet"`
}

type xmlValueSet struct {
	Restricted       bool      `xml:"restricted"`
	Name             string    `xml:"valueSetName"`
	ControllingField *struct{} `xml:"controllingField"`
	Values           []struct {
		FullName string `xml:"fullName"`
		Label    string `xml:"label"`
		Default  bool   `xml:"default"`
		IsActive *bool  `xml:"isActive"`
	} `xml:"valueSetDefinition>value"`
}

type xmlCustomField struct {
	XMLName xml.Name `xml:"CustomField"`
	xmlField
}

type xmlRule struct {
	XMLName      xml.Name `xml:"ValidationRule"`
	FullName     string   `xml:"fullName"`
	Active       bool     `xml:"active"`
	Formula      string   `xml:"errorConditionFormula"`
	DisplayField string   `xml:"errorDisplayField"`
	Message      string   `xml:"errorMessage"`
}

// decode reads one file of bounded size into v, which names the root element.
func decode(f fs.FS, path string, v any) error {
	file, err := f.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("is larger than %d bytes", maxFile)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("is no readable metadata: %w", err)
	}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("is no readable metadata: %w", err)
		}
		if _, ok := tok.(xml.StartElement); ok {
			return errors.New("is no readable metadata: a second root element")
		}
	}
}
