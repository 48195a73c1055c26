// Package iq80 has iq80's LevelDB for Java write single tables. It compiles a small program against the installed
// library (Debian: libleveldb-java, default-jdk-headless).
package iq80

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// jars is the directory of the library on Debian.
const jars = "/usr/share/java"

//go:embed WriteTable.java
var source []byte

// A Tool is the compiled program.
type Tool struct {
	classPath string
	Version   string // of the library
}

// Build compiles the program into dir.
func Build(dir string) (*Tool, error) {
	versioned, _ := filepath.Glob(jars + "/leveldb-[0-9]*.jar") // fails only for a malformed pattern
	if _, err := exec.LookPath("javac"); err != nil || len(versioned) == 0 {
		return nil, errors.New("iq80: not installed (Debian: apt-get install default-jdk-headless libleveldb-java)")
	}
	file := filepath.Join(dir, "WriteTable.java")
	if err := os.WriteFile(file, source, 0o666); err != nil {
		return nil, fmt.Errorf("iq80: %w", err)
	}
	t := &Tool{
		classPath: strings.Join([]string{dir, jars + "/leveldb.jar", jars + "/leveldb-api.jar", jars + "/guava.jar"}, ":"),
		Version:   strings.TrimSuffix(strings.TrimPrefix(filepath.Base(versioned[0]), "leveldb-"), ".jar"),
	}
	if out, err := exec.Command("javac", "-cp", t.classPath, file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("iq80: %w\n%s", err, out)
	}
	return t, nil
}

// Write builds a table of the pairs with a golden table's options, but uncompressed and without a filter, since the
// library has no filters.
func (t *Tool) Write(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
	dir, err := os.MkdirTemp("", "iq80")
	if err != nil {
		return nil, fmt.Errorf("iq80: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table")
	write := exec.Command("java", "-cp", t.classPath, "WriteTable", file, strconv.Itoa(g.BlockSize), strconv.Itoa(g.RestartInterval))
	write.Stdin = bytes.NewReader(cxxtool.Pairs(pairs))
	if out, err := write.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("iq80: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}
