package schema

import (
	"maps"

	"sfbridge/mapping/transform"
)

// Forms of text in a mapping file.
const (
	sourceName = `^[a-z][a-z0-9-]{0,39}$`
	apiName    = `^[A-Za-z][A-Za-z0-9_]{0,79}$`
	onePath    = `^(\$|@|header\.)`
	listPath   = `^(\$|header\.).*\[\*\]$`
)

func mappingWords() words {
	all := words{}
	for _, part := range []words{sourceWords(), eventWords(), reconcileWords(), routeWords(), recordWords(), fieldWords(), effectWords()} {
		maps.Copy(all, part)
	}
	return all
}

func sourceWords() words {
	return words{
		"source":           {text: "Name of the source: the last part of POST /webhooks/{source}.", pattern: sourceName},
		"provider":         {text: "Preset of the provider: signature, identity, order, handshake and answer. generic is any sender with an HMAC signature.", pattern: sourceName},
		"secrets":          {text: "Secrets that signatures are checked by. All of them are accepted, so that they can be rotated."},
		"secrets[]":        {text: `Reference to a secret: "${NAME}" or "${file:/path}".`},
		"params":           {text: "What the preset needs besides, such as verify_token or webhook_id."},
		"params.*":         {text: "A value, a reference to one, or a list of them."},
		"params.*[]":       {text: "A value, or a reference to one."},
		"processor":        {text: "Who applies the events: the bridge, or the Apex package inside the org."},
		"unmatched":        {text: "What happens to an event that no route takes: review keeps it for a person, ignore answers and forgets it."},
		"on_conflict":      {text: "What happens to a known event id with other content: keep it beside the first, in review, or reject it with 409."},
		"limits":           {text: "Bounds of what is taken in from this source."},
		"limits.max_body":  {text: "Largest delivery, such as 1MiB."},
		"limits.rate":      {text: "Events a second; 0 for the receiver's own setting."},
		"limits.encodings": {text: "Content encodings that are accepted besides none."},
		"encodings[]":      {text: "A content encoding.", values: []string{"gzip"}},
		"currencies":       {text: "Digits after the point of currencies that the provider counts otherwise than ISO 4217."},
		"currencies.*":     {text: "Digits after the point."},
		"authority":        {text: "Where the provider's own object is loaded from before an event is mapped."},
		"authority.get":    {text: "Address with placeholders: \"https://HOST/PATH/{$.id}\". Scheme and host are fixed."},
		"authority.auth":   {text: `Value of the Authorization header, with a reference: "Bearer ${NAME}".`, pattern: reference},
		"authority.into":   {text: "Path in the event where the object is put.", pattern: `^\$`},
		"authority.when":   {text: "always, or unsigned: unless the whole body was under the signature."},
		"verify":           {text: "Parts of the preset's signature rule that are otherwise."},
		"verify.headers":   {text: "Headers that hold the signature."},
		"verify.headers[]": {text: "Name of a header."},
		"verify.prefix":    {text: "What stands before the signature in its header, such as sha256=."},
		"verify.hash":      {text: "Hash of the HMAC."},
		"verify.encoding":  {text: "How the signature is written."},
		"verify.signed":    {text: `What is signed: "{body}", "{ts}.{body}", …`, pattern: `\{body\}`},
		"verify.timestamp": {text: "Where the time of signing stands."},
		"timestamp.header": {text: "Header that holds the time."},
		"timestamp.unit":   {text: "Unit of the time: seconds or milliseconds."},
		"verify.tolerance": {text: "How old or new a signature may be."},
	}
}

