// Package export writes a compiled mapping as the custom metadata record that
// the Apex package runs by: a record of Inbound_Mapping__mdt in source format,
// whose Definition__c is the mapping's canonical JSON.
//
//	record, err := export.New(export.Config{Mapping: file})   // *Refused: what Apex can't run
//	os.WriteFile(record.File, record.XML, 0o644)
//
// The same mapping gives the same bytes. References to secrets stay references:
// the org needs none, since it neither verifies nor sends.
package export
