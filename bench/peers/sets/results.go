package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// results are what was measured, how, and where.
type results struct {
	Command        string
	Machine, Peers [][2]string // names and values
	Rows           []row
	Curve          curve
}

// A row is one way to open the set of one engine, with one number of keys.
type row struct {
	N        int
	Name     string
	Build    float64 // CPU of a key, µs
	Unsorted float64 // the same, from unsorted keys, or -1: not measured
	Disk     int64   // bytes
	Update   int64   // bytes written
	asked
}

// A curve is how lookups take longer with less memory.
type curve struct {
	Tables, Keys int // how many tables, and how many keys each has
	Points       []point
}

func (r *results) save(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

func loadResults(file string) (*results, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(results)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(r.Rows) == 0 {
		return nil, fmt.Errorf("%s has no rows", file)
	}
	return r, nil
}

// What is between these lines of the README is written by this program.
const (
	beginMark = "<!-- written by bench/peers/sets: begin -->\n"
	endMark   = "<!-- written by bench/peers/sets: end -->\n"
)

// drawFile writes the tables of the results into the README.
func drawFile(results, readme string) error {
	r, err := loadResults(results)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	if text, err = draw(text, r); err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return os.WriteFile(readme, text, 0o666)
}

// draw returns the README with the tables of the results between its marks.
func draw(readme []byte, r *results) ([]byte, error) {
	before, rest, ok := bytes.Cut(readme, []byte(beginMark))
	_, after, closed := bytes.Cut(rest, []byte(endMark))
	if !ok || !closed {
		return nil, fmt.Errorf("no lines %q and %q, between which the tables go", beginMark, endMark)
	}
	return fmt.Appendf(nil, "%s%s%s%s%s", before, beginMark, r.tables(), endMark, after), nil
}
