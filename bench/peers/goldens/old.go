package main

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// oldEngines are engines that few machines have installed.
type oldEngines struct {
	leveldbTree string // of LevelDB 1.17; "" if missing
	iq80        bool
}

// producers returns the old engines, including missing ones.
func (o oldEngines) producers(tmp string) ([]producer, error) {
	leveldb117, err := o.leveldb117(tmp)
	java, javaErr := o.java(tmp)
	return []producer{leveldb117, java}, errors.Join(err, javaErr)
}

// leveldb117 returns LevelDB 1.17. Its filters differ from today's for keys that end in bytes ≥ 0x80, as in the
// dataset byte-edges.
func (o oldEngines) leveldb117(tmp string) (p producer, err error) {
	p.name, p.matrix = "leveldb-1.17", []manifest.Table{
		{File: "byte-edges.ldb", BlockSize: 4096, RestartInterval: 16, BitsPerKey: 10, Compression: "none", Dataset: "byte-edges"},
		{File: "bits-20.ldb", BlockSize: 256, RestartInterval: 16, BitsPerKey: 20, Compression: "none", Dataset: "byte-edges"},
	}
	if o.leveldbTree == "" {
		return p, nil
	}
	dir, err := os.MkdirTemp(tmp, "") // tmp contains the program for the installed LevelDB
	if err != nil {
		return p, err
	}
	tool, err := leveldb.BuildWith(o.leveldbTree, dir)
	if err != nil {
		return p, err
	}
	p.version, p.write = tool.Version, tool.Write
	return p, nil
}

//go:embed WriteTable.java
var javaSource []byte

// jars is the directory of Java libraries on Debian.
const jars = "/usr/share/java"

// java returns iq80's LevelDB for Java. Its empty blocks, such as the metaindex of each table, have no restart
// point. It compiles a small program against the installed library.
func (o oldEngines) java(tmp string) (p producer, err error) {
	p.name = "iq80"
	for _, dataset := range []string{"empty", "one", "mixed", "byte-edges"} {
		p.matrix = append(p.matrix, manifest.Table{
			File: dataset + ".ldb", BlockSize: 4096, RestartInterval: 16, BitsPerKey: manifest.NoFilter, Compression: "none", Dataset: dataset,
		})
	}
	if !o.iq80 {
		return p, nil
	}
	versioned, _ := filepath.Glob(jars + "/leveldb-[0-9]*.jar") // fails only for a malformed pattern
	if _, err := exec.LookPath("javac"); err != nil || len(versioned) == 0 {
		return p, errors.New("iq80: not installed (Debian: apt-get install default-jdk-headless libleveldb-java)")
	}
	p.version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(versioned[0]), "leveldb-"), ".jar")
	classPath := strings.Join([]string{tmp, jars + "/leveldb.jar", jars + "/leveldb-api.jar", jars + "/guava.jar"}, ":")
	source := filepath.Join(tmp, "WriteTable.java")
	if err := os.WriteFile(source, javaSource, 0o666); err != nil {
		return p, err
	}
	p.write = func(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
		file := filepath.Join(tmp, "table")
		_, err := cxxtool.Run("java", cxxtool.Pairs(pairs), "-cp", classPath, "WriteTable", file, strconv.Itoa(g.BlockSize), strconv.Itoa(g.RestartInterval))
		if err != nil {
			return nil, err
		}
		return os.ReadFile(file)
	}
	_, err = cxxtool.Run("javac", nil, "-cp", classPath, source)
	return p, err
}
