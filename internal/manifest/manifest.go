// Package manifest lists the golden tables in testdata: the engine that wrote each of them, its options, and the
// contents.
package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Name is the name of the manifest's file, in the directory of the tables.
const Name = "MANIFEST"

// NoFilter is the BitsPerKey of a Table without a filter block.
const NoFilter = -1

// A Table is one golden table.
type Table struct {
	File            string `json:"file"` // its path in testdata
	Producer        string `json:"producer"`
	Version         string `json:"version"`
	BlockSize       int    `json:"block_size"`
	RestartInterval int    `json:"restart_interval"`
	BitsPerKey      int    `json:"bits_per_key"` // NoFilter: none
	Compression     string `json:"compression"`  // none or snappy
	Dataset         string `json:"dataset"`      // name in package workload
	Pairs           int    `json:"pairs"`
	PairsSHA256     string `json:"pairs_sha256"` // workload.Digest
	SHA256          string `json:"sha256"`       // of the file
}

// SHA256 returns the SHA-256 of contents in hexadecimal, as in the field SHA256.
func SHA256(contents []byte) string { return fmt.Sprintf("%x", sha256.Sum256(contents)) }

// Write writes the manifest in dir, one table per line.
func Write(dir string, tables []Table) error {
	out := []byte("[\n")
	for i, t := range tables {
		line, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("manifest: %w", err)
		}
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = append(out, line...)
	}
	return os.WriteFile(filepath.Join(dir, Name), append(out, "\n]\n"...), 0o666)
}

// Read reads the manifest in dir.
func Read(dir string) ([]Table, error) {
	contents, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	var tables []Table
	if err := json.Unmarshal(contents, &tables); err != nil {
		return nil, fmt.Errorf("manifest: %s: %w", Name, err)
	}
	return tables, nil
}
