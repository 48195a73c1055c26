// Package leveldb has C++ LevelDB write and read single tables, and databases, by
// small programs that are compiled against the installed library (Debian:
// libleveldb-dev).
package leveldb

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// ErrMissing is what Build returns where there is no C++ compiler or no
// LevelDB.
var ErrMissing = errors.New("leveldb: not installed (Debian: apt-get install g++ libleveldb-dev)")

//go:embed cxx
var sources embed.FS

// A Tool is the compiled program.
type Tool struct {
	path    string
	Version string // of the library
}

// Build compiles the program into dir.
func Build(dir string) (*Tool, error) { return build(dir, "-lleveldb") }

// BuildWith compiles the program into dir, with the headers and the libleveldb.a of a source
// tree of LevelDB in which make has run.
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
	version, err := t.run(nil, "version")
	t.Version = strings.TrimSpace(string(version))
	return t, err
}

// compile compiles the program of that name into dir, with the library that the flags name.
func compile(dir, name string, library ...string) (path string, err error) {
	cxx, err := exec.LookPath("g++")
	if err != nil {
		return "", ErrMissing
	}
	probe := exec.Command(cxx, "-E", "-x", "c++", "-")
	probe.Stdin = strings.NewReader("#include <leveldb/table_builder.h>\n")
	if probe.Run() != nil {
		return "", ErrMissing
	}
	for _, file := range []string{name + ".cc", "common.h"} {
		source, err := sources.ReadFile("cxx/" + file)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, file), source, 0o666); err != nil {
			return "", fmt.Errorf("leveldb: %w", err)
		}
	}
	path = filepath.Join(dir, name)
	build := exec.Command(cxx, append([]string{"-std=c++17", "-O2", "-fno-rtti", "-o", path, path + ".cc"}, library...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("leveldb: %w\n%s", err, out)
	}
	return path, nil
}

// Write builds the table of pairs with a golden table's options.
func (t *Tool) Write(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
	var in []byte
	for _, p := range pairs {
		in = workload.AppendPair(in, p)
	}
	compression := "0"
	if g.Compression == "snappy" {
		compression = "1"
	}
	dir, err := os.MkdirTemp(filepath.Dir(t.path), "table")
	if err != nil {
		return nil, fmt.Errorf("leveldb: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table")
	_, err = t.run(in, "build", file, strconv.Itoa(g.BitsPerKey), strconv.Itoa(g.BlockSize), strconv.Itoa(g.RestartInterval), compression)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// Scan reads the table forward, then backward, with paranoid checks.
func (t *Tool) Scan(file string, bitsPerKey int) (forward, backward []workload.Pair, err error) {
	out, err := t.run(nil, "scan", file, strconv.Itoa(bitsPerKey))
	if err != nil {
		return nil, nil, err
	}
	var pairs []workload.Pair
	for len(out) > 0 {
		key, value := binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])
		out = out[8:]
		pairs = append(pairs, workload.Pair{Key: out[:key], Value: out[key : key+value]})
		out = out[key+value:]
	}
	half := len(pairs) / 2
	return pairs[:half], pairs[half:], nil
}

// An Answer is what a lookup found, and how many reads of the file it took.
type Answer struct {
	Found bool
	Reads int
}

// Get looks keys up, as the database does: filter first.
func (t *Tool) Get(file string, bitsPerKey int, keys [][]byte) ([]Answer, error) {
	var in []byte
	for _, k := range keys {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(k))), k...)
	}
	out, err := t.run(in, "get", file, strconv.Itoa(bitsPerKey))
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

// Filter builds a filter of keys, and asks it for others.
func (t *Tool) Filter(bitsPerKey int, keys, asked [][]byte) (filter []byte, answers []bool, err error) {
	var in []byte
	for _, k := range append(slices.Clip(keys), asked...) {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(k))), k...)
	}
	out, err := t.run(in, "filter", strconv.Itoa(bitsPerKey), strconv.Itoa(len(keys)))
	if err != nil {
		return nil, nil, err
	}
	n := 4 + binary.LittleEndian.Uint32(out)
	for _, answer := range out[n:] {
		answers = append(answers, answer == 1)
	}
	return out[4:n], answers, nil
}

// Live makes a database without compression in dir and does the ops with it.
func (t *Tool) Live(dir string, bitsPerKey int, ops []history.Op) ([]history.Answer, error) {
	var in []byte
	for _, op := range ops {
		in = op.Append(in)
	}
	out, err := t.run(in, "live", dir, strconv.Itoa(bitsPerKey))
	if err != nil {
		return nil, err
	}
	var answers []history.Answer
	for len(out) > 0 {
		found, n := binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])
		out = out[8:]
		answers = append(answers, history.Answer{Found: found == 1, Value: out[:n]})
		out = out[n:]
	}
	return answers, nil
}

func (t *Tool) run(in []byte, args ...string) ([]byte, error) {
	c := exec.Command(t.path, args...)
	c.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("leveldb: %s: %w: %s", args[0], err, &stderr)
	}
	return out, nil
}
