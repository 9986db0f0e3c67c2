// Package apex carries the Salesforce metadata of the bridge, in source format,
// inside the binary, so that the simulated org needs no files beside it.
//
// The directory is an SFDX project: force-app is what an org is given, samples
// holds target objects for the demo and the tests and is not shipped.
package apex

import (
	"embed"
	"io/fs"
)

//go:embed force-app samples
var source embed.FS

// Product returns the metadata an org is given: the staging objects, their
// rules, permission sets, tabs and list views.
func Product() fs.FS { return sub("force-app/main/default") }

// Samples returns the sample target objects (Customer__c, Payment__c,
// Payment_Line__c).
func Samples() fs.FS { return sub("samples/main/default") }

func sub(dir string) fs.FS {
	f, err := fs.Sub(source, dir)
	if err != nil {
		panic(err) // only for a name that is no valid path
	}
	return f
}
