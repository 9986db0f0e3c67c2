//go:build race

package property

const cases = "50"
