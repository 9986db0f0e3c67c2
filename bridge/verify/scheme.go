package verify

// Scheme is a construction that no row of the table can express.
type Scheme struct {
	// Trust is what a delivery that passes has proved.
	Trust Trust
	// Key turns a secret into what Check needs, at start-up. Its error must
	// not quote the secret. params are what the source configures besides.
	Key func(secret string, params map[string]string) (any, error)
	// Check judges one delivery with one key.
	Check func(in Input) Reason
}

// Input is what a Scheme gets to judge.
type Input struct {
	Rule    Rule
	Key     any // of Scheme.Key
	Params  map[string]string
	Request Request
}

// Schemes is the registry of special constructions, by Rule.Kind.
type Schemes map[string]Scheme
