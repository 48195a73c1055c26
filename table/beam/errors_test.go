package setio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// writeContents writes files of these contents, and returns their names.
func writeContents(t *testing.T, contents []string) []string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, content := range contents {
		name := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// Impossible arguments are errors before anything runs.
func TestWriteRefusesArguments(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	files := beam.Create(s, "a")
	for name, test := range map[string]struct {
		s     beam.Scope
		dir   string
		files beam.PCollection
		o     setio.Options
		want  string
	}{
		"no entries":      {s, "/set", files, setio.Options{EntriesPerTable: -1}, "EntriesPerTable is -1, want 1 to 100000000"},
		"many entries":    {s, "/set", files, setio.Options{EntriesPerTable: 1e9}, "EntriesPerTable is 1000000000"},
		"short runs":      {s, "/set", files, setio.Options{RunSize: 1}, "RunSize is 1, want 4096 to 1073741824"},
		"not registered":  {s, "/set", files, setio.Options{Writer: "unknown"}, `Writer is "unknown"`},
		"writer's option": {s, "/set", files, setio.Options{Writer: "bad"}, "BlockSize is -1"},
		"no directory":    {s, "", files, setio.Options{}, "absolute path"},
		"no scope":        {beam.Scope{}, "/set", files, setio.Options{}, "zero value"},
		"no files":        {s, "/set", beam.PCollection{}, setio.Options{}, "zero value"},
		"files as bytes":  {s, "/set", beam.Create(s, []byte("a")), setio.Options{}, "want string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := setio.Write(test.s, test.dir, test.files, test.o)
			if err == nil || !strings.HasPrefix(err.Error(), "setio: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that starts with setio: and has %q", err, test.want)
			}
		})
	}
	if _, err := setio.Write(s, "/set", files, setio.Options{EntriesPerTable: 1, RunSize: 4096, Writer: "12 bits"}); err != nil {
		t.Error(err)
	}
	if _, _, err := p.Build(); err != nil {
		t.Error(err)
	}
}

// If anything fails, the pipeline fails and there is no manifest. Prism goes on for a while, so
// that its error can be that of a later step.
func TestFailuresLeaveNoManifest(t *testing.T) {
	good := writeContents(t, []string{"a\nb\n", "c\nd\n"})
	for name, test := range map[string]struct {
		files   []string
		prepare func(t *testing.T, dir string)
	}{
		"missing file": {files: append(good, "/missing")},
		"no renaming":  {files: good, prepare: blockLastTable},
		"not ours":     {files: good, prepare: writeBadManifest},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "set")
			if test.prepare != nil {
				test.prepare(t, dir)
			}
			if err := build(dir, test.files, setio.Options{EntriesPerTable: 1}); err == nil {
				t.Error("the pipeline succeeds, want an error")
			}
			if m, err := os.ReadFile(filepath.Join(dir, set.ManifestName)); err == nil && string(m) != "{}" {
				t.Errorf("there is a manifest: %s", m)
			}
		})
	}
}

func writeBadManifest(t *testing.T, dir string) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, set.ManifestName), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// blockLastTable makes a directory with the name of the last of the tables, so that it cannot
// be written.
func blockLastTable(t *testing.T, dir string) {
	if err := build(dir, writeContents(t, []string{"a\nb\n", "c\nd\n"}), setio.Options{EntriesPerTable: 1}); err != nil {
		t.Fatal(err)
	}
	m, _ := readSet(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, m.Tables[len(m.Tables)-1].Name), 0o777); err != nil {
		t.Fatal(err)
	}
}

// A list without files is more likely a mistake than a set without keys.
func TestNoFilesIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := build(dir, nil, setio.Options{}); err == nil {
		t.Error("the pipeline succeeds, want an error")
	}
	if names := list(t, dir); len(names) > 0 {
		t.Errorf("there are files: %v", names)
	}
}