func eventWords() words {
	return words{
		"event":            {text: "Which event a delivery is. What the preset knows may be left out."},
		"event.id":         {text: `Event id: a path or a template, such as $.id or "order:{$.id}:v{$.version}".`},
		"event.type":       {text: "Event type: a path or a template."},
		"event.object":     {text: "The provider's object that the event is about: a path or a template."},
		"event.order":      {text: "Where the order of an object's events is found."},
		"order.from":       {text: "Path of the order value.", pattern: onePath},
		"order.first":      {text: "Paths of which the first with a value holds the order value."},
		"order.first[]":    {text: "A path.", pattern: onePath},
		"order.as":         {text: "What the order value is."},
		"event.volatile":   {text: "Parts of the event that may differ between deliveries of one event: left out of its hash."},
		"event.volatile[]": {text: "A path in the event.", pattern: `^\$`},
		"event.split":      {text: `List whose elements are the events of a batch, such as "$.events[*]"; then $ is the element and $$ the delivery.`, pattern: listPath},
	}
}

func reconcileWords() words {
	return words{
		"reconcile":          {text: "Compares the objects that the provider lists with Salesforce."},
		"reconcile.list":     {text: "Address of the first page of the list.", pattern: `^[hH][tT][tT][pP][sS]?://`},
		"reconcile.auth":     {text: `Value of the Authorization header, with a reference: "Bearer ${NAME}".`, pattern: reference},
		"reconcile.items":    {text: `Where a page holds the objects, such as "$.data[*]".`, pattern: listPath},
		"reconcile.next":     {text: "Where a page names the next: a path, header.Link, or an address with placeholders. Left out: one page."},
		"reconcile.type":     {text: "Type of the events that are made of the objects; a route must take it."},
		"reconcile.into":     {text: "Path in the event where the object is put.", pattern: `^\$`},
		"reconcile.order":    {text: "Where the order value is found: $ is the event, @ the object. Left out: when the list was asked for."},
		"reconcile.every":    {text: "Time between comparisons."},
		"reconcile.repair":   {text: "true: what differs is staged as an event."},
		"reconcile.complete": {text: "true: the list holds every object, so that records of others are reported."},
	}
}

func routeWords() words {
	return words{
		"routes":          {text: "What is done with which events: the first route that fits takes an event."},
		"routes[]":        {text: "One kind of event."},
		"routes[].name":   {text: "Short name; metrics and history show it."},
		"routes[].when":   {text: "Conditions that must all hold: type, or a path, with a value or a list of which one must fit. Left out: every event."},
		"routes[].when.*": {text: "Text is a glob (* any run, ? one character, \\ escapes); other values compare by type and value."},
		"when.*[]":        {text: "One of the values that fit."},
		"routes[].schema": {text: "JSON Schema file, beside this one, that the event must fit; one that doesn't waits for a person."},
		"routes[].ignore": {text: "true: events are answered and forgotten."},
		"records":         {text: "The records that an event writes."},
		"records[]":       {text: "One record, or one for each element of a list."},
		"effects":         {text: "Side effects of transitions."},
		"effects[]":       {text: "A side effect, delivered once for each transition."},
	}
}

func recordWords() words {
	return words{
		"records[].object":   {text: "API name of the object, such as Payment__c.", pattern: apiName},
		"records[].action":   {text: "upsert; update never inserts; delete."},
		"records[].coalesce": {text: "true: writes of several events to one record may be folded into one."},
		"records[].each":     {text: `List of which each element is a record, such as "$.lines[*]"; @ is the element.`, pattern: listPath},
		"records[].order":    {text: "true: an older event never overwrites a newer one. The target keeps order, event id and lock in Source_Order__c, Source_Event__c and Source_Prior__c, or in the named fields."},
		"order.field":        {text: "Number field that keeps the order value.", pattern: apiName},
		"order.event":        {text: "Text field that keeps the event id.", pattern: apiName},
		"order.prior":        {text: "Text field that keeps the event id that a decision was made on.", pattern: apiName},
		"records[].state":    {text: "The states of the target and the steps between them."},
		"state.field":        {text: "Field that holds the state; it must be mapped.", pattern: apiName},
		"state.allow":        {text: "Allowed steps: {From: [To, …]}."},
		"state.allow.*":      {text: "States that this one may become."},
		"state.allow.*[]":    {text: "A state."},
		"key":                {text: "External ID of the record."},
		"key.field":          {text: "External ID field.", pattern: apiName},
		"key.from":           {text: "Path of the key.", pattern: onePath},
		"key.first":          {text: "Paths of which the first with a value is the key."},
		"key.first[]":        {text: "A path.", pattern: onePath},
		"key.template":       {text: `Text with placeholders: "{$.id}/{@.id}".`},
	}
}

