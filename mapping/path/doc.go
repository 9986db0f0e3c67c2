// Package path finds values in a delivery: paths, lists, templates, and the
// JSON values they work on.
//
// A value tree is JSON as [DecodeJSON] gives it: map[string]any, []any,
// [json.Number] with the digits as written, string, bool and nil.
//
// A [Path] names one value. Its first characters say where it is looked up:
//
//	$.data.object.id         the event
//	@.sku                    the element of an "each"
//	$$.account               the whole delivery that an event was split from
//	header.X-Shopify-Topic   a header of the delivery, in any case
//
// The first three are RFC 9535 singular queries: member names and indexes,
// negative ones count from the end. A missing value is not a null one: Get
// tells them apart.
//
// Values of $$ and header come from an [Outer]: the live [Delivery] at receipt,
// later the stored context that [BuildContext] wrote and [ParseContext] reads.
//
// A [List] is a path followed by [*], once more for one nested level. A
// [Template] joins literal text and paths in braces, "{$.order}/{@.id}", with
// the escaping that its use needs.
//
// Everything here is compiled once, read-only afterwards and safe for
// concurrent use. Strings of a decoded tree share the memory of the delivery;
// what [Template.Expand] returns does not.
package path
