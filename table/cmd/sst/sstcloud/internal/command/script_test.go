package command

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	sst "github.com/sievetable/sievetable/table/cmd/sst/internal/command"
)

var noError = errtest.NoError

// programs are the names under which the test binary acts as another program.
var programs = map[string]func(){"sstcloud": runSSTCloud, "sst": runSST}

// runSSTCloud is the main function of sstcloud.
func runSSTCloud() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// runSST is the main function of sst.
func runSST() {
	text.Program = "sst"
	os.Exit(sst.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func TestMain(m *testing.M) {
	s3test.ServeIfAsked()
	testscript.Main(m, programs)
}

// The scripts in testdata/script run the command like users do. $DIR is the URL of an empty directory store. $S3 is
// the URL of an empty bucket on a server in another process, and $S3_OTHER that of its object other.jsonl. In
// addition to testscript's commands, there are:
//
//	set DIR N KEY=VALUE…       writes a set of tables of N entries. Of the table whose first key is KEY,
//	                           $SHA_KEY is the SHA-256 and $FILE_KEY the file
//	filters DIR N KEY…         writes a set of filters
//	layer DIR KEY=VALUE… -KEY… adds a layer to a set: what is added, and what is removed
//	older FILE DURATION        makes the file older
//	object put KEY TEXT        puts an object into the bucket; cut KEY N leaves N bytes; rm KEY deletes it
//	fault KIND METHOD PATTERN  answers requests for such objects by a fault, or no more if KIND is none
//	status N COMMAND [ARG…]    is exec of a command that exits with N
func TestScripts(t *testing.T) {
	scripttest.OnUnix(t)
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setUpScript,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"set": writeSet, "filters": writeFilters, "layer": addLayer,
			"older": makeOlder, "object": changeObject, "fault": spoil, "status": scripttest.Commands["status"],
		},
	})
}

// A bucket is a script's bucket, and the proxy in front of it.
type bucket struct {
	*blob.Bucket
	proxy *s3test.Proxy
}

// setUpScript gives a script a directory and a bucket.
func setUpScript(env *testscript.Env) error {
	t := env.T().(testing.TB)
	dir := filepath.Join(env.WorkDir, "store")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	proxy := s3test.NewProxy(t)
	env.Values["bucket"] = bucket{proxy.Bucket(t), proxy}
	bucketURL := s3test.BucketURL(t, proxy.URL)
	env.Setenv("S3", bucketURL)
	env.Setenv("S3_OTHER", strings.Replace(bucketURL, "?", "/other.jsonl?", 1))
	env.Setenv("DIR", fileURL(dir))
	s3test.SetCredentials(env.Setenv)
	return nil
}

func makeOlder(ts *testscript.TestScript, _ bool, args []string) {
	age, err := time.ParseDuration(args[1])
	ts.Check(err)
	then := time.Now().Add(-age)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), then, then))
}

func changeObject(ts *testscript.TestScript, _ bool, args []string) {
	ctx, b, key := context.Background(), ts.Value("bucket").(bucket), args[1]
	switch args[0] {
	case "put":
		ts.Check(b.WriteAll(ctx, key, []byte(args[2]), nil))
	case "cut":
		var n int
		_, err := fmt.Sscan(args[2], &n)
		ts.Check(err)
		contents, err := b.ReadAll(ctx, key)
		ts.Check(err)
		ts.Check(b.WriteAll(ctx, key, contents[:n], nil))
	case "rm":
		ts.Check(b.Delete(ctx, key))
	}
}

// faults answer a request instead of the server.
var faults = map[string]s3test.Fault{
	"500":  s3test.Refuse(http.StatusInternalServerError, "InternalError"),
	"403":  s3test.Refuse(http.StatusForbidden, "AccessDenied"),
	"half": s3test.Edited(func(a *httptest.ResponseRecorder) { a.Body.Truncate(a.Body.Len() / 2) }), // but the Content-Length of the whole
	"bit": s3test.Edited(func(a *httptest.ResponseRecorder) {
		a.Body.Bytes()[a.Body.Len()/32] ^= 1 // in a data block, if a whole table is sent
		maps.DeleteFunc(a.Header(), func(name string, _ []string) bool { return strings.HasPrefix(name, "X-Amz-Checksum") })
	}),
}

func spoil(ts *testscript.TestScript, _ bool, args []string) {
	proxy := ts.Value("bucket").(bucket).proxy
	if args[0] == "none" {
		proxy.Spoil(nil)
		return
	}
	proxy.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if ok, _ := path.Match(args[2], path.Base(r.URL.Path)); ok && r.Method == args[1] {
			faults[args[0]](w, r, server)
			return
		}
		server.ServeHTTP(w, r)
	})
}
