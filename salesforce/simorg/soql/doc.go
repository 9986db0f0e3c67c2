// Package soql parses, plans and runs queries over the rows of a simulated org.
//
//	q, err := soql.Compile("SELECT Id, Customer__r.Email__c FROM Payment__c WHERE Amount__c > 5", schema, soql.Options{Now: now})
//	result, err := q.Run(ctx, rows)
//
// Compile refuses, as an *Error with Salesforce's code and wording, what
// Salesforce refuses: unknown objects, fields and relationships, filters on
// long text, texts without and dates with quotes, bad escapes, FOR UPDATE,
// queries of more than 100,000 characters, offsets beyond 2,000.
//
// The language:
//
//	SELECT fields, Parent__r.Grand__r.Field__c (five levels), FIELDS(ALL|STANDARD|CUSTOM), COUNT(),
//	       COUNT(f), COUNT_DISTINCT(f), SUM(f), AVG(f), MIN(f), MAX(f) with aliases
//	FROM object [alias]
//	WHERE  = != <> < <= > >= LIKE IN NOT IN, AND OR NOT and parentheses;
//	       texts, numbers, booleans, null, dates, date-times with offset, TODAY and its kin
//	GROUP BY fields   ORDER BY fields ASC|DESC NULLS FIRST|LAST   LIMIT n   OFFSET n
//
// AND and OR side by side need parentheses, as on the platform. Child
// subqueries, semi-joins, HAVING, TYPEOF and USING SCOPE are refused as syntax.
//
// # How rows are found
//
// A filter of the form field = value or field IN (values) on an id, a unique
// field, an external ID or a lookup is answered by the source's index, the
// narrowest such filter of a conjunction being taken; a disjunction uses
// indexes when every branch has one. All else scans the object. With ORDER BY
// and LIMIT only the wanted rows are kept while reading.
//
// # Comparing
//
// Text is compared without regard to case, except on unique case sensitive
// fields. ” equals null. != and NOT IN include nulls, order comparisons never
// do. Nulls come first in ascending, last in descending order unless the query
// says otherwise. An id may be given with 15 or 18 characters.
package soql
