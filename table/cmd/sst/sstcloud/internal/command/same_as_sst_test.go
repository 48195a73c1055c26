package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// reading are the commands that read sets and tables. SET is the set, TABLE one of its tables, NEW an output, and
// KEYS a file of keys.
var reading = []string{
	"get SET key-00700", "get SET key-00007", "get SET absent", "get SET key-00003 nothing key-01400 key-01999 key-00700",
	"get --format json SET key-00700", "get --format hex SET key-00700", "get --format raw SET key-00700",
	"get --keys-from KEYS SET", "get --keys-from KEYS --strict SET", "get --explain SET key-01400", "get SET/set.jsonl key-01400",
	"get TABLE key-00700", "get TABLE absent",
	"scan SET", "scan --keys --reverse SET", "scan --prefix key-007 SET", "scan --from key-00500 --to key-01500 --count SET",
	"scan --limit 3 SET", "scan --limit 3 --reverse SET", "scan --where --limit 1900 SET", "scan --strict SET", "scan --format json SET",
	"scan --versions SET", "scan --from b --to a SET", "scan TABLE", "scan SET/set.jsonl", "scan --all-tables --count SET",
	"stats SET", "stats --json SET", "stats TABLE", "stats SET/set.jsonl",
	"verify SET", "verify --json SET", "verify -q SET", "verify TABLE", "verify SET/set.jsonl", "verify TABLE TABLE",
	"layout TABLE", "layout --json TABLE", "layout SET", "diff SET SET", "diff TABLE SET", "report -o NEW SET", "report -o NEW TABLE",
	"merge SET -o NEW/", "merge SET -o NEW", "merge SET TABLE -o NEW", "convert TABLE -o NEW", "repair TABLE -o NEW", "repair SET -o NEW",
	"manifest TABLE -o NEW",
}

// A seenSet is a set to read, undamaged or damaged.
type seenSet struct {
	name  string
	build []string // arguments of sst build, besides the output and the input
	layer bool     // whether to add a layer
	spoil func(dir string, tables []string) error
}

var seenSets = []seenSet{
	{"sound", []string{"--bits", "10"}, false, nil},
	{"layers", []string{"--bits", "10"}, true, nil},
	{"a missing table", []string{"--bits", "10"}, true, func(_ string, tables []string) error { return os.Remove(tables[1]) }},
	{"a damaged block", nil, true, func(_ string, tables []string) error { return flip(tables[1], 100) }},
	{"a damaged end", []string{"--bits", "10"}, false, func(_ string, tables []string) error { return flip(tables[1], -60) }},
	{"a damaged footer", nil, false, func(_ string, tables []string) error { return flip(tables[1], -1) }},
	{"a table that is cut", nil, false, func(_ string, tables []string) error { return os.Truncate(tables[1], 1000) }},
	{"an empty table", nil, false, func(_ string, tables []string) error { return os.Truncate(tables[1], 0) }},
	{"another table", nil, false, func(_ string, tables []string) error { return copyFile(tables[0], tables[1]) }},
	{"a manifest that is cut", nil, false, func(dir string, _ []string) error { return os.Truncate(filepath.Join(dir, "set.jsonl"), 300) }},
	{"filters", []string{"--filter-only"}, false, nil},
	{"a missing filter", []string{"--filter-only"}, false, func(_ string, tables []string) error { return os.Remove(tables[1]) }},
}

// flip changes a bit of a file, at an offset from its end if that is negative.
func flip(name string, at int) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	return os.WriteFile(name, b, 0o666)
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}

// make builds the set, and returns its directory and the name of one of its tables.
func (s *seenSet) make(t *testing.T) (dir, table string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "set")
	var lines, changes bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&lines, "key-%05d\tvalue %d\n", i, i)
	}
	for i := 0; i < 2000; i += 7 {
		fmt.Fprintf(&changes, "key-%05d\tchanged %d\n", i, i)
	}
	removed := filepath.Join(t.TempDir(), "removed")
	noError(t, os.WriteFile(removed, []byte("key-00003\nkey-01999\n"), 0o666))
	sst := func(in io.Reader, args ...string) {
		cmd := process("sst", args...)
		cmd.Stdin = in
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	sst(&lines, append(append([]string{"build", "--entries-per-table", "500", "-o", dir + "/"}, s.build...), "-")...)
	if s.layer {
		sst(&changes, "build", "--layer-of", dir, "--delete", removed, "-")
	}
	tables, err := filepath.Glob(filepath.Join(dir, "00000*"))
	if err == nil && s.spoil != nil {
		err = s.spoil(dir, tables)
	}
	if err != nil || len(tables) < 4 {
		t.Fatal(tables, err)
	}
	return dir, filepath.Base(tables[1])
}

