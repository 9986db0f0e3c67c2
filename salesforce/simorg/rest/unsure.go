package rest

// Unsure holds the switches for facts no source confirms; what each does is
// written in simorg.UnsureSwitches. The zero value is the likely way.
type Unsure struct {
	CulpritUnnamed        bool
	PriorUnlocked         bool
	Milliseconds          bool
	CreatedMissing        bool
	DuplicateFieldsFilled bool
	DuplicateUnknown      bool
	HaltedMates           bool
	HaltedCollections     bool
	NullReferenceClears   bool
	PlainNumbers          bool
	ControlRefused        bool
	LookupsLock           bool
	MalformedRowsAlone    bool
	JWTCeiling            bool
	ExactDuplicateKeys    bool
}
