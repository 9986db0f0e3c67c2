package path

import (
	"bytes"
)

// Raw returns the bytes of p's value inside data exactly as they stand there,
// whatever p's root is. data must be JSON that [DecodeJSON] accepts.
func (p Path) Raw(data []byte) (raw []byte, present bool) {
	return rawFollow(rawValue(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))), p.steps)
}

func rawFollow(raw []byte, steps []step) ([]byte, bool) {
	for _, s := range steps {
		var ok bool
		if s.isIndex {
			raw, ok = rawElement(raw, s.index)
		} else {
			raw, ok = rawMember(raw, s.name)
		}
		if !ok {
			return nil, false
		}
	}
	return raw, len(raw) > 0
}

// rawMember finds the last member of that name.
func rawMember(raw []byte, name string) (value []byte, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	for rest := skipSpace(raw[1:]); rest[0] == '"'; {
		key := rawValue(rest)
		rest = skipSpace(rest[len(key):])
		v := rawValue(rest[1:])
		if nameIs(key, name) {
			value, ok = v, true
		}
		rest = afterComma(skipSpace(rest[1:])[len(v):])
	}
	return value, ok
}

func nameIs(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1:len(key)-1]) == name
	}
	d := decoder{s: string(key)}
	got, err := d.text()
	return err == nil && got == name
}

func rawElement(raw []byte, index int) ([]byte, bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	all := rawArrayElements(raw)
	if index < 0 {
		index += len(all)
	}
	if index < 0 || index >= len(all) {
		return nil, false
	}
	return all[index], true
}

func rawArrayElements(raw []byte) [][]byte {
	var all [][]byte
	for rest := skipSpace(raw[1:]); rest[0] != ']'; {
		v := rawValue(rest)
		all = append(all, v)
		rest = afterComma(rest[len(v):])
	}
	return all
}

func afterComma(rest []byte) []byte {
	rest = skipSpace(rest)
	if rest[0] == ',' {
		return skipSpace(rest[1:])
	}
	return rest
}

func skipSpace(data []byte) []byte {
	return bytes.TrimLeft(data, " \n\t\r")
}

// rawValue returns the bytes of the value that data begins with.
func rawValue(data []byte) []byte {
	data = skipSpace(data)
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += stringLen(data[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			n := bytes.IndexAny(data[i:], ",]} \n\t\r")
			if n < 0 {
				return data
			}
			return data[:i+n]
		}
		if depth <= 0 {
			return data[:i+1]
		}
	}
	return data
}

// stringLen returns the length of the string that data begins with, quotes
// included.
func stringLen(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
