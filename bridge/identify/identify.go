package identify

import (
	"errors"
	"net/http"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/mapping/path"
)

// MaxEvents is how many events one delivery may hold.
const MaxEvents = 5000

// Config says how the deliveries of one source are read.
type Config struct {
	Source   string
	Identity Identity
	Content  Content
	Context  []path.Path // header.* and $$ values that the mapping names
}

// Content says in which forms a source delivers besides JSON.
type Content struct {
	FormMember string // the field of a form that holds the event
	Base64     bool   // what FormMember holds is base64
	Form       bool   // a form is itself the event
	XML        bool   // an XML document is the event, or holds the events
	Lines      bool   // several lines, each a JSON value, are an array of them
}

// Identifier reads the deliveries of one source. It is safe for concurrent use.
type Identifier struct {
	source   string
	identity Identity
	content  Content
	context  []path.Path
	volatile []event.Segments
	splits   []split
}

// New compiles the configuration.
func New(cfg Config) (*Identifier, error) {
	if cfg.Source == "" {
		return nil, errors.New("identify: a source has a name")
	}
	if !cfg.Identity.named() {
		return nil, errors.New("event.id is missing: say where the id of an event stands, such as id: $.id")
	}
	i := &Identifier{
		source: cfg.Source, identity: cfg.Identity, content: cfg.Content, context: path.Contextual(cfg.Context),
	}
	for _, p := range cfg.Identity.Volatile {
		if p.Root() != path.RootEvent || len(p.Segments()) == 0 {
			return nil, errors.New("event.volatile: " + p.String() + " is no member of the event: write it like $.sent_at")
		}
		i.volatile = append(i.volatile, p.Segments())
	}
	var err error
	i.splits, err = splits(cfg.Identity)
	return i, err
}

// Delivery is a request whose signature is right.
type Delivery struct {
	Header     http.Header
	Body       []byte // content-decoded, otherwise as it came
	ReceivedAt time.Time
}

// Identified is one event of a delivery.
type Identified struct {
	// Event has what the delivery says of the event: id, source, type, object,
	// delivery id, payload, hash, context, order and times. Trust, status and
	// queue are for the receiver to fill in.
	Event event.Event
	// Value is the decoded payload, Scope what paths are read against.
	Value any
	Scope path.Scope
	// Review is set when a person has to look at the event before anything is
	// done with it.
	Review *Review
}

// Review says why an event waits for a person.
type Review struct {
	Code   string // an Error_Code__c
	Reason string // holds no payload
}

// Document is a delivery whose body could be read.
type Document struct {
	Value any // the decoded body

	identifier *Identifier
	delivery   Delivery
	whole      element
	outer      path.Delivery
}

// Read decodes the body of a delivery. Its error is a *Refusal.
func (i *Identifier) Read(d Delivery) (*Document, error) {
	body, err := i.content.body(d)
	if err != nil {
		return nil, err
	}
	whole, err := i.content.decode(body)
	if err != nil {
		return nil, err
	}
	return &Document{
		Value: whole.value, identifier: i, delivery: d, whole: whole,
		outer: path.Delivery{Body: whole.value, Header: d.Header},
	}, nil
}

// Events finds the events in the delivery, in order. Its error is a *Refusal.
func (d *Document) Events() ([]Identified, error) {
	context, err := d.context()
	if err != nil {
		return nil, err
	}
	elements, batch, err := d.elements()
	if err != nil {
		return nil, err
	}
	if !batch {
		found, err := d.single(context)
		if err != nil {
			return nil, err
		}
		return []Identified{found}, nil
	}
	events := make([]Identified, 0, len(elements))
	for _, e := range elements {
		events = append(events, d.identifier.batched(e, d, context))
	}
	return events, nil
}

// context is Context__c of every event of the delivery; nil when the mapping
// needs nothing.
func (d *Document) context() ([]byte, error) {
	if len(d.identifier.context) == 0 {
		return nil, nil
	}
	data, err := path.BuildContext(d.identifier.context, d.outer)
	if err != nil {
		return nil, &Refusal{NotJSON, "the values that the mapping keeps of the delivery can't be written as JSON"}
	}
	if event.UTF16Len(string(data)) > event.ContextLimit {
		return nil, &Refusal{ContextTooLarge, "the headers and values that the mapping keeps of the delivery are too large"}
	}
	return data, nil
}

// single is a delivery that is one event.
func (d *Document) single(context []byte) (Identified, error) {
	key, problem := d.identifier.key(&d.whole, d)
	if problem != nil {
		return Identified{}, &Refusal{NoID, "no event id: " + problem.Error()}
	}
	return d.identifier.build(&d.whole, d, context, key), nil
}

// batched is one element of a batch. One that has no id is kept under its hash.
func (i *Identifier) batched(e element, d *Document, context []byte) Identified {
	if e.value == nil && e.unsound != nil { // nothing can be read in it
		return i.build(&e, d, context, "")
	}
	key, problem := i.key(&e, d)
	found := i.build(&e, d, context, key)
	if problem != nil {
		found.Review = &Review{event.CodeNoID, "no event id: " + problem.Error()}
	}
	return found
}

// scope is what a mapping's paths are read against.
func (d *Document) scope(e element) path.Scope {
	return path.Scope{Event: e.value, Outer: d.outer}
}

// inner is what identity is read against: @ is the element of a nested split
// that holds this one.
func (d *Document) inner(e element) path.Scope {
	return path.Scope{Event: e.value, Element: e.holder, Outer: d.outer}
}
