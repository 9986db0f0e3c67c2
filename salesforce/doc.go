// Package salesforce is a client for the Salesforce REST API: queries, rows,
// collections, composite and graph calls, describe and limits.
//
// # Use
//
//	sessions, err := auth.New(auth.Config{...})
//	client, err := salesforce.New(salesforce.Config{Sessions: sessions, APIVersion: "65.0"})
//	results, err := client.UpsertAll(ctx, "Key__c", rows, false)
//
// Every call takes a context and is bounded by Config.Timeout as well. A
// session that has expired is renewed once per call, by one login however many
// callers meet it, and the call is sent once more.
//
// # Errors
//
// A call that failed as a whole gives an *Error; a row that failed inside a
// call that worked has Faults in its SaveResult. Both carry a Class, decided in
// one place from code and message, never from the HTTP status alone. A write
// whose answer was lost, or can't be read, has ClassUnknownOutcome: it may have
// happened. No error holds a token, a body or a query.
//
// # The carrier
//
// Requests are composed by github.com/simpleforce/simpleforce: one cheap client
// per call, given session and instance with SetSidLoc and our transport with
// SetHttpClient; Query for queries and their further pages, ApexREST (its path
// has no leading slash) for everything else, LoginPassword for the SOAP login
// in package auth. simpleforce knows no context, panics on an error body of [],
// logs every failing body and address, and makes floats of numbers. So the
// transport below it (exchange) owns context, deadline, headers, compression
// and size limits, never follows a redirect, keeps the real answer for our own
// decoder, and always shows simpleforce an empty success: it has nothing to
// parse, to log or to panic about.
//
// What simpleforce still logs by itself, such as the user name after a SOAP
// login, goes to the standard logger. QuietCarrier, called by New, therefore
// puts a filter in front of the standard logger's output that drops
// simpleforce's lines, which all carry its prefix, and passes all others. It is
// put there once, however many clients are made; a program that sets another
// output afterwards sees those harmless lines again, but no body, address or
// token.
package salesforce
