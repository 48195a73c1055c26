// Package cxxtool compiles small C++ programs against the installed libraries, and runs them. Keys and values in
// their input and output are prefixed with their lengths, as u32le.
package cxxtool

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/workload"
)

// ErrMissing is wrapped by the error of Compile if the C++ compiler or the library is not installed.
var ErrMissing = errors.New("not installed")

//go:embed common.h
var common []byte

// A Source is a program to compile.
type Source struct {
	Files   fs.FS    // with cxx/NAME.cc
	Name    string   // such as ldbtool
	Header  string   // of the library; tells whether it is installed
	Package string   // Debian package of the library
	Library []string // compiler flags for the library
}

// Compile compiles the program into dir, and returns its path.
func Compile(dir string, s Source) (path string, err error) {
	cxx, err := exec.LookPath("g++")
	if err != nil {
		return "", s.missing()
	}
	probe := exec.Command(cxx, "-E", "-x", "c++", "-")
	probe.Stdin = strings.NewReader("#include <" + s.Header + ">\n")
	if probe.Run() != nil {
		return "", s.missing()
	}
	program, err := fs.ReadFile(s.Files, "cxx/"+s.Name+".cc")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, s.Name)
	for name, contents := range map[string][]byte{path + ".cc": program, filepath.Join(dir, "common.h"): common} {
		if err := os.WriteFile(name, contents, 0o666); err != nil {
			return "", fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	build := exec.Command(cxx, append([]string{"-std=c++17", "-O2", "-fno-rtti", "-o", path, path + ".cc"}, s.Library...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", s.Name, err, out)
	}
	return path, nil
}

func (s Source) missing() error {
	return fmt.Errorf("%s: %w (Debian: apt-get install g++ %s)", s.Name, ErrMissing, s.Package)
}

// Run runs a program. It returns the standard output even if the program fails. The error contains the standard
// error.
func Run(path string, in []byte, args ...string) ([]byte, error) {
	c := exec.Command(path, args...)
	c.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(path), args[0], err, &stderr)
	}
	return out, err
}

// Keys encodes keys for the programs.
func Keys(keys [][]byte) (in []byte) {
	for _, k := range keys {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(k))), k...)
	}
	return in
}

// Pairs encodes pairs for the programs.
func Pairs(pairs []workload.Pair) (in []byte) {
	for _, p := range pairs {
		in = workload.AppendPair(in, p)
	}
	return in
}

// ParsePairs parses the pairs that a program printed. They share memory with out.
func ParsePairs(out []byte) (pairs []workload.Pair) {
	for len(out) > 0 {
		key, value := binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])
		out = out[8:]
		pairs = append(pairs, workload.Pair{Key: out[:key], Value: out[key : key+value]})
		out = out[key+value:]
	}
	return pairs
}
