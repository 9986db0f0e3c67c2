// Package formula compiles and evaluates the formulas of validation rules.
package formula
