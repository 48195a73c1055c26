package s3test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// A Proxy forwards requests to the S3 server. It counts them, and can inject faults.
type Proxy struct {
	URL string

	mu       sync.Mutex
	requests map[string]int // by method
	fault    Fault          // may be nil
}

// A Fault responds to a request in place of the server. It may forward the request to the server.
type Fault func(w http.ResponseWriter, r *http.Request, server http.Handler)

// Refuse returns a Fault that responds with an S3 error.
func Refuse(status int, code string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>a fault of the test</Message></Error>", code)
	}
}

// Edited returns a Fault that forwards the request, and changes the server's response by edit.
func Edited(edit func(response *httptest.ResponseRecorder)) Fault {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		response := httptest.NewRecorder()
		server.ServeHTTP(response, r)
		edit(response)
		maps.Copy(w.Header(), response.Header())
		w.WriteHeader(response.Code)
		w.Write(response.Body.Bytes())
	}
}

// NewProxy starts a proxy, and closes it when the test ends.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	server, err := url.Parse(Server())
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{requests: map[string]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests[r.Method]++
		fault := p.fault
		p.mu.Unlock()
		if fault == nil {
			forward.ServeHTTP(w, r)
		} else {
			fault(w, r, forward)
		}
	}))
	front.Config.Protocols = new(http.Protocols)
	front.Config.Protocols.SetHTTP1(true)
	front.Config.Protocols.SetUnencryptedHTTP2(true)
	front.Start()
	t.Cleanup(front.Close)
	p.URL = front.URL
	return p
}

// Spoil makes f handle all requests from now on. Nil ends the faults.
func (p *Proxy) Spoil(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Count returns the number of requests of a method since the last call.
func (p *Proxy) Count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.requests[method]
	p.requests[method] = 0
	return n
}

// Bucket opens the test's bucket through the proxy. It is empty at first.
func (p *Proxy) Bucket(t testing.TB) *blob.Bucket { return Open(t, p.URL) }

// BucketHTTP2 is like Bucket, over HTTP/2.
func (p *Proxy) BucketHTTP2(t testing.TB) *blob.Bucket {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return open(t, p.URL, protocols)
}

// Open opens the test's bucket on a server. Its client tries a request up to three times, at most a millisecond
// apart.
func Open(t testing.TB, server string) *blob.Bucket { return open(t, server, nil) }

func open(t testing.TB, server string, protocols *http.Protocols) *blob.Bucket {
	t.Helper()
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.MaxIdleConnsPerHost, tr.Protocols = 64, protocols
	})
	client := s3.New(s3.Options{
		BaseEndpoint: &server,
		UsePathStyle: true,
		Region:       "us-east-1",
		HTTPClient:   transport,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:      retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond }),
	})
	bucket, err := s3blob.OpenBucket(context.Background(), client, BucketName(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	return bucket
}

// BucketURL returns the URL of the test's bucket on a server, with parameters.
func BucketURL(t testing.TB, server string) string {
	parameters := url.Values{"endpoint": {server}, "region": {"us-east-1"}, "use_path_style": {"true"}}
	return "s3://" + BucketName(t) + "?" + parameters.Encode()
}

// SetCredentials sets the environment variables that opening a bucket by its URL needs.
func SetCredentials(setenv func(key, value string)) {
	setenv("AWS_ACCESS_KEY_ID", "test")
	setenv("AWS_SECRET_ACCESS_KEY", "test")
}

var (
	buckets    sync.Map // from tests to the numbers of their buckets
	lastBucket atomic.Int64
)

// BucketName returns the name of the test's bucket. A repeated test gets a new one.
func BucketName(t testing.TB) string {
	n, _ := buckets.LoadOrStore(t, lastBucket.Add(1))
	return fmt.Sprintf("test-%d", n)
}
