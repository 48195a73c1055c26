package manifest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// FiltersDir is the directory of the golden filters, inside the directory of the tables.
const FiltersDir = "filters"

// A Filter is a filter built by an engine, without a table. In the file, its bytes are in hexadecimal.
type Filter struct {
	Producer   string   `json:"producer"`
	Version    string   `json:"version"`
	Name       string   `json:"name"`
	BitsPerKey int      `json:"bits_per_key"`
	Keys       []Hex    `json:"keys"`
	Filter     Hex      `json:"filter"`
	Answers    []Answer `json:"answers"` // for keys that are not all in the filter
}

// An Answer is the engine's answer for a key.
type Answer struct {
	Key        Hex  `json:"key"`
	MayContain bool `json:"may_contain"`
}

// Hex is a byte slice that is hexadecimal in JSON.
type Hex []byte

// MarshalText returns the bytes in hexadecimal.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText reads hexadecimal.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}

// WriteFilters writes the filters of one producer, one per line.
func WriteFilters(dir, producer string, filters []Filter) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, f := range filters {
		if err := e.Encode(f); err != nil {
			return fmt.Errorf("manifest: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(dir, FiltersDir, producer+".jsonl"), out.Bytes(), 0o666)
}

// ReadFilters reads the filters of a producer in dir.
func ReadFilters(dir, producer string) ([]Filter, error) {
	contents, err := os.ReadFile(filepath.Join(dir, FiltersDir, producer+".jsonl"))
	if err != nil {
		return nil, err
	}
	var filters []Filter
	for d := json.NewDecoder(bytes.NewReader(contents)); d.More(); {
		var f Filter
		if err := d.Decode(&f); err != nil {
			return nil, fmt.Errorf("manifest: filters of %s: %w", producer, err)
		}
		filters = append(filters, f)
	}
	return filters, nil
}
