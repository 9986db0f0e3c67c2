// Package transform turns a value of an event into the value of a field.
//
// A [Source] finds the value: a path, the first of several, a template or fixed
// text. A [Transform], compiled from a [Spec], then treats it in this order,
// which stands in [Transform.Apply] alone:
//
//	missing   the field is left out; default stands in for it, and for null
//	          with default_null, and is final but for max
//	trim, lower, upper
//	map       by the value's text form; null and "" never reach it
//	as        the kind of value that is sent, see [As]
//	max       cuts text
//	required  missing, null and empty are errors
//
// null and "" give null, which clears the field; keep_empty with as: text keeps
// "", and as: boolean gives false.
//
// A transform is pure: the same value gives the same result on any machine, in
// any zone and locale. Numbers never pass through floating point.
package transform
