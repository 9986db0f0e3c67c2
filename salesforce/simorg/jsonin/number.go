package jsonin

func (p *parser) number() string {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !p.digits() {
		p.unexpected()
	}
	if p.peek() == '.' {
		p.pos++
		if !p.digits() {
			p.unexpected()
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c = p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !p.digits() {
			p.unexpected()
		}
	}
	if p.err != nil {
		return ""
	}
	return string(p.data[start:p.pos])
}

func (p *parser) digits() bool {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos > start
}