// process returns a command that runs this test binary under a program's name.
func process(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	return cmd
}

// A place is the location of a set: a directory or a URL.
type place struct {
	program    string
	set, query string // the argument for the set
	printed    string // its name in the output of commands
}

// argument returns the argument for a file in the set.
func (p place) argument(name string) string { return p.set + "/" + name + p.query }

// An outcome is the result of a command.
type outcome struct {
	Status         int
	Stdout, Stderr string
	Written        map[string]string // contents by path below NEW
}

// run runs one of the reading commands.
func (p place) run(t *testing.T, command, table, keys string) outcome {
	t.Helper()
	dir := t.TempDir()
	var args []string
	for _, word := range strings.Fields(command) {
		switch {
		case word == "SET":
			word = p.set + p.query
		case word == "TABLE":
			word = p.argument(table)
		case strings.HasPrefix(word, "SET/"):
			word = p.argument(strings.TrimPrefix(word, "SET/"))
		case word == "KEYS":
			word = keys
		case strings.HasPrefix(word, "NEW"):
			word = dir + "/" + word
		}
		args = append(args, word)
	}
	var out, errs bytes.Buffer
	cmd := process(p.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	o := outcome{cmd.ProcessState.ExitCode(), p.plain(out.String(), dir), p.plain(errs.String(), dir), map[string]string{}}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		o.Written[strings.TrimPrefix(path, dir)] = p.plain(string(b), dir)
		return err
	})
	noError(t, err)
	return o
}

// Expected differences: the time of a lookup, and advice to run sst repair on the damaged files of a directory,
// which does not apply to objects.
var (
	advice = regexp.MustCompile(`(?m)^sst: (to save what can still|(\S+: )?restore (what is|the table)|an empty table|the table has no|delete damaged objects).*\n`)
	line   = regexp.MustCompile(`(run|all into one): sst (get|merge|sweep --age 0s) (URL|SET)(/set\.jsonl|/\S+\.filter)?`)
	took   = regexp.MustCompile(`[0-9.]+ ?(ns|µs|ms)`)
)

// plain replaces the names of the place and the program, and expected differences.
func (p place) plain(s, dir string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, p.printed, "SET"), dir, "OUT")
	s = strings.ReplaceAll(s, "sstcloud", "sst")
	s = line.ReplaceAllString(s, "$1: sst $2 SET") // URLs are not repeated: see files.CommandLine
	return took.ReplaceAllString(advice.ReplaceAllString(s, ""), "TIME")
}

// All reading commands have the same output and exit status for a set in a directory with sst, and for its URLs
// with sstcloud.
func TestSameAsSST(t *testing.T) {
	scripttest.OnUnix(t)
	t.Parallel()
	bucket := s3test.Open(t, s3test.Server())
	inBucket, query, _ := strings.Cut(s3test.BucketURL(t, s3test.Server()), "?")
	keys := filepath.Join(t.TempDir(), "keys")
	noError(t, os.WriteFile(keys, []byte("key-01000\nnothing\nkey-00007\nkey-01998\nkey-00700\n"), 0o666))
	for i, s := range seenSets {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir, table := s.make(t)
			prefix := "seen-" + strconv.Itoa(i) + "/set/"
			sendFiles(t, blob.PrefixedBucket(bucket, prefix), dir)
			local := place{"sst", dir, "", dir}
			places := []place{
				{"sstcloud", fileURL(dir), "", fileURL(dir)},
				{"sstcloud", inBucket, "?" + query + "&prefix=" + prefix, inBucket + "/" + strings.TrimSuffix(prefix, "/")},
			}
			for _, command := range reading {
				want := local.run(t, command, table, keys)
				for _, p := range places {
					if diff := cmp.Diff(want, p.run(t, command, table, keys)); diff != "" {
						t.Errorf("%s: sstcloud %s differs from sst (-sst +sstcloud):\n%s", p.set, command, diff)
					}
				}
			}
		})
	}
}

// sendFiles puts the files of a directory into a bucket.
func sendFiles(t *testing.T, bucket *blob.Bucket, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	noError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = bucket.WriteAll(context.Background(), f.Name(), b, nil)
		}
		noError(t, err)
	}
}
