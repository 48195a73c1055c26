package command

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// writeSmall has goleveldb write a database with three tables and a log, in a directory whose name must be quoted in
// a shell.
func writeSmall(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my db")
	writeTo(t, dir, nil, func(db *leveldb.DB) (err error) {
		for _, first := range []string{"a", "k", "t"} {
			for i := range 300 {
				value := make([]byte, 100)
				rand.NewChaCha8([32]byte{first[0], byte(i)}).Read(value)
				err = errors.Join(err, db.Put(fmt.Appendf(nil, "%s%04d", first, i), value, nil))
			}
			err = errors.Join(err, db.CompactRange(util.Range{Start: []byte(first), Limit: []byte(first + "~")}))
		}
		for i := range 20 {
			err = errors.Join(err, db.Put(fmt.Appendf(nil, "z%04d", i), make([]byte, 50), nil))
		}
		return err
	})
	v, err := versions.Read(dir)
	noError(t, err)
	isListed := func(name string) bool {
		return slices.ContainsFunc(v.Tables, func(listed *versions.Table) bool { return versions.TableName(listed.Number) == name })
	}
	for name := range filesOf(t, dir) {
		if versions.IsTableName(name) && !isListed(name) { // on a busy machine, goleveldb is closed before it removes all of them
			noError(t, os.Remove(filepath.Join(dir, name)))
		}
	}
	return dir
}

// databaseFile matches the names of a database's files in messages.
var databaseFile = regexp.MustCompile(`CURRENT\b|MANIFEST-[0-9]+|[0-9]{6}\.(?:ldb|log)`)

// A fault is a way to damage a file.
type fault struct {
	name  string
	apply func(rng *rand.Rand, path string) error
}

// random returns a fault of package dbdamage.
func random(kind dbdamage.Kind) func(rng *rand.Rand, path string) error {
	return func(rng *rand.Rand, path string) error {
		_, _, err := dbdamage.Apply(rng, path, kind)
		return err
	}
}

var fileFaults = []fault{
	{"removed", random(dbdamage.Lost)},
	{"a directory", func(_ *rand.Rand, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) }},
	{"empty", func(_ *rand.Rand, path string) error { return os.Truncate(path, 0) }},
	{"truncated", random(dbdamage.Cut)},
	{"zeroed", random(dbdamage.ZeroedPage)},
	{"changed", random(dbdamage.Flipped)},
}

// databaseCommands read a database. DIR stands for its directory, and NEW for a directory that does not exist.
var databaseCommands = []string{"get DIR a0007", "get DIR k0007 t0007 z0007", "scan DIR", "verify DIR", "stats --tables DIR", "stats DIR", "repair DIR -o NEW", "merge --database DIR -o NEW", "diff DIR SOUND"}

// loss matches messages about a damaged or missing file.
var loss = regexp.MustCompile(`lost|missing|does not exist|mismatch|footer|no version edit|a directory|names "|size is|truncated|unexpected|no such file`)

// literal matches the help's placeholders for file names. NEW is not one, since the user chooses that name.
var literal = regexp.MustCompile(`\b(DIR|SOURCE|FILE|TABLE)\b`)

// If one file of a database is damaged, messages name it. Each message that names files names it first, and only one
// reports the loss. Suggested commands can be pasted.
func TestMessagesNameTheFile(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	sound := writeSmall(t)
	rng := rand.New(rand.NewPCG(45, 4))
	tries := rounds(1, 10)
	isOther := func(name string) bool { return !databaseFile.MatchString(name) }
	for i, name := range slices.DeleteFunc(slices.Sorted(maps.Keys(filesOf(t, sound))), isOther) {
		for j, f := range fileFaults {
			for range tries {
				dir := copyOf(t, sound)
				noError(t, f.apply(rng, filepath.Join(dir, name)))
				for k, command := range databaseCommands {
					if long.Enabled() || (i+j+k)%4 == 0 {
						checkMessages(t, sound, dir, name, f.name, command)
					}
				}
			}
		}
	}
}

