package schema

// Type is a field type as the metadata names it.
type Type string

// The field types of the simulated org. ID and Reference are those of
// standard fields that no metadata file declares.
const (
	ID            Type = "Id"
	Text          Type = "Text"
	TextArea      Type = "TextArea"
	LongTextArea  Type = "LongTextArea"
	HTML          Type = "Html"
	Email         Type = "Email"
	Phone         Type = "Phone"
	URL           Type = "Url"
	Number        Type = "Number"
	Currency      Type = "Currency"
	Percent       Type = "Percent"
	Checkbox      Type = "Checkbox"
	Date          Type = "Date"
	DateTime      Type = "DateTime"
	Picklist      Type = "Picklist"
	MultiPicklist Type = "MultiselectPicklist"
	AutoNumber    Type = "AutoNumber"
	Lookup        Type = "Lookup"
	MasterDetail  Type = "MasterDetail"
)

// Kind is how values of a type are held and compared.
type Kind int

const (
	KindText Kind = iota
	KindNumber
	KindBool
	KindDate
	KindDateTime
	KindPicklist // text with a list of values, one or several
	KindID       // text: an id of this or another object
)

// trait is what holds for every field of a type.
type trait struct {
	kind     Kind
	soap     string // type name in describe calls
	long     bool   // neither filtered, sorted nor grouped
	unique   bool   // may carry unique and externalId
	length   int    // when the metadata can't give one
	min, max int    // bounds of the metadata's length, if it gives one
}

var traits = map[Type]trait{
	ID:            {kind: KindID, soap: "id", length: 18},
	Text:          {kind: KindText, soap: "string", unique: true, min: 1, max: 255},
	TextArea:      {kind: KindText, soap: "textarea", length: 255},
	LongTextArea:  {kind: KindText, soap: "textarea", long: true, min: 256, max: 131072},
	HTML:          {kind: KindText, soap: "textarea", long: true, min: 256, max: 131072},
	Email:         {kind: KindText, soap: "email", unique: true, length: 80},
	Phone:         {kind: KindText, soap: "phone", length: 40},
	URL:           {kind: KindText, soap: "url", length: 255},
	Number:        {kind: KindNumber, soap: "double", unique: true},
	Currency:      {kind: KindNumber, soap: "currency"},
	Percent:       {kind: KindNumber, soap: "percent"},
	Checkbox:      {kind: KindBool, soap: "boolean"},
	Date:          {kind: KindDate, soap: "date"},
	DateTime:      {kind: KindDateTime, soap: "datetime"},
	Picklist:      {kind: KindPicklist, soap: "picklist", length: 255},
	MultiPicklist: {kind: KindPicklist, soap: "multipicklist", length: 4099},
	AutoNumber:    {kind: KindText, soap: "string", unique: true, length: 30},
	Lookup:        {kind: KindID, soap: "reference", length: 18},
	MasterDetail:  {kind: KindID, soap: "reference", length: 18},
}

// Kind returns how values of the type are held.
func (t Type) Kind() Kind { return traits[t].kind }

// SOAP returns the name of the type in describe calls and error messages.
func (t Type) SOAP() string { return traits[t].soap }

// Long says that the type can be in no filter, order or group.
func (t Type) Long() bool { return traits[t].long }
