// Package leveldb has C++ LevelDB write and read tables and databases. It compiles small programs against the
// installed library (Debian: libleveldb-dev).
package leveldb

import (
	"embed"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

//go:embed cxx
var sources embed.FS

// A Tool is a compiled program that writes and reads single tables.
type Tool struct {
	path    string
	Version string // of the library
}

// Build compiles the program into dir.
func Build(dir string) (*Tool, error) { return build(dir, "-lleveldb") }

// BuildWith compiles the program into dir against a LevelDB source tree in which make has run.
func BuildWith(tree, dir string) (*Tool, error) {
	return build(dir, "-I"+filepath.Join(tree, "include"), filepath.Join(tree, "libleveldb.a"), "-lpthread")
}

// build compiles the program into dir, with the library that the flags name.
func build(dir string, library ...string) (*Tool, error) {
	path, err := compile(dir, "ldbtool", library...)
	if err != nil {
		return nil, err
	}
	t := &Tool{path: path}
	version, err := cxxtool.Run(t.path, nil, "version")
	t.Version = strings.TrimSpace(string(version))
	return t, err
}

// compile compiles the named program into dir, with the library that the flags name.
func compile(dir, name string, library ...string) (path string, err error) {
	return cxxtool.Compile(dir, cxxtool.Source{
		Files: sources, Name: name, Header: "leveldb/table_builder.h", Package: "libleveldb-dev", Library: library,
	})
}

// oneIf formats a boolean argument of a program.
func oneIf(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// Write builds a table of the pairs with a golden table's options.
func (t *Tool) Write(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
	dir, err := os.MkdirTemp(filepath.Dir(t.path), "table")
	if err != nil {
		return nil, fmt.Errorf("leveldb: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table")
	_, err = cxxtool.Run(t.path, cxxtool.Pairs(pairs), "build", file,
		strconv.Itoa(g.BitsPerKey), strconv.Itoa(g.BlockSize), strconv.Itoa(g.RestartInterval), oneIf(g.Compression == "snappy"))
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// Scan reads the table forward, then backward, with paranoid checks.
func (t *Tool) Scan(file string, bitsPerKey int) (forward, backward []workload.Pair, err error) {
	out, err := cxxtool.Run(t.path, nil, "scan", file, strconv.Itoa(bitsPerKey))
	if err != nil {
		return nil, nil, err
	}
	pairs := cxxtool.ParsePairs(out)
	half := len(pairs) / 2
	return pairs[:half], pairs[half:], nil
}

// An Answer is the result of a lookup, with the number of reads of the file.
type Answer struct {
	Found bool
	Reads int
}

// Get looks up keys as the database does: filter first.
func (t *Tool) Get(file string, bitsPerKey int, keys [][]byte) ([]Answer, error) {
	out, err := cxxtool.Run(t.path, cxxtool.Keys(keys), "get", file, strconv.Itoa(bitsPerKey))
	if err != nil {
		return nil, err
	}
	var answers []Answer
	for line := range strings.Lines(string(out)) {
		var found, reads int
		if _, err := fmt.Sscan(line, &found, &reads); err != nil {
			return nil, fmt.Errorf("leveldb: get: line %q: %w", line, err)
		}
		answers = append(answers, Answer{found == 1, reads})
	}
	return answers, nil
}

// Filter builds a filter of keys, and looks up others in it.
func (t *Tool) Filter(bitsPerKey int, keys, sought [][]byte) (filter []byte, answers []bool, err error) {
	in := cxxtool.Keys(append(slices.Clip(keys), sought...))
	out, err := cxxtool.Run(t.path, in, "filter", strconv.Itoa(bitsPerKey), strconv.Itoa(len(keys)))
	if err != nil {
		return nil, nil, err
	}
	n := 4 + binary.LittleEndian.Uint32(out)
	for _, answer := range out[n:] {
		answers = append(answers, answer == 1)
	}
	return out[4:n], answers, nil
}
