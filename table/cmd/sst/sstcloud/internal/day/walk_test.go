package day

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// A walk is a kind of set from build to lookups. Its flags are those of sst build.
type walk struct {
	name, flags string
	layer       string // flags for building a layer
}

// otherWalks are kinds that sieve plan does not recommend for the rate of the test.
var otherWalks = []walk{
	{"table-bloom filters", "--filter-only --table-filter table-bloom:20", "--filter-only --table-filter table-bloom:20"},
	{"keys with both filters, zstd", "--bits 14 --table-filter table-bloom:6 --compression zstd", ""},
	// The others are long tests.
	{"keys with bloom", "--bits 20", ""},
	{"keys with table-bloom", "--bits none --table-filter table-bloom:20 --compression deflate", ""},
	{"fuse:8 filters", "--filter-only --table-filter fuse:8", "--filter-only --table-filter fuse:16"},
	{"fuse filters with a layer of table-bloom", "--filter-only", "--filter-only --table-filter table-bloom:20"},
}

const shortWalks = 2

// Every set that sieve plan recommends, and a set of each other kind, can be built, uploaded and served. A lookup
// of a listed key returns 200, and of an absent one 404.
func TestPlanToService(t *testing.T) {
	s3test.SetCredentials(t.Setenv)
	bin := build(t)
	p := &programs{t: t, took: map[string]time.Duration{}}
	sst := filepath.Join(bin, "sst")
	walks := planned(t, p.must(filepath.Join(bin, "sieve"), "plan", "-n", "10e9", "-p", "0.01%"))
	if walks = append(walks, otherWalks...); !long.Enabled() {
		walks = walks[:len(walks)-len(otherWalks)+shortWalks]
	}
	proxy := s3test.NewProxy(t)
	for i, w := range walks {
		t.Run(w.name, func(t *testing.T) {
			store := fmt.Sprintf("%s&prefix=walk-%d/", s3test.BucketURL(t, proxy.URL), i)
			w.run(t, &programs{t: t, took: map[string]time.Duration{}}, sst, filepath.Join(bin, "service"), store)
		})
	}
}

// buildLine matches a build command that sieve plan prints.
var buildLine = regexp.MustCompile(`(?m)^  sst build (.*) --input-format raw-keys (--on-duplicate first )?--entries-per-table [0-9]+ -o DIR/ INPUT$`)

// planned returns the sets that sieve plan recommends.
func planned(t *testing.T, plan string) (walks []walk) {
	t.Helper()
	for _, match := range buildLine.FindAllStringSubmatch(plan, -1) {
		w := walk{name: "planned: " + match[1], flags: match[1]}
		filterOnly := strings.Contains(w.flags, "--filter-only")
		if filterOnly {
			w.layer = w.flags
		}
		if repeats := match[2] != ""; repeats == filterOnly { // filters take repeated lines without the flag
			t.Errorf("--on-duplicate first: %v, in %s", repeats, match[0])
		}
		walks = append(walks, w)
	}
	if len(walks) != 2 {
		t.Fatalf("%d commands in the plan, want 2:\n%s", len(walks), plan)
	}
	return walks
}

// The first keys of a walk are in the set, the next ones in the layer, and the others in neither.
const (
	walkListed = 3000
	walkLayer  = 10
	walkAbsent = 1000
)

func walkKey(i int) string { return fmt.Sprintf("https://example.com/%d?page=%d", i*7919%1000003, i) }

// writeKeys writes keys from number i on to a file, one per line.
func writeKeys(t *testing.T, i, n int) string {
	t.Helper()
	var b strings.Builder
	for ; n > 0; i, n = i+1, n-1 {
		b.WriteString(walkKey(i) + "\n")
	}
	name := filepath.Join(t.TempDir(), "keys")
	noError(t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

// run builds, uploads and serves the set and then its layer, and looks up keys.
func (w *walk) run(t *testing.T, p *programs, sst, program, store string) {
	dir := filepath.Join(t.TempDir(), "set")
	sstBuild := func(flags string, args ...string) {
		t.Helper()
		p.must(append(append([]string{sst, "build", "--input-format", "raw-keys"}, strings.Fields(flags)...), args...)...)
	}
	sstBuild(w.flags, "--entries-per-table", "1000", "-o", dir+"/", writeKeys(t, 0, walkListed))
	p.must("sstcloud", "put", dir, store)
	s := &service{t: t, args: []string{program, "-address", "127.0.0.1:0", "-url", store}}
	s.start(p)
	t.Cleanup(s.end)
	check := &checker{t: t, client: http.DefaultClient, service: s}
	w.check(t, check, walkListed)
	sstBuild(w.layer, "--layer-of", dir, writeKeys(t, walkListed, walkLayer))
	p.must("sstcloud", "put", dir, store)
	if out, err := check.reload(); err != nil {
		t.Fatalf("reload: %v: %s", err, out)
	}
	w.check(t, check, walkListed+walkLayer)
}

// check looks up keys, the first of which are listed. A set of filters may have some false positives: 0.4 % for
// fuse:8, and fewer for others.
func (w *walk) check(t *testing.T, c *checker, listed int) {
	t.Helper()
	if out, err := c.health(); err != nil {
		t.Errorf("health: %v: %s", err, out)
	}
	falsePositives := 0
	for i := 0; i < walkListed+walkLayer+walkAbsent; i++ {
		if i < walkListed && i%10 > 0 {
			continue // the others are enough
		}
		status, text, err := c.get("/lookup?key=" + url.QueryEscape(walkKey(i)))
		switch {
		case err != nil:
			t.Fatal(err)
		case i < listed && status == http.StatusOK || i >= listed && status == http.StatusNotFound:
		case i >= listed && status == http.StatusOK && strings.Contains(w.flags, "--filter-only"):
			falsePositives++
		default:
			t.Fatalf("key %d, of which %d are listed: %d %s", i, listed, status, text)
		}
	}
	if falsePositives > walkAbsent/50 {
		t.Errorf("%d of %d absent keys are answered by 200", falsePositives, walkAbsent)
	}
}
