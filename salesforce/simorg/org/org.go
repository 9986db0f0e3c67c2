// Package org is the database of the simulated org: rows in tables, unique and
// lookup indexes, validation rules, and transactions.
//
//	tx := o.Begin()
//	results := tx.Do(org.DML{Verb: org.Upsert, Key: key, Records: records})
//	tx.Commit() // or tx.Rollback()
//
// A transaction sees what was committed when it looks, and its own writes.
// Every row it changes, and every value of a unique field it takes or frees,
// stays locked until it ends, so that writers of one row come one after the
// other; the database as a whole is never locked while a transaction waits.
// Committed rows are never changed in place: who has a row keeps that version.
package org

import (
	"fmt"
	"sync"
	"time"

	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

// Config says how an Org behaves.
type Config struct {
	Schema   *schema.Schema
	LockWait time.Duration    // longest wait for a lock
	Now      func() time.Time // never nil

	PriorUnlocked  bool // validation rules see the row as it was before waiting for its lock
	LookupsLock    bool // writing any lookup locks its parent; else only those that protect it do
	Milliseconds   bool // date-times keep milliseconds; else whole seconds
	FoldNoKeys     bool // keys of one upsert are equal only when spelled the same
	ControlRefused bool // text with a control character is refused; else it is dropped

	DuplicateFields  bool // DUPLICATE_VALUE names the field in its fields
	DuplicateUnknown bool // DUPLICATE_VALUE says <unknown> in its message
}

// Org is one database. It is safe for concurrent use.
type Org struct {
	cfg    Config
	locks  *locks
	tables map[*schema.Object]*table

	mu sync.RWMutex // guards the content of tables
}

// UserID is the id of the API user, OrgID that of the organization.
var (
	UserID = schema.NewID("005", 1)
	OrgID  = schema.NewID("00D", 1)
)

// Username is the name of the API user.
const Username = "integration@sim.example"

// New makes an empty database for a schema. A validation rule whose formula
// the org could not save is an error.
func New(cfg Config) (*Org, error) {
	o := &Org{cfg: cfg, locks: newLocks(cfg.LockWait), tables: map[*schema.Object]*table{}}
	for _, obj := range cfg.Schema.Objects() {
		t := newTable(obj)
		for _, rule := range obj.Rules {
			f, err := formula.Compile(rule.Formula, obj)
			if err != nil {
				return nil, fmt.Errorf("%s: rule %s of %s: %w", rule.File, rule.Name, obj.Name, err)
			}
			t.rules = append(t.rules, compiledRule{rule, f})
		}
		o.tables[obj] = t
	}
	o.seed()
	return o, nil
}

// Schema returns the objects of the org.
func (o *Org) Schema() *schema.Schema { return o.cfg.Schema }

// Reset empties all tables but for the user and the organization.
func (o *Org) Reset() {
	o.mu.Lock()
	for _, t := range o.tables {
		t.clear()
	}
	o.mu.Unlock()
	o.seed()
}

// seed adds the rows every org has.
func (o *Org) seed() {
	o.seedRow("Organization", OrgID, map[string]any{
		"Name": "Simulated Org", "OrganizationType": "Developer Edition", "InstanceName": "SIM1",
		"IsSandbox": false, "LanguageLocaleKey": "en_US", "DefaultLocaleSidKey": "en_US",
		"TimeZoneSidKey": "GMT", "NamespacePrefix": nil, "TrialExpirationDate": nil,
	})
	o.seedRow("User", UserID, map[string]any{
		"Username": Username, "Email": Username, "FirstName": "Integration", "LastName": "User",
		"Name": "Integration User", "Alias": "integ", "IsActive": true, "UserType": "Standard",
		"LanguageLocaleKey": "en_US", "LocaleSidKey": "en_US", "TimeZoneSidKey": "GMT",
		"EmailEncodingKey": "UTF-8", "ProfileId": nil,
	})
}

func (o *Org) seedRow(object, id string, values map[string]any) {
	obj := o.cfg.Schema.Object(object)
	if obj == nil {
		return
	}
	t := o.tables[obj]
	row := obj.NewRow()
	row[schema.SlotID] = id
	for name, v := range values {
		if f := obj.Field(name); f != nil {
			row[f.Slot] = v
		}
	}
	t.stamp(row, o.now(), true)
	o.mu.Lock()
	defer o.mu.Unlock()
	t.put(row)
	t.next.Store(1)
}

// now is the time as audit fields show it.
func (o *Org) now() time.Time { return o.cfg.Now().UTC().Truncate(time.Second) }

// Rows returns the committed rows of an object, oldest first.
func (o *Org) Rows(obj *schema.Object) []schema.Row {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var rows []schema.Row
	o.tables[obj].scan(func(row schema.Row) bool {
		rows = append(rows, row)
		return true
	})
	return rows
}

// Counts returns the number of committed rows of each object that has any,
// without those that every org has.
func (o *Org) Counts() map[string]int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	counts := map[string]int{}
	for obj, t := range o.tables {
		n := len(t.place)
		if t.get(UserID) != nil || t.get(OrgID) != nil {
			n--
		}
		if n > 0 {
			counts[obj.Name] = n
		}
	}
	return counts
}
