// Package metadata reads, changes and writes Salesforce metadata files in
// source format.
//
//	d := metadata.New("CustomField")
//	d.Set("fullName", "Source_Order__c")
//	d.Set("type", "Number")
//	os.WriteFile(name, d.Bytes(), 0o644)
//
// A file that was read keeps every byte that isn't changed: comments, order and
// indentation. What is added goes where the order of the alphabet puts it, as in
// the files that the sf command line writes.
package metadata
