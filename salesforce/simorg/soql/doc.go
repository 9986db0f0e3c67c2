// Package soql parses, plans and runs queries over the rows of a simulated org.
package soql
