package dbdir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// An Owner is the database or the set that needs a file.
type Owner struct {
	What   string // such as "a table of the database in DIR"; "": nothing needs the file
	Listed bool   // it is a table that a manifest lists, or the manifest of a set: else an engine gives files that name
	After  string // what to do after a listed table was replaced
}

// OwnerOf returns what needs the file of that path, which may be missing. It does not follow links.
func OwnerOf(path string) Owner {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if current, _ := versions.FindCurrentOrManifest(dir); current != "" {
		return ownerInDatabase(dir, name)
	}
	if isSetManifest(path) {
		return Owner{"the manifest of a set", true, ""}
	}
	manifest := setManifestOf(dir)
	if manifest == "" {
		return Owner{}
	}
	m, err := ReadSetManifest(manifest, ListOptions{})
	isTable := func(t TableFile) bool { return t.Line.Name == name }
	if err == nil && slices.ContainsFunc(tablesOfSet(dir, m), isTable) {
		return Owner{"a table of the set in " + dir, true, fmt.Sprintf("write its manifest again, by sst manifest --force %s -o %s", filepath.Join(text.ShellPath(dir), "*"+filepath.Ext(name)), text.ShellPath(manifest))}
	}
	if name == set.ManifestName+".lock" {
		return Owner{"the lock of the set in " + dir, false, ""}
	}
	return Owner{}
}

// engineNames are what engines call files besides tables, logs and MANIFESTs.
var engineNames = []string{"CURRENT", "LOCK", "LOG", "LOG.old", "CURRENT.bak"}

// ownerInDatabase is OwnerOf for a file in the directory of a database. If its MANIFEST cannot be read, it may list any
// table.
func ownerInDatabase(dir, name string) Owner {
	_, isLog := versions.LogNumber(name)
	if isLog || versions.IsManifest(name) || slices.Contains(engineNames, name) || strings.HasSuffix(name, ".dbtmp") {
		return Owner{fmt.Sprintf("a name that engines give to files of the database in %s", dir), false, ""}
	}
	l := numbered(filepath.Join(dir, name))
	if !isTableName(name) || !l.hasEngineName() {
		return Owner{}
	}
	if v, err := versions.Read(dir); err == nil && !v.Lists(l.number) {
		return Owner{}
	}
	return Owner{"a table of the database in " + dir, true, "engines refuse the database unless the size stays the same: to convert all of it, run: sst merge --database " + text.ShellPath(dir) + " -o NEW"}
}
