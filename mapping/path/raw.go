package path

// Raw returns the bytes of p's value inside data exactly as they stand there,
// whatever p's root is. data must be JSON that [DecodeJSON] accepts.
func (p Path) Raw(data []byte) (raw []byte, present bool) {
	return nil, false
}

// RawElements returns the bytes of each element inside data exactly as they
// stand there, in the order of [List.Elements] and with its errors. data must
// be JSON that [DecodeJSON] accepts.
func (l List) RawElements(data []byte) ([][]byte, error) {
	return nil, nil
}
