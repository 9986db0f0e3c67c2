package soql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

func TestUnknownColumnLooksAsSalesforceShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.compile("SELECT Id, Foo__c FROM Order__c")
	var e *soql.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "INVALID_FIELD", e.Code)
	assert.Equal(t, "\nSELECT Id, Foo__c FROM Order__c\n           ^\nERROR at Row:1:Column:12\n"+
		"No such column 'Foo__c' on entity 'Order__c'. If you are attempting to use a custom field, be sure to append the '__c' "+
		"after the custom field name. Please reference your WSDL or the describe call for the appropriate names.", e.Message)

	_, err = w.compile("SELECT Id\nFROM Order__c WHERE Name = 'ä' AND " + strings.Repeat("Name != 'x' AND ", 20) + "Bar__c = 1")
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Message, "Name != 'x' AND Bar__c = 1\n"+strings.Repeat(" ", 40)+"^\nERROR at Row:2:Column:356\nNo such column 'Bar__c'")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const (
		malformed = "MALFORMED_QUERY"
		field     = "INVALID_FIELD"
		operator  = "INVALID_QUERY_FILTER_OPERATOR"
	)
	where := func(s string) string { return "SELECT Id FROM Order__c WHERE " + s }
	for query, want := range map[string][2]string{
		"":                          {malformed, "unexpected token: '<EOF>'"},
		"SELECT":                    {malformed, "unexpected token: '<EOF>'"},
		"DELETE FROM Order__c":      {malformed, "unexpected token: 'DELETE'"},
		"SELECT FROM Order__c":      {malformed, "unexpected token: 'FROM'"},
		"SELECT Id, FROM Order__c":  {malformed, "unexpected token: 'FROM'"},
		"SELECT Id Order__c":        {malformed, "unexpected token: 'Order__c'"},
		"SELECT Id FROM":            {malformed, "unexpected token"},
		"SELECT Id FROM 'Order__c'": {malformed, "unexpected token"},
		"SELECT * FROM Order__c":    {malformed, "no viable alternative at character '*'"},
		"SELECT (SELECT Id FROM Orders__r) FROM Shop__c":                 {malformed, "unexpected token: '('"},
		"SELECT FORMAT(Sum__c) FROM Order__c":                            {malformed, "unexpected token: '('"},
		"SELECT Id FROM Order__c;":                                       {malformed, "no viable alternative at character ';'"},
		"SELECT Id FROM Order__c FOR UPDATE":                             {malformed, "FOR UPDATE"},
		"SELECT Id FROM Order__c FOR VIEW":                               {malformed, "unexpected token: 'FOR'"},
		"SELECT Id FROM Order__c ALL ROWS":                               {malformed, "unexpected token: 'ALL'"},
		"SELECT Id FROM Order__c LIMIT -1":                               {malformed, "unexpected token: '-1'"},
		"SELECT Id FROM Order__c LIMIT 1.5":                              {malformed, "unexpected token: '1.5'"},
		"SELECT Id FROM Order__c LIMIT '1'":                              {malformed, "unexpected token: ''1''"},
		"SELECT Id FROM Order__c LIMIT":                                  {malformed, "unexpected token: '<EOF>'"},
		"SELECT Id FROM Order__c OFFSET 2001":                            {"NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is 2000"},
		"SELECT Id FROM Order__c OFFSET 1 LIMIT 1":                       {malformed, "unexpected token: 'LIMIT'"},
		"SELECT Id FROM Order__c ORDER Name":                             {malformed, "unexpected token: 'Name'"},
		"SELECT Id FROM Order__c ORDER BY Name NULLS":                    {malformed, "unexpected token"},
		"SELECT Id FROM Order__c ORDER BY":                               {malformed, "unexpected token"},
		"SELECT Id FROM Order__c ORDER BY Name LIMIT 1 WHERE Name = 'a'": {malformed, "unexpected token: 'WHERE'"},
		"SELECT Id FROM Order__c GROUP BY Name HAVING COUNT(Id) > 1":     {malformed, ""},

		"SELECT Id FROM Nope__c":                                                  {"INVALID_TYPE", "sObject type 'Nope__c' is not supported."},
		"SELECT Nope FROM Order__c":                                               {field, "No such column 'Nope' on entity 'Order__c'."},
		"SELECT Shop__r.Nope FROM Order__c":                                       {field, "No such column 'Nope' on entity 'Shop__c'."},
		"SELECT Nope__r.Id FROM Order__c":                                         {field, "Didn't understand relationship 'Nope__r' in field path."},
		"SELECT Shop__c.Id FROM Order__c":                                         {field, "Didn't understand relationship 'Shop__c'"},
		"SELECT Id, id FROM Order__c":                                             {field, "duplicate field selected: Id"},
		"SELECT Shop__r.Id, Shop__r.Id FROM Order__c":                             {field, "duplicate field selected: Id"},
		"SELECT Shop__r.Head__r.Head__r.Head__r.Head__r.Head__r.Id FROM Order__c": {field, "more than 5 levels"},
		"SELECT FIELDS(ALL) FROM Order__c":                                        {malformed, "LIMIT of at most 200"},
		"SELECT FIELDS(CUSTOM) FROM Order__c LIMIT 201":                           {malformed, "LIMIT of at most 200"},
		"SELECT FIELDS(SOME) FROM Order__c LIMIT 1":                               {malformed, "unexpected token: 'SOME'"},
		"SELECT Id, FIELDS(ALL) FROM Order__c LIMIT 1":                            {field, "duplicate field selected: Id"},
		"SELECT Id FROM Order__c ORDER BY Text__c":                                {field, "field 'Text__c' can not be sorted in a query call"},
		"SELECT Id FROM Order__c ORDER BY Tags__c":                                {field, "field 'Tags__c' can not be sorted in a query call"},
		"SELECT Id FROM Order__c ORDER BY COUNT(Id)":                              {malformed, "unexpected token: '('"},
		"SELECT Id FROM Order__c ORDER BY Nope":                                   {field, "No such column 'Nope'"},

		"SELECT Id, COUNT() FROM Order__c":                             {malformed, "Field must be grouped or aggregated: Id"},
		"SELECT COUNT() FROM Order__c ORDER BY Name":                   {malformed, "neither GROUP BY nor ORDER BY"},
		"SELECT COUNT() FROM Order__c GROUP BY Name":                   {malformed, "neither GROUP BY nor ORDER BY"},
		"SELECT Name, COUNT(Id) FROM Order__c":                         {malformed, "Field must be grouped or aggregated: Name"},
		"SELECT SUM(Name) FROM Order__c":                               {malformed, "field Name does not support aggregate operator SUM"},
		"SELECT MAX(Text__c) FROM Order__c":                            {malformed, "field Text__c does not support aggregate operator MAX"},
		"SELECT MIN(Open__c) FROM Order__c":                            {malformed, "field Open__c does not support aggregate operator MIN"},
		"SELECT COUNT(Text__c) FROM Order__c":                          {malformed, "does not support aggregate operator COUNT"},
		"SELECT COUNT(Nope) FROM Order__c":                             {field, "No such column 'Nope'"},
		"SELECT SUM() FROM Order__c":                                   {malformed, "unexpected token: ')'"},
		"SELECT COUNT(Id) x, SUM(Sum__c) X FROM Order__c":              {malformed, "duplicate alias: X"},
		"SELECT Text__c FROM Order__c GROUP BY Text__c":                {field, "field 'Text__c' can not be grouped in a query call"},
		"SELECT FIELDS(ALL) FROM Order__c GROUP BY Name LIMIT 1":       {malformed, "not supported in aggregate queries"},
		"SELECT Name FROM Order__c GROUP BY Name ORDER BY Sum__c":      {malformed, "Field must be grouped or aggregated: Sum__c"},
		"SELECT Name FROM Order__c GROUP BY Name ORDER BY SUM(Sum__c)": {malformed, "and selected: Sum__c"},

		where(""):               {malformed, "unexpected token: '<EOF>'"},
		where("Name"):           {malformed, "unexpected token: '<EOF>'"},
		where("Name ="):         {malformed, "unexpected token: '<EOF>'"},
		where("Name == 'a'"):    {malformed, "unexpected token: '='"},
		where("Name = a"):       {malformed, "unexpected token: 'a'"},
		where("Name = :a"):      {malformed, "unexpected token: ':'"},
		where("'a' = Name"):     {malformed, "unexpected token: ''a''"},
		where("Name = 'a' AND"): {malformed, "unexpected token: '<EOF>'"},
		where("Name = 'a' AND Name = 'b' OR Name = 'c'"): {malformed, "unexpected token: 'OR'"},
		where("Name = 'a' Name = 'b'"):                   {malformed, "unexpected token: 'Name'"},
		where("(Name = 'a'"):                             {malformed, "unexpected token: '<EOF>'"},
		where("Name = 'a')"):                             {malformed, "unexpected token: ')'"},
		where("Name IN 'a'"):                             {malformed, "unexpected token: ''a''"},
		where("Name IN ()"):                              {malformed, "unexpected token: ')'"},
		where("Name IN ('a',)"):                          {malformed, "unexpected token: ')'"},
		where("Name IN ('a' 'b')"):                       {malformed, "unexpected token: ''b''"},
		where("Id IN (SELECT Shop__c FROM Order__c)"):    {malformed, "unexpected token: 'SELECT'"},
		where("Name NOT 'a'"):                            {malformed, "unexpected token: ''a''"},
		where("Name ! 'a'"):                              {malformed, "no viable alternative at character '!'"},
		where("Name = 'a"):                               {malformed, "mismatched character '<EOF>' expecting '''"},
		where(`Name = 'a\'`):                             {malformed, "mismatched character '<EOF>' expecting '''"},
		where(`Name = 'a\q'`):                            {malformed, `Invalid string literal 'a\q'. Illegal character sequence '\q' in string literal.`},
		where(`Name = 'a\'b\ä'`):                         {malformed, `Illegal character sequence '\ä' in string literal.`},
		where(`Name = '\u00zz'`):                         {malformed, `Illegal character sequence '\u' in string literal.`},
		where(`Name = '\ud83d'`):                         {malformed, `Illegal character sequence '\u' in string literal.`},
		where(`Name = 'a\`):                              {malformed, `Illegal character sequence '\' in string literal.`},
		where(`Name = '100\%'`):                          {malformed, "only LIKE takes it"},

		where("Name = 5"):                          {field, "value of filter criterion for field 'Name' must be of type string and should be enclosed in quotes"},
		where("Name = true"):                       {field, "must be of type string and should be enclosed in quotes"},
		where("Name = 2026-01-01"):                 {field, "must be of type string and should be enclosed in quotes"},
		where("Name = TODAY"):                      {field, "must be of type string and should be enclosed in quotes"},
		where("Name IN ('a', 5)"):                  {field, "must be of type string"},
		where("Name LIKE 5"):                       {field, "must be of type string"},
		where("Sum__c = '5'"):                      {field, "value of filter criterion for field 'Sum__c' must be of type double and should not be enclosed in quotes"},
		where("Open__c = 'true'"):                  {field, "must be of type boolean and should not be enclosed in quotes"},
		where("Open__c = 1"):                       {field, "must be of type boolean"},
		where("At__c = '2026-11-30T08:00:00Z'"):    {field, "value of filter criterion for field 'At__c' must be of type dateTime and should not be enclosed in quotes"},
		where("At__c = 2026-11-30"):                {field, "must be of type dateTime"},
		where("Due__c = 2026-11-30T08:00:00Z"):     {field, "value of filter criterion for field 'Due__c' must be of type date and should not be enclosed in quotes"},
		where("Due__c = '2026-11-30'"):             {field, "must be of type date"},
		where("Due__c = 2026-13-01"):               {malformed, "invalid date: 2026-13-01"},
		where("At__c = 2026-02-30T08:00:00Z"):      {malformed, "invalid date: 2026-02-30T08:00:00Z"},
		where("At__c = 2026-11-30T08:00:00"):       {malformed, "unexpected token: 'T08'"},
		where("At__c = 2026-11-30T09:00:00 01:00"): {malformed, "unexpected token: 'T09'"}, // a + that was not encoded
		where("Due__c = LAST_N_DAYS"):              {malformed, "unexpected token: '<EOF>'"},
		where("Due__c = LAST_N_DAYS:x"):            {malformed, "unexpected token: 'x'"},
		where("Due__c = TODAY:1"):                  {malformed, "unexpected token: ':'"},
		where("Id = 'xyz'"):                        {operator, "invalid ID field: xyz"},
		where("Shop__c IN ('xyz')"):                {operator, "invalid ID field: xyz"},
		where("Id = 5"):                            {field, "must be of type id and should be enclosed in quotes"},
		where("Id LIKE 'a%'"):                      {operator, "invalid operator on id field"},
		where("Shop__c > 'a00000000000001'"):       {operator, "invalid operator on reference field"},
		where("Sum__c LIKE '1%'"):                  {operator, "invalid operator on double field"},
		where("Open__c > true"):                    {operator, "invalid operator on boolean field"},
		where("Tags__c > 'A'"):                     {operator, "invalid operator on multipicklist field"},
		where("Text__c = 'a'"):                     {field, "field 'Text__c' can not be filtered in a query call"},
		where("Text__c != null"):                   {field, "field 'Text__c' can not be filtered in a query call"},
		where("Nope__c = 'a'"):                     {field, "No such column 'Nope__c'"},
		where(strings.Repeat("(", 250) + "Name = 'a'" + strings.Repeat(")", 250)): {"QUERY_TOO_COMPLICATED", ""},
		where(strings.Repeat("NOT ", 250) + "Name = 'a'"):                         {"QUERY_TOO_COMPLICATED", ""},
		where("Name = '" + strings.Repeat("x", 100_000) + "'"):                    {malformed, "SOQL statements cannot be longer than 100000 characters."},
		where("Name = '\xff'"): {malformed, "not valid UTF-8"},
	} {
		name := query[:min(len(query), 80)]
		_, err := w.compile(query)
		var e *soql.Error
		if assert.ErrorAs(t, err, &e, name) {
			assert.Equal(t, want[0], e.Code, name)
			assert.Contains(t, e.Message, want[1], name)
		}
	}
}

func TestAQueryOfTheGreatestLengthIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	query := "SELECT Id FROM Order__c WHERE Name = ''"
	_, err := w.compile(query[:len(query)-1] + strings.Repeat("ä", 100_000-len(query)) + "'")
	assert.NoError(t, err)
}

func TestHiddenFieldsLookAsIfTheyWereNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := soql.Options{Now: now, Visible: func(f *schema.Field) bool { return f.Name != "Sum__c" && f.Name != "Shop__c" }}
	for query, want := range map[string]string{
		"SELECT Sum__c FROM Order__c":                   "No such column 'Sum__c'",
		"SELECT Id FROM Order__c WHERE Sum__c = 1":      "No such column 'Sum__c'",
		"SELECT Id FROM Order__c ORDER BY Sum__c":       "No such column 'Sum__c'",
		"SELECT SUM(Sum__c) FROM Order__c":              "No such column 'Sum__c'",
		"SELECT Shop__r.Name FROM Order__c":             "Didn't understand relationship 'Shop__r'",
		"SELECT Id FROM Order__c GROUP BY Shop__r.Name": "Didn't understand relationship 'Shop__r'",
	} {
		_, err := soql.Compile(query, w.schema, opt)
		assert.ErrorContains(t, err, want, query)
	}
	q, err := soql.Compile("SELECT FIELDS(ALL) FROM Order__c LIMIT 1", w.schema, opt)
	require.NoError(t, err)
	assert.Len(t, q.Select.Items, len(w.schema.Object("Order__c").Fields)-2)
}
