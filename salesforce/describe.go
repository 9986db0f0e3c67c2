package salesforce

import (
	"context"
	"net/http"
	"strings"
)

// Object is an object of the org as the integration user may see it.
type Object struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	KeyPrefix  string  `json:"keyPrefix"`
	Createable bool    `json:"createable"`
	Updateable bool    `json:"updateable"`
	Deletable  bool    `json:"deletable"`
	Queryable  bool    `json:"queryable"`
	Custom     bool    `json:"custom"`
	Fields     []Field `json:"fields"`
}

// Field is a field of an Object. A field that the user may not read is absent.
type Field struct {
	Name                    string          `json:"name"`
	Label                   string          `json:"label"`
	Type                    string          `json:"type"`
	Length                  int             `json:"length"`
	ByteLength              int             `json:"byteLength"`
	Precision               int             `json:"precision"`
	Scale                   int             `json:"scale"`
	Digits                  int             `json:"digits"`
	Createable              bool            `json:"createable"`
	Updateable              bool            `json:"updateable"`
	Nillable                bool            `json:"nillable"`
	DefaultedOnCreate       bool            `json:"defaultedOnCreate"`
	ExternalID              bool            `json:"externalId"`
	IDLookup                bool            `json:"idLookup"`
	Unique                  bool            `json:"unique"`
	CaseSensitive           bool            `json:"caseSensitive"`
	Calculated              bool            `json:"calculated"`
	AutoNumber              bool            `json:"autoNumber"`
	Filterable              bool            `json:"filterable"`
	Sortable                bool            `json:"sortable"`
	Custom                  bool            `json:"custom"`
	NameField               bool            `json:"nameField"`
	RestrictedPicklist      bool            `json:"restrictedPicklist"`
	DependentPicklist       bool            `json:"dependentPicklist"`
	HTMLFormatted           bool            `json:"htmlFormatted"`
	Encrypted               bool            `json:"encrypted"`
	WriteRequiresMasterRead bool            `json:"writeRequiresMasterRead"`
	RelationshipName        string          `json:"relationshipName"`
	ReferenceTo             []string        `json:"referenceTo"`
	PicklistValues          []PicklistValue `json:"picklistValues"`
}

// PicklistValue is one value of a picklist.
type PicklistValue struct {
	Value   string `json:"value"`
	Label   string `json:"label"`
	Active  bool   `json:"active"`
	Default bool   `json:"defaultValue"`
}

// Required reports whether a new record must be given the field.
func (f Field) Required() bool { return f.Createable && !f.Nillable && !f.DefaultedOnCreate }

// Allows reports whether a picklist has the value and it is active.
func (f Field) Allows(value string) bool {
	for _, p := range f.PicklistValues {
		if p.Active && p.Value == value {
			return true
		}
	}
	return false
}

// Field finds a field by name, in any case.
func (o *Object) Field(name string) (Field, bool) {
	for _, f := range o.Fields {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Field{}, false
}

// Relationship finds the lookup behind a relationship name (Customer__r), in
// any case.
func (o *Object) Relationship(name string) (Field, bool) {
	for _, f := range o.Fields {
		if f.RelationshipName != "" && strings.EqualFold(f.RelationshipName, name) {
			return f, true
		}
	}
	return Field{}, false
}

// Describe asks for an object with its fields.
func (c *Client) Describe(ctx context.Context, object string) (*Object, error) {
	path, err := rowPath(object, "describe")
	if err != nil {
		return nil, refusal(OpDescribe, "", "%v", err)
	}
	var o Object
	if err := c.call(ctx, request{op: OpDescribe, method: http.MethodGet, path: path}, jsonInto(&o)); err != nil {
		return nil, err
	}
	return &o, nil
}
