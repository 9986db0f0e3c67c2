package soql

// statement is a query as it is written, not yet checked against a schema.
type statement struct {
	fields []selected
	count  bool // SELECT COUNT()
	from   token
	alias  string
	where  expr // nil: all rows
	group  []token
	order  []orderTerm
	limit  int // -1: none
	offset int
}

// selected is one column: a field path or a function of one.
type selected struct {
	function string // upper case; empty for a plain field
	path     token  // for FIELDS: ALL, STANDARD or CUSTOM
	alias    string
	pos      int
}

type orderTerm struct {
	column     selected
	descending bool
	nullsFirst bool
}

// expr is a condition: *junction, *negation or *comparison.
type expr interface{}

type junction struct {
	or    bool
	terms []expr
}

type negation struct{ term expr }

type comparison struct {
	path   token
	op     string // = != < <= > >= LIKE IN, NOT IN
	opPos  int
	values []literal // more than one only for IN, NOT IN
}

// literal is a value as written; number is the n of LAST_N_DAYS:n.
type literal struct {
	token
	number int
}
