// Package schema reads the objects of a simulated org from SFDX source folders
// (source format) and describes them: fields, key prefixes, relationships and
// validation rules.
//
//	s, err := schema.Load(schema.Source{Name: "product", FS: apex.Product()})
//	payment := s.Object("Payment__c")
//	amount := payment.Field("Amount__c")
//
// Load looks for objects/<Object>/<Object>.object-meta.xml, fields/ and
// validationRules/ anywhere below each source and adds the standard fields, and
// the standard objects Account, Case, Contact, Organization, Task and User.
// Sources are read in order as deploys are: a later one replaces fields and
// rules of the same name. A custom object that has fields or rules but no file
// of its own is taken to be in the org already, with a text Name. Custom metadata types (__mdt) hold configuration, not rows,
// and are passed over. Platform events (__e) can be published. What the simulated org can't do faithfully (formula and
// roll-up fields, global value sets, ...) is an error that
// names file and element; all of them are reported together.
//
// # Values
//
// A stored value is one of
//
//	nil              null; an empty string is never stored
//	string           text of every sort, picklists, ids (18 characters)
//	bool             checkboxes
//	decimal.Decimal  numbers
//	time.Time        date-times and dates (midnight), always UTC
//
// and a Row holds one value per field of its object, at the field's Slot.
//
// # Comparing text
//
// Queries compare text without regard to case, except on unique fields that
// are case sensitive; Field.Fold gives the form in which two values are equal
// exactly when a query takes them as equal. The same holds for uniqueness.
// Matching by external ID in an upsert differs on external IDs that are not
// unique: see Field.UpsertFold.
package schema
