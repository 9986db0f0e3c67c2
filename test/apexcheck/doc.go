// Package apexcheck checks SFDX metadata without an org: every *-meta.xml file
// against the types of the Metadata WSDL, as @salesforce/types declares them.
//
//	(npm ci --ignore-scripts)
//	node check.mjs ../../apex
//
// It finds what a deploy refuses about the form of a file: unknown elements and
// types, missing and doubled ones, values that are no boolean, number or word of
// the enumeration. Whether names lead to something that exists is no matter of
// the WSDL.
package apexcheck
