//go:build unix

package main

import (
	"fmt"
	goversion "go/version"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/sievetable/sievetable/internal/long"
)

const (
	rootPath = "github.com/sievetable/sievetable"
	cmdPath  = rootPath + "/table/cmd"
	rootDir  = "../../.."
)

// installed are the modules that "go install" downloads to build sst. They do not include the dependencies of tests
// (goleveldb, a browser's driver), and none needs a C compiler. Add new dependencies of the command here.
var installed = []string{
	"codeberg.org/go-fonts/liberation",
	"codeberg.org/go-latex/latex",
	"codeberg.org/go-pdf/fpdf",
	"git.sr.ht/~sbinet/gg",
	"github.com/!vivid!cortex/ewma",
	"github.com/ajstarks/svgo",
	"github.com/cheggaaa/pb/v3",
	"github.com/dustin/go-humanize",
	"github.com/fatih/color",
	"github.com/gofrs/flock",
	"github.com/golang/freetype",
	"github.com/golang/snappy",
	"github.com/klauspost/compress",
	"github.com/klauspost/cpuid/v2",
	"github.com/mattn/go-colorable",
	"github.com/mattn/go-isatty",
	"github.com/mattn/go-runewidth",
	"github.com/rivo/uniseg",
	"github.com/sievetable/sievetable",
	"github.com/sievetable/sievetable/filter/blocked",
	"github.com/sievetable/sievetable/filter/fuse",
	"github.com/sievetable/sievetable/filter/paged",
	"github.com/sievetable/sievetable/table/cmd",
	"github.com/sievetable/sievetable/table/codecs",
	"github.com/spf13/cobra",
	"github.com/spf13/pflag",
	"github.com/zeebo/xxh3",
	"golang.org/x/image",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/term",
	"golang.org/x/text",
	"gonum.org/v1/gonum",
	"gonum.org/v1/plot",
}

// "go install .../table/cmd/sst@version" builds sst from a module proxy, with an empty module cache, and likewise
// sieve. A proxy with the files of this tree stands in for the tags.
func TestInstall(t *testing.T) {
	long.Test(t)
	t.Parallel()
	version := requiredRoot(t)
	dir := t.TempDir()
	cache := install(t, dir, version, cmdPath+"/sst", cmdPath+"/sieve")
	if diff := cmp.Diff(installed, downloaded(t, cache)); diff != "" {
		t.Errorf("modules that go install downloads (-want +got):\n%s", diff)
	}
}

// go install also builds sstcloud, a module of its own that needs the SDKs of object stores and a newer Go.
func TestInstallSSTCloud(t *testing.T) {
	long.Test(t)
	t.Parallel()
	if goversion.Compare(runtime.Version(), "go1.26") < 0 {
		t.Skip("sstcloud needs Go 1.26")
	}
	install(t, t.TempDir(), requiredRoot(t), cmdPath+"/sst/sstcloud")
}

// modules are the directories of our modules that the commands are built from.
var modules = []string{
	"", "filter/blocked", "filter/fuse", "filter/paged", "table/codecs", "table/cmd", "table/cloud", "table/cmd/sst/sstcloud",
}

// install installs programs of a version into a directory, and checks that they run. It returns the module cache.
func install(t *testing.T, dir, version string, programs ...string) (cache string) {
	t.Helper()
	proxy := filepath.Join(dir, "proxy")
	for _, m := range modules {
		publish(t, proxy, module.Version{Path: path.Join(rootPath, m), Version: version}, filepath.Join(rootDir, filepath.FromSlash(m)))
	}
	args := []string{"install"}
	for _, program := range programs {
		args = append(args, program+"@"+version)
	}
	cache = filepath.Join(dir, "modcache")
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"GOBIN="+dir, "GOMODCACHE="+cache, "GOPROXY="+proxies(t, proxy), "CGO_ENABLED=0",
		"GOARCH=",                       // this machine's: the go command installs nothing for another one in GOBIN
		"GOFLAGS=-modcacherw -trimpath", // to remove the cache, and to compile each dependency once for all runs
		"GOSUMDB=off",                   // the checksums of what the go command downloads here are in go.sum
	)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	for _, program := range programs {
		name := path.Base(program)
		out, err := exec.Command(filepath.Join(dir, name), "--version").CombinedOutput()
		if want := name + " version " + version + "\n"; err != nil || string(out) != want {
			t.Errorf("%s --version prints %q, %v, want %q", name, out, err, want)
		}
	}
	return cache
}

// requiredRoot returns the version of the root module that go.mod requires, and with
// which CHANGELOG.md begins. A release gives all modules this version.
func requiredRoot(t *testing.T) string {
	t.Helper()
	contents, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", contents, nil)
	if err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile(filepath.Join(rootDir, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, latest, _ := strings.Cut(string(changelog), "\n## ")
	latest = strings.Fields(latest)[0]
	for _, r := range mod.Require {
		if r.Mod.Path == rootPath && r.Mod.Version == latest {
			return latest
		}
	}
	t.Fatalf("go.mod does not require %s %s, the version that CHANGELOG.md begins with", rootPath, latest)
	return ""
}

// publish puts the module in dir into a file proxy: the list of its versions, the info and go.mod of this version,
// and its files without nested modules.
func publish(t *testing.T, proxy string, m module.Version, dir string) {
	t.Helper()
	versions := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(versions, 0o777); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string][]byte{
		"list":              []byte(m.Version + "\n"),
		m.Version + ".info": fmt.Appendf(nil, `{"Version":%q}`, m.Version),
		m.Version + ".mod":  mod,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), contents, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(versions, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := zip.CreateFromDir(f, m, dir); err != nil {
		t.Fatal(err)
	}
}

// proxies returns a GOPROXY that tries ours, then the module cache that the tests were built from, and then the
// configured proxies.
func proxies(t *testing.T, ours string) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, set, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.Join([]string{fileURL(ours), fileURL(filepath.Join(cache, "cache", "download")), set}, ",")
}

// fileURL returns the URL of a directory, also on Windows.
func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

// downloaded returns the paths of the modules whose files are in a module cache.
func downloaded(t *testing.T, cache string) []string {
	t.Helper()
	var paths []string
	files := os.DirFS(filepath.Join(cache, "cache", "download"))
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		if path, version, _ := strings.Cut(name, "/@v/"); strings.HasSuffix(version, ".zip") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
