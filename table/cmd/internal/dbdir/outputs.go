package dbdir

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// outputFlags are the flags of all commands that name a file or a directory to write.
var outputFlags = []string{"output", "manifest-line", "state"}

// AddForce adds the flag --force to a command that can replace files of a set or a database.
func AddForce(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace a set, or a table that a manifest lists")
}

// CheckOutputs returns an error if a database or a set needs a file that the command would replace. With --force,
// listed tables can be replaced, and a note says what to do next. Only sst manifest replaces the manifest of a set.
func CheckOutputs(cmd *cobra.Command) error {
	force, _ := cmd.Flags().GetBool("force") // false for a command without the flag
	for _, name := range outputFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed || f.Value.Type() != "string" || f.Value.String() == "-" {
			continue
		}
		path := f.Value.String()
		owner := OwnerOf(RealName(path))
		if cmd.Name() == "rates" { // it writes two files with other names
			owner = cmp.Or(OwnerOf(RealName(path+".svg")), OwnerOf(RealName(path+".csv")))
		}
		replaceable := name == "output" && (owner.Listed || owner.What == setManifest && cmd.Name() == "manifest")
		switch {
		case owner.What == "":
		case replaceable && force:
			if owner.After != "" {
				text.Note(cmd.ErrOrStderr(), "%s is %s: %s", path, owner.What, owner.After)
			}
		case replaceable && cmd.Flags().Lookup("force") != nil:
			after := ""
			if owner.After != "" {
				after = " (" + owner.After + ")"
			}
			return cli.UsageErrorf("--%s is %s, %s: to replace it, use --force%s", name, format.ShellPath(path), owner.What, after)
		default:
			return cli.UsageErrorf("--%s is %s, %s: name another file", name, format.ShellPath(path), owner.What)
		}
	}
	return nil
}

// An Owner is the database or the set that needs a file.
type Owner struct {
	What   string // such as "a table of the database in DIR"; "": nothing needs the file
	Listed bool   // the file is a listed table
	After  string // what to do after replacing it
}

const setManifest = "the manifest of a set" // in Owner.What

// OwnerOf returns the owner of the file with that path, which may be missing. It does not follow links.
func OwnerOf(path string) Owner { return OwnersIn(filepath.Dir(path))(filepath.Base(path)) }

// OwnersIn is like OwnerOf, for files in one directory. It reads the manifests there only once.
func OwnersIn(dir string) func(name string) Owner {
	current, _ := versions.FindCurrentOrManifest(dir)
	var owner func(name string, exists bool) Owner
	if current != "" {
		owner = ownersInDatabase(dir)
	} else {
		owner = ownersInSet(dir)
	}
	return func(name string) Owner {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if exists := err == nil && !info.IsDir(); !isSetManifest(path) && !(exists && current == "" && name == set.ManifestName) {
			return owner(name, exists)
		}
		return Owner{setManifest, false, ""}
	}
}

// engineNames lists the names of engine files other than tables, logs and MANIFESTs.
var engineNames = []string{"CURRENT", "LOCK", "LOG", "LOG.old", "CURRENT.bak"}

// ownersInDatabase is OwnersIn for the directory of a database. If the MANIFEST cannot be read to its end, it may
// list any existing table.
func ownersInDatabase(dir string) func(name string, exists bool) Owner {
	v, err := versions.Read(dir)
	readWhole := err == nil && v.Torn == 0 && v.Unread == 0
	return func(name string, exists bool) Owner {
		if versions.IsLogName(name) || versions.IsManifest(name) || slices.Contains(engineNames, name) || strings.HasSuffix(name, ".dbtmp") {
			return Owner{"a name reserved for the database in " + dir, false, ""}
		}
		l := numbered(filepath.Join(dir, name))
		mayList := exists && !readWhole
		if !versions.IsTableName(name) || !l.HasEngineName() || !mayList && (err != nil || !v.Lists(l.number)) {
			return Owner{}
		}
		return Owner{"a table of the database in " + dir, true, "engines refuse the database if the size changes. To convert all of it, run: " + files.MergeLine("--database ", dir, "NEW")}
	}
}

