// Package formula compiles and evaluates the formulas of validation rules.
//
//	f, err := formula.Compile(rule.Formula, payment)   // err says where and what, in Salesforce's words
//	refused, err := f.True(formula.Env{New: row, Old: stored, Now: now})
//
// Everything is checked against the object when the formula is compiled: names,
// the number and the types of arguments, and that the whole gives true or
// false. Known are
//
//	logic     AND OR NOT IF CASE && || !  true false null
//	blanks    ISBLANK ISNULL BLANKVALUE NULLVALUE
//	change    ISNEW ISCHANGED PRIORVALUE
//	picklists ISPICKVAL TEXT CASE INCLUDES
//	text      BEGINS CONTAINS LEFT LEN LOWER RIGHT TEXT TRIM UPPER VALUE &
//	numbers   ABS MAX MIN MOD  + - * /
//	time      NOW TODAY DATEVALUE, and + - between dates and days
//	comparing = == <> != < <= > >=
//
// # Blanks
//
// A blank number or date is not zero. It equals only another blank, no order
// comparison with it holds, and arithmetic on it gives a blank. Blank text is
// the empty text, so ISNULL of a text is never true. Picklists can be looked at
// only through the functions named above, PRIORVALUE and ISCHANGED; comparing
// one directly is refused. On a new row PRIORVALUE gives the row's own value
// and ISCHANGED is false.
//
// Numbers are exact decimals; a quotient is rounded to 18 decimal places.
package formula
