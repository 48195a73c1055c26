package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/sievetable/sievetable/bench/peers/internal/marked"
)

// results are the measurements, with the command, the machine and the versions of the peers.
type results struct {
	Command        string
	Machine, Peers [][2]string // names and values
	Rows           []row
	Curve          curve
}

// A row contains the figures for one way to open the set of an engine, with one number of keys.
type row struct {
	N        int
	Name     string
	Build    float64 // CPU time per key, µs
	Unsorted float64 // like Build, from unsorted keys; -1 if not measured
	Disk     int64   // bytes
	Update   int64   // bytes written
	costs
}

// A curve contains the times of lookups with less and less memory.
type curve struct {
	Tables, Keys int // number of tables, and keys per table
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

// drawPages writes tables of the results into all pages.
func drawPages(results string) error {
	r, err := loadResults(results)
	if err != nil {
		return err
	}
	for page, tables := range pages {
		if err := marked.Write(page, tables(r)); err != nil {
			return err
		}
	}
	return nil
}
