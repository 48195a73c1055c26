package setio_test

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// norename is memfs with another scheme, without the optional methods of a file system.
type norename struct{ filesystem.Interface }

func init() {
	filesystem.Register("norename", func(ctx context.Context) filesystem.Interface {
		return norename{memfs.New(ctx)}
	})
}

// readRemote returns the manifest of a set in a file system of Beam, and the names of all files there.
func readRemote(t *testing.T, dir string) (string, []string) {
	t.Helper()
	files, err := filesystem.New(t.Context(), dir)
	noError(t, err)
	m, err := filesystem.Read(t.Context(), files, dir+"/"+set.ManifestName)
	noError(t, err)
	names, err := files.List(t.Context(), dir+"/*")
	noError(t, err)
	for i := range names {
		names[i] = path.Base(names[i])
	}
	slices.Sort(names)
	return string(m), names
}

// Files and the set can be in any file system of Beam, whether or not it can rename. The bytes are the same as in a
// directory. A file has its final name only when it is complete.
func TestOtherFileSystems(t *testing.T) {
	keys := shuffledURLs(1000)
	_, want := buildSet(t, writeFiles(t, 2, keys), setio.Options{EntriesPerTable: 300}, sortUnique(keys))
	memfs.Write("memfs://in/urls", append(bytes.Join(keys, []byte("\n")), '\n'))
	for i, dir := range []string{"memfs://out/urls", "memfs://out/urls", "norename://out/urls"} {
		p, s := beam.NewPipelineWithRoot()
		out, err := setio.WriteLines(s, dir+"/", beam.Create(s, "memfs://in/urls"), setio.Options{EntriesPerTable: 300})
		noError(t, err)
		passert.Equals(s, out, dir+"/"+set.ManifestName)
		ptest.RunAndValidate(t, p)
		m, names := readRemote(t, dir)
		checkDiff(t, dir+": manifests", want, m)
		parsed, err := set.ReadManifest(strings.NewReader(m))
		noError(t, err)
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".lease") && i == 2 })
		checkDiff(t, dir+": files", namesOf(parsed), names)
	}
}

// Sweep works in other file systems too. If they have no modification times, leases do not expire.
func TestSweepOtherFileSystems(t *testing.T) {
	table := "000001-" + strings.Repeat("0a", 32) + ".ldb"
	empty := fmt.Sprintln(`{"format":"sievetable-set","version":2,"tables":0}`)
	for name, content := range map[string]string{table: "", set.ManifestName: empty, "other": ""} {
		memfs.Write("memfs://sweep/urls/"+name, []byte(content))
	}
	noError(t, setio.Sweep(t.Context(), "memfs://sweep/urls"))
	_, names := readRemote(t, "memfs://sweep/urls")
	checkDiff(t, "files", []string{"other", set.ManifestName}, names)
	if err := setio.Sweep(t.Context(), "relative"); err == nil {
		t.Error("a relative directory is no error")
	}
}
