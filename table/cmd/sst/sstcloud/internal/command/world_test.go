package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A world is a part of a bucket that several sstcloud processes use concurrently. Each has its own proxy, which
// delays requests so that the test controls their order.
type world struct {
	t      *testing.T
	bucket *blob.Bucket // bypasses the proxies
	prefix string
	sets   map[string]string // directories by the keys of their sets
	made   int               // number of programs
	ended  []*program
}

// newWorld returns a world below a prefix of the test's bucket. It contains the set ab, and unlisted tables of the
// set cd.
func newWorld(t *testing.T, bucket *blob.Bucket, number int, sets map[string]string) *world {
	t.Helper()
	prefix := fmt.Sprintf("world-%d/", number)
	w := &world{t: t, bucket: blob.PrefixedBucket(bucket, prefix), prefix: prefix, sets: sets}
	for _, keys := range []string{"cd", "ab"} {
		if p := w.put(keys).run(); p.status != 0 {
			t.Fatal(p)
		}
	}
	return w
}

// object returns the bytes of an object, or nil if there is none.
func (w *world) object(key string) []byte {
	b, err := w.bucket.ReadAll(context.Background(), key)
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		w.t.Error(err)
	}
	return b
}

// tablesOf returns the tables listed in a manifest's contents. If file is nil, it returns nil.
func tablesOf(t *testing.T, file []byte) []set.Table {
	if file == nil {
		return nil
	}
	m, err := set.ReadManifest(bytes.NewReader(file))
	noError(t, err)
	return m.Tables
}

// keysOf returns the keys of the set that a manifest's contents describe.
func keysOf(t *testing.T, file []byte) (keys string) {
	for _, t := range tablesOf(t, file) {
		keys += string(t.Smallest)
	}
	return keys
}

// listed returns the keys of the set whose manifest is stored.
func (w *world) listed(key string) string { return keysOf(w.t, w.object(key)) }

// gone returns the tables that a manifest lists but the bucket lacks.
func (w *world) gone(key string) (names []string) {
	for _, t := range tablesOf(w.t, w.object(key)) {
		there, err := w.bucket.Exists(context.Background(), t.Name)
		noError(w.t, err)
		if !there {
			names = append(names, t.Name)
		}
	}
	return names
}

// A program is an sstcloud process.
type program struct {
	w        *world
	number   int // in order of creation
	args     []string
	keys     string // keys of the set to put; "" for a sweep
	manifest string
	step     func() (done func()) // is called before each request, and done after it

	fault s3test.Fault // answers requests; nil: the server answers

	mu     sync.Mutex
	there  []byte // the manifest that the program has read or written last
	own    bool   // that manifest once listed the program's set
	gone   bool   // when objects were listed, the manifest listed the program's set, and one of its tables was missing
	status int
	output string
}

// program returns a program with these arguments. The URL comes last.
func (w *world) program(args ...string) *program {
	w.made++
	p := &program{w: w, number: w.made, args: args, step: func() func() { return func() {} }}
	proxy := s3test.NewProxy(w.t)
	proxy.Spoil(p.serve)
	p.args = append(p.args, s3test.BucketURL(w.t, proxy.URL)+"&prefix="+w.prefix)
	return p
}

// put returns a program that puts the set with these keys.
func (w *world) put(keys string, manifest ...string) *program {
	key := append(manifest, set.ManifestName)[0]
	p := w.program("put", "--concurrency", "1", "--manifest", key, w.sets[keys])
	p.keys, p.manifest = keys, key
	return p
}

// sweep returns a program that deletes unlisted tables of any age.
func (w *world) sweep() *program { return w.program("sweep", "--delete", "--age", "0s") }

// run runs the program to its end.
func (p *program) run() *program {
	var out bytes.Buffer
	p.status = Run(p.args, strings.NewReader(""), &out, &out)
	p.output = out.String()
	return p
}

func (p *program) String() string {
	return fmt.Sprintf("%s %s: exit status %d: %s", strings.Join(p.args[:len(p.args)-1], " "), p.keys, p.status, p.output)
}

// serve answers a request when it is its turn. It checks that a put has read the manifest that it replaces.
func (p *program) serve(w http.ResponseWriter, r *http.Request, server http.Handler) {
	defer p.step()()
	p.mu.Lock()
	defer p.mu.Unlock()
	key, before := path.Base(r.URL.Path), []byte(nil)
	replaces := r.Method == http.MethodPut && key == p.manifest
	if replaces {
		before = p.w.object(key)
	}
	answer := httptest.NewRecorder()
	if p.fault != nil {
		p.fault(answer, r, server)
	} else {
		server.ServeHTTP(answer, r)
	}
	if replaces && answer.Code == http.StatusOK {
		if !bytes.Equal(before, p.there) {
			p.w.t.Errorf("%v has replaced a manifest that it has not read", p)
		}
		p.there = p.w.object(key)
	}
	if r.Method == http.MethodGet && key == p.manifest {
		if p.there = nil; answer.Code == http.StatusOK {
			p.there = slices.Clone(answer.Body.Bytes())
		}
	}
	if p.own = p.own || keysOf(p.w.t, p.there) == p.keys; p.keys != "" && r.URL.Query().Has("list-type") {
		p.gone = p.gone || p.w.listed(p.manifest) == p.keys && len(p.w.gone(p.manifest)) > 0
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	io.Copy(w, answer.Body)
}

// checkEnd checks the exit status of a put. 0 means that its manifest was stored and, unless another put has
// replaced it since, has all tables. 3 means that one is missing, or was when put looked. 2 means that another
// program has written the manifest, or that sweeps keep deleting tables.
func (p *program) checkEnd() {
	p.w.t.Helper()
	p.w.ended = append(p.w.ended, p)
	if p.keys == "" {
		return
	}
	gone := p.w.gone(p.manifest)
	listed := p.w.listed(p.manifest)
	switch {
	case p.status == cli.ExitOK && len(gone) == 0 && listed == p.keys:
	case p.status == cli.ExitOK && listed != p.keys && p.own:
	case p.status == cli.ExitDamaged && p.gone && strings.Contains(p.output, "upload the set again"):
	case p.status == cli.ExitUsage && strings.Contains(p.output, "another program has replaced this manifest"):
	case p.status == cli.ExitUsage && strings.Contains(p.output, "tables were deleted during the upload, 3 times"):
	default:
		p.w.t.Errorf("%v\nthe manifest lists %q, and of its tables are gone: %q", p, listed, gone)
	}
}

// checkEnds checks after the end of all programs that a missing listed table was reported: by the put of that
// manifest, or by a sweep.
func (w *world) checkEnds() {
	w.t.Helper()
	for _, key := range []string{set.ManifestName, "day.jsonl"} {
		gone := w.gone(key)
		said := slices.ContainsFunc(w.ended, func(p *program) bool {
			return p.status == cli.ExitDamaged && (p.keys == "" || p.manifest == key && p.keys == w.listed(key))
		})
		if len(gone) > 0 && !said {
			w.t.Errorf("%s lists %q, which are gone, and nobody says so: %v", key, gone, w.ended)
		}
	}
}