// ownersInSet is OwnersIn for a directory that may contain manifests of sets. Their tables can have any names. A
// manifest that cannot be read may list any existing file, but no directory.
func ownersInSet(dir string) func(name string, exists bool) Owner {
	type list struct {
		path  string
		m     *set.Manifest // nil if unreadable
		names map[string]bool
	}
	var lists []list
	manifests, _ := manifestsOfSets(dir, isSetManifest) // creating the file returns the error
	for _, path := range manifests {
		l := list{path: path, names: map[string]bool{}}
		if m, err := ReadSetManifest(path, ListOptions{}); err == nil {
			l.m = m
			for _, t := range tablesOfSet(dir, m) {
				l.names[t.Line.Name] = true
			}
		}
		lists = append(lists, l)
	}
	return func(name string, exists bool) Owner {
		for _, l := range lists {
			switch {
			case l.names[name], l.m == nil && exists:
				what := "a table of the set in " + dir
				if l.m == nil {
					what = "perhaps " + what + ", whose manifest " + format.Printable(filepath.Base(l.path)) + " cannot be read"
				}
				return Owner{what, true, afterReplacing(l.m, l.path)}
			case name == filepath.Base(l.path)+".lock":
				return Owner{"the lock of the set in " + dir, false, ""}
			}
		}
		return Owner{}
	}
}

// afterReplacing says what to do after replacing a table of a set. A manifest cannot be written again if it has layers,
// or lists only filters. m is nil if it is unreadable.
func afterReplacing(m *set.Manifest, path string) string {
	isFilter := func(t set.Table) bool { return filepath.Ext(t.Name) == ".filter" }
	if m == nil || len(m.Layers) > 0 || slices.ContainsFunc(m.Tables, isFilter) {
		return "the set must then be built again"
	}
	return "write its manifest again, with the same tables: sst manifest --force " + namesFor(m, filepath.Dir(path)) + " -o " + format.ShellPath(path)
}

// namesFor returns the paths of a manifest's tables for a command line, or a placeholder if there are many. The
// directory may also contain tables of older sets.
func namesFor(m *set.Manifest, dir string) string {
	const most = 10
	if len(m.Tables) > most {
		return "TABLE..."
	}
	var names []string
	for _, t := range m.Tables {
		names = append(names, format.ShellPath(filepath.Join(dir, t.Name)))
	}
	return strings.Join(names, " ")
}

// manifestsOfSets returns the paths of the manifests of sets in a directory. A file with another name than
// set.ManifestName is one if isManifest says so.
func manifestsOfSets(dir string, isManifest func(path string) bool) (paths []string, err error) {
	names, err := regular.DirOf(dir).Names()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if name == set.ManifestName || !versions.IsTableName(name) && isManifest(path) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// RealName returns the path of a file, which may be missing, in its real directory. It does not clean the path
// first, since the parent of a link is the parent of its target.
func RealName(path string) string {
	path = cmp.Or(strings.TrimRightFunc(path, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) }), path)
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		path = wd + string(filepath.Separator) + path
	}
	for _, resolve := range []func(string) (string, error){atomicfile.Resolve, filepath.EvalSymlinks} { // the second for directories
		if real, err := resolve(path); err == nil {
			return real
		}
	}
	return filepath.Clean(path)
}

// SetManifests returns the manifests of sets in a directory. A manifest that cannot be read is an error, and so is
// another file that may be one.
func SetManifests(dir string) (all []*set.Manifest, err error) {
	paths, err := manifestsOfSets(dir, mayBeSetManifest)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		m, err := ReadSetManifest(path, ListOptions{})
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// mayBeSetManifest is like isSetManifest, but also returns true for files that may be manifests: a broken link, a
// file that cannot be opened or read, an empty file with the extension of a manifest, or a file with a damaged
// first line before lines of tables.
func mayBeSetManifest(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		_, err = os.Lstat(path)
		return err == nil // otherwise it was removed
	}
	if !info.Mode().IsRegular() {
		return false
	}
	if info.Size() == 0 { // cut short, or another file, such as a lock
		return filepath.Ext(path) == filepath.Ext(set.ManifestName)
	}
	start, err := dbfile.ReadStart(path)
	if err != nil || len(start) == 0 {
		return !errors.Is(err, fs.ErrNotExist)
	}
	// An input file of sst manifest has only lines of tables.
	isTable := func(line []byte) bool { return hasFirstLine(line, `{"name":`, `"sha256":`) }
	return isSetManifest(path) || !isTable(start) && slices.ContainsFunc(bytes.Split(start, []byte("\n")), isTable)
}