// checkMessages runs a command on a database with a damaged file.
func checkMessages(t *testing.T, sound, dir, name, fault, command string) {
	t.Helper()
	args := strings.Fields(command)
	for i, arg := range args {
		switch arg {
		case "DIR":
			args[i] = dir
		case "SOUND":
			args[i] = sound
		case "NEW":
			args[i] = filepath.Join(t.TempDir(), "new")
		}
	}
	status, stdout, stderr := sst(args...)
	fail := func(format string, args ...any) {
		t.Errorf("%s is %s: sst %s: status %d: %s\n%s", name, fault, command, status, fmt.Sprintf(format, args...), stderr)
	}
	said := strings.ReplaceAll(stderr, dir, "DB")
	losses := 0
	for line := range strings.Lines(said) {
		if literal.MatchString(line) {
			fail("%q has a literal name", line)
		}
		if first := databaseFile.FindString(line); first != "" && first != name && !isAboutName(line, name) && !isOlder(name, fault) {
			fail("%q names another file first", line)
		}
		if strings.Contains(line, name) && loss.MatchString(line) && !strings.Contains(line, "sst repair") && !mayBeObsolete(line, name) {
			losses++
		}
	}
	if losses > 1 && !isOlder(name, fault) {
		fail("it is said %d times what is wrong with the file", losses)
	}
	if (status == cli.ExitDamaged || status == cli.ExitUsage) && !strings.Contains(stdout+stderr, name) {
		fail("the file is not named")
	}
	checkAdvice(t, dir, said)
}

// isAboutName reports whether a message is about the named file although it names another one first: because CURRENT
// names it, or because the message is about the files that are read instead.
func isAboutName(line, name string) bool {
	return strings.Contains(line, "CURRENT names "+name) || strings.Contains(line, "CURRENT does not exist") && name == "CURRENT" || mayBeObsolete(line, name)
}

// mayBeObsolete reports whether a message is about a missing table that the damaged MANIFEST called name lists: an
// unreadable edit may have removed the table.
func mayBeObsolete(line, name string) bool {
	return strings.Contains(line, "listed in "+name+", which is damaged: the table may be obsolete")
}

// isOlder reports whether a fault leaves a MANIFEST as it may have been earlier. Other files then do not match it.
func isOlder(name, fault string) bool {
	return fault == "truncated" && strings.HasPrefix(name, "MANIFEST")
}

// checkAdvice runs the commands that messages suggest, as a shell parses them.
func checkAdvice(t *testing.T, dir, said string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		return
	}
	for line := range strings.Lines(said) {
		_, advice, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": sst ")
		if !ok {
			continue
		}
		words, err := exec.Command(bash, "-c", "printf '%s\\0' "+strings.ReplaceAll(advice, "DB", dir)).Output()
		if err != nil {
			t.Errorf("bash does not take %q: %v", advice, err)
			continue
		}
		args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
		if i := slices.Index(args, "-o"); i >= 0 {
			args[i+1] = filepath.Join(t.TempDir(), "new")
		}
		if status, _, stderr := sst(args...); status != cli.ExitOK && status != cli.ExitDamaged {
			t.Errorf("sst %q, as %q advises: status %d, %s", args, line, status, stderr)
		}
	}
}

// A repair names each range of lost keys if there are few. Otherwise it names one range for each file, and the number
// of ranges.
func TestRepairNamesFewRanges(t *testing.T) {
	t.Parallel()
	for blocks, want := range map[int]int{3: 3, 8: 8, 9: 1, 30: 1} {
		dir, renewed := filepath.Join(t.TempDir(), "my db"), filepath.Join(t.TempDir(), "new")
		pairs := tempFile(t, "in", numberedLines(1000, "key%04[1]d\t%0100[1]d"))
		mustSST(t, "build", "--database", "-o", dir, "--block-size", "1", "-c", "none", pairs)
		path := onlyFile(t, filepath.Join(dir, "*.ldb"))
		contents := readFile(t, path)
		for i := range blocks { // every other one
			contents[bytes.Index(contents, fmt.Appendf(nil, "key%04d", 100+2*i))+20] ^= 1
		}
		writeFile(t, path, contents)
		status, stdout, stderr := sst("repair", dir, "-o", renewed)
		isSummary := strings.Contains(stderr, fmt.Sprintf(" in %d ranges (", blocks))
		if status != cli.ExitDamaged || strings.Count(stderr, ": lost the keys ") != want || strings.Count(stderr, "\n") != want || isSummary != (want < blocks) {
			t.Errorf("%d damaged blocks: status %d, %s%s", blocks, status, stdout, stderr)
		}
	}
}