func fieldWords() words {
	kinds := []string{}
	for _, k := range []transform.As{
		transform.Text, transform.Number, transform.Integer, transform.Boolean, transform.Datetime, transform.Date,
		transform.MinorUnits, transform.MultiPicklist, transform.JSON,
	} {
		kinds = append(kinds, string(k))
	}
	return words{
		"fields":                {text: "The fields that are written, by API name; a lookup stands under the name of the relationship.", keys: apiName},
		"fields.*":              {text: "A path, or where the value comes from (from, first, template or value) and what is done to it."},
		"fields.*.from":         {text: "Path of the value.", pattern: onePath},
		"fields.*.first":        {text: "Paths of which the first that is present and not null gives the value."},
		"fields.*.first[]":      {text: "A path.", pattern: onePath},
		"fields.*.template":     {text: `Text with placeholders: "{$.a} {$.b}". Missing when a part is missing or null.`},
		"fields.*.value":        {text: "A fixed value."},
		"fields.*.trim":         {text: "Cut white space at both ends."},
		"fields.*.lower":        {text: "Lower case."},
		"fields.*.upper":        {text: "Upper case."},
		"fields.*.map":          {text: "Values by the text form of the value."},
		"fields.*.map.*":        {text: "The value to write instead."},
		"fields.*.otherwise":    {text: "The value where map has no match; without it that is an error."},
		"fields.*.as":           {text: "Kind of the value; left out: text, number or boolean as it is.", values: kinds},
		"fields.*.currency":     {text: "For as: minor_units: path of the currency's code, or the code."},
		"fields.*.format":       {text: "For as: datetime and date: rfc3339, unix_s, unix_ms, or a layout such as 2006-01-02 15:04:05."},
		"fields.*.timezone":     {text: "IANA name of the zone of dates and times without one."},
		"fields.*.max":          {text: "Longest text, in UTF-16 units; what is longer is cut."},
		"fields.*.required":     {text: "true: missing, null or empty is an error."},
		"fields.*.default":      {text: "The value where the event has none."},
		"fields.*.default_null": {text: "true: default is for null too."},
		"fields.*.keep_empty":   {text: `true, with as: text: "" stays "" instead of clearing the field.`},
		"fields.*.on":           {text: "Written only when the record is created, or only when it exists."},
		"fields.*.lookup":       {text: "Parent object of a lookup.", pattern: apiName},
		"fields.*.by":           {text: "External ID field of the parent.", pattern: apiName},
	}
}

func effectWords() words {
	return words{
		"effects[].name":           {text: "Short name, unique in the file. It is part of the effect's key: never change it."},
		"effects[].when":           {text: "The transition that fires the effect."},
		"effects[].when.object":    {text: "Object whose field is watched.", pattern: apiName},
		"effects[].when.field":     {text: "Field that is watched; the route must write it.", pattern: apiName},
		"effects[].when.from":      {text: "Value, or values, of which the field must have had one."},
		"effects[].when.from[]":    {text: "A value; null for a record that is created."},
		"effects[].when.to":        {text: "Value, or values, of which the field must get one."},
		"effects[].when.to[]":      {text: "A value."},
		"effects[].post":           {text: "An HTTP request."},
		"post.url":                 {text: `Address, or a reference to it: "${URL}".`},
		"post.secret":              {text: `Reference to the secret that the request is signed with.`},
		"post.body":                {text: "The request's JSON: fixed values, and paths that stand for the event's values.", anything: true},
		"effects[].salesforce":     {text: "A record of its own, by an external ID."},
		"salesforce.object":        {text: "API name of the object.", pattern: apiName},
		"effects[].platform_event": {text: "A platform event."},
		"platform_event.object":    {text: "API name of the platform event; it ends with __e.", pattern: `__[eE]$`},
	}
}
